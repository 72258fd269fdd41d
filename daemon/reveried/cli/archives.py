"""`reverie archives`: list, print and verify the archives that distillations and dreams leave."""

import hashlib
from typing import TYPE_CHECKING, Annotated

import typer

from reverie.errors import NotFound
from reveried.cli import local_daemon
from reveried.cli.local_daemon import all_items
from reveried.cli.options import Json, Limit
from reveried.cli.output import counted, print_json, print_table, say, size, when

if TYPE_CHECKING:
    from reverie.client import Client

__all__ = ["archives_list", "archives_show", "archives_verify"]

Address = Annotated[str, typer.Argument(metavar="SHA256", help="An archive's SHA-256, or its first characters.")]


_SHORT_HASH = 12  # characters of a SHA-256 that a list shows

_HASH_CHARS = 64


def archives_list(limit: Limit = 50, json: Json = False) -> None:
    """List the archives, newest first.

    Example: reverie archives list
    """
    with local_daemon.client() as client:
        if json:
            print_json(client.archives(limit=limit))
            return
        # The daemon lists them by SHA-256, which is no order in time.
        archives = sorted(all_items(lambda after: client.archives(after=after)), key=lambda item: item.at, reverse=True)
    if not archives:
        say("No archives yet; each distillation and each dream leaves one.")
        return
    print_table(
        ["Archive", "Made by", "When", "Size", "Entries", "Of"],
        [
            (item.sha256[:_SHORT_HASH], item.kind, when(item.at), size(item.size), item.entries, item.ref or "-")
            for item in archives[:limit]
        ],
        right=(3, 4),
        wraps=(5,),
        drop=(4, 3),
    )
    if len(archives) > limit:
        say(f"Older ones not shown: {len(archives) - limit:,}. To see them: reverie archives list --limit N")


def archives_show(address: Address, json: Json = False) -> None:
    """Print an archive's canonical JSON, byte for byte.

    Example: reverie archives show 3f2a
    """
    del json  # an archive is JSON already
    with local_daemon.client() as client:
        typer.echo(client.archive(_whole_address(client, address)), nl=False)


def archives_verify(json: Json = False) -> None:
    """Check every archive against its SHA-256.

    Example: reverie archives verify
    """
    good, wrong = 0, []
    with local_daemon.client() as client:
        for item in all_items(lambda after: client.archives(after=after)):
            if hashlib.sha256(client.archive(item.sha256)).hexdigest() == item.sha256:
                good += 1
            else:
                wrong.append(item.sha256)
    if json:
        print_json({"good": good, "wrong": wrong})
    else:
        for address in wrong:
            say(f"{address} does not match its SHA-256")
        say(f"{counted(good, 'archive')} checked and good" + (f", {len(wrong)} not." if wrong else "."))
    if wrong:
        raise typer.Exit(1)


def _whole_address(client: "Client", prefix: str) -> str:
    """Return the SHA-256 of the only archive that begins with these characters."""
    if len(prefix) >= _HASH_CHARS:
        return prefix
    found = [
        item.sha256 for item in all_items(lambda after: client.archives(after=after)) if item.sha256.startswith(prefix)
    ]
    if len(found) == 1:
        return found[0]
    why = f"{counted(len(found), 'archive')} begin" if found else "no archive begins"
    raise NotFound(f"{why} with {prefix}", hint="reverie archives list shows the addresses")
