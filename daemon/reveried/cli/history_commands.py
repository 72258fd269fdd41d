"""The commands about what happened: log, show, undo, archives."""

import hashlib
from typing import TYPE_CHECKING, Annotated

import typer

from reverie import wire
from reverie.errors import NotFound
from reveried.cli import daemon_handle
from reveried.cli.changes import in_words
from reveried.cli.options import Json, Limit
from reveried.cli.output import as_json, clip, counted, fields, is_terminal, say, size, table, when
from reveried.cli.pagination import every

if TYPE_CHECKING:
    from reverie.client import Client

__all__ = ["archives_list", "archives_show", "archives_verify", "log", "show", "undo"]

_ROUTINE = frozenset(
    {
        "messages.append",
        "import.begin",
        "import.chunk",
        "memory.access",
        "memory.list",
        "files.intended",
        "files.recorded",
        "files.written",
    }
)
_SHORT = 12  # characters of a hash that tell archives apart for people
Address = Annotated[str, typer.Argument(metavar="SHA256", help="An archive's address, or its first characters.")]


def log(
    what: Annotated[
        str | None, typer.Argument(metavar="[WHAT]", help="A document's path or a memory's id: its versions alone.")
    ] = None,
    limit: Limit = 20,
    all_: Annotated[
        bool, typer.Option("--all", "-a", help="What is routine too: appends, import steps, lists.")
    ] = False,
    json: Json = False,
) -> None:
    """List what was written, newest first: who, why, when.

    Example: reverie log
    """
    with daemon_handle.client() as client:
        if what is not None:
            _versions(client, what, limit, json=json)
            return
        if json:
            as_json(_page(client, limit, with_routine=all_))
            return
        shown, hidden = _operations(client, limit, with_routine=all_)
    if shown:
        table(
            ["Operation", "When (UTC)", "Who", "Why", "Changes", "Undo"],
            [
                (item.id, when(item.at), item.who, item.why, len(item.changes), "yes" if item.undoable else "")
                for item in shown
            ],
            right=(4,),
            wraps=(2, 3),
            drop=(4,),
        )
    elif not hidden:
        say("Nothing has been written yet.")
    if hidden:
        say(f"Not shown: {hidden:,} of routine (appends, import steps, lists); --all does.")


def show(
    operation: Annotated[
        str,
        typer.Argument(metavar="OP|PATH", help="An operation's id, as `reverie log` shows it; or a document's path."),
    ],
    at: Annotated[str | None, typer.Option("--at", metavar="OP", help="The document as it was after this one.")] = None,
    json: Json = False,
) -> None:
    """Show one operation and what it changed; or a document, now or as it was.

    Example: reverie show OP
    """
    with daemon_handle.client() as client:
        if "." in operation:
            _document(client, operation, at, json=json)
            return
        found = client.operation(operation)
        words = [] if json else in_words(client, found)
    if json:
        as_json(found)
        return
    fields(
        [
            ("Operation", found.id),
            ("When", f"{found.at[:19].replace('T', ' ')} UTC"),
            ("Who", found.who),
            ("Why", found.why),
            ("Follows", found.parent),
            ("Takes back", found.undoes),
        ]
    )
    if words:
        say()
    for line in words:
        say(line)


def undo(
    operation: Annotated[
        str | None, typer.Argument(metavar="[OP]", help="An operation's id; without one the last that can be undone.")
    ] = None,
    json: Json = False,
) -> None:
    """Take one operation back by a new one.

    Example: reverie undo
    """
    with daemon_handle.client() as client:
        found = client.operation(operation) if operation is not None else _last_undoable(client)
        done = client.undo(found.id)
    if json:
        as_json(done)
        return
    if done.operation is None:
        say(f"Nothing to take back: of what operation {found.id} did, nothing stands any more.")
        return
    say(f"Taken back: {found.why} ({when(found.at)} UTC, {found.who}). To have it again: reverie undo {done.operation}")


def archives_list(limit: Limit = 50, json: Json = False) -> None:
    """List the archives, newest first.

    Example: reverie archives list
    """
    with daemon_handle.client() as client:
        if json:
            as_json(client.archives(limit=limit))
            return
        # The daemon lists them by address, which says nothing about their age.
        found = sorted(every(lambda after: client.archives(after=after)), key=lambda item: item.at, reverse=True)
    if not found:
        say("No archives yet; each distillation and each dream leaves one.")
        return
    table(
        ["Archive", "Made by", "When (UTC)", "Size", "Entries", "Of"],
        [
            (item.sha256[:_SHORT], item.kind, when(item.at), size(item.size), item.entries, item.ref or "-")
            for item in found[:limit]
        ],
        right=(3, 4),
        wraps=(5,),
        drop=(4, 3),
    )
    if len(found) > limit:
        say(f"Older ones not shown: {len(found) - limit:,}. Next: reverie archives list --limit {min(limit * 5, 1000)}")


def archives_show(address: Address, json: Json = False) -> None:
    """Print an archive's canonical JSON, byte for byte.

    Example: reverie archives show 3f2a
    """
    del json  # an archive is JSON already
    with daemon_handle.client() as client:
        typer.echo(client.archive(_whole(client, address)), nl=False)


def archives_verify(json: Json = False) -> None:
    """Check that every archive still is what its address says.

    Example: reverie archives verify
    """
    good, wrong = 0, []
    with daemon_handle.client() as client:
        for item in every(lambda after: client.archives(after=after)):
            if hashlib.sha256(client.archive(item.sha256)).hexdigest() == item.sha256:
                good += 1
            else:
                wrong.append(item.sha256)
    if json:
        as_json({"good": good, "wrong": wrong})
    else:
        for address in wrong:
            say(f"{address} is not what its address says")
        say(f"{counted(good, 'archive')} checked and good" + (f", {len(wrong)} not." if wrong else "."))
    if wrong:
        raise typer.Exit(1)


def _document(client: "Client", path: str, at: str | None, *, json: bool) -> None:
    """A document's text, now or as it was: on a terminal what can do no harm there, to a pipe its bytes."""
    found = client.document(path, at=at)
    if json:
        as_json(found)
    elif is_terminal():
        say(found.content.removesuffix("\n"), keep="\n\t")
    else:
        typer.echo(found.content.encode(), nl=False)


def _versions(client: "Client", what: str, limit: int, *, json: bool) -> None:
    """The versions of one document or one memory, newest first."""
    found: wire.Page[wire.DocumentVersion] | wire.Page[wire.MemoryVersion]
    found = client.document_history(what) if "." in what else client.memory_history(what)
    if json:
        as_json(found)
        return
    table(
        ["Operation", "When (UTC)", "Who", "Why", "Says"],
        [(item.operation, when(item.at), item.who, item.why, _says(item)) for item in found.items[::-1][:limit]],
        wraps=(3, 4),
        drop=(2,),
    )
    say(
        f"To see one: reverie show {what} --at OP" if "." in what else f"To return: reverie rollback OP --memory {what}"
    )


def _says(version: "wire.DocumentVersion | wire.MemoryVersion") -> str:
    """The first words of a version, or that it was deleted."""
    if isinstance(version, wire.DocumentVersion):
        return "deleted" if version.etag is None else version.summary or "-"
    return "deleted" if version.memory is None else clip(version.memory.title or version.memory.content, 60)


def _operations(client: "Client", limit: int, *, with_routine: bool) -> tuple[list["wire.Operation"], int]:
    """The newest operations, and how many were passed over among them."""
    shown: list[wire.Operation] = []
    hidden = 0
    for item in every(lambda after: client.operations(after=after)):
        if item.why in _ROUTINE and not with_routine:
            hidden += 1
            continue
        shown.append(item)
        if len(shown) == limit:
            break
    return shown, hidden


def _page(client: "Client", limit: int, *, with_routine: bool) -> "wire.Page[wire.Operation]":
    """The operations that the table shows; `next` where there may be more."""
    shown, _ = _operations(client, limit, with_routine=with_routine)
    return wire.Page(items=shown, next=shown[-1].id if len(shown) == limit else None)


def _last_undoable(client: "Client") -> "wire.Operation":
    """The last operation that can be taken back and has not been."""
    undone: set[str] = set()
    for item in every(lambda after: client.operations(after=after)):
        if item.undoes is not None:
            if item.id not in undone:
                undone.add(item.undoes)
        elif item.undoable and item.id not in undone:
            return item
    raise NotFound("there is nothing to undo", hint="reverie log lists what was written")


def _whole(client: "Client", address: str) -> str:
    """The archive's whole address from its first characters."""
    if len(address) >= 64:
        return address
    found = [
        item.sha256 for item in every(lambda after: client.archives(after=after)) if item.sha256.startswith(address)
    ]
    if len(found) == 1:
        return found[0]
    why = f"{counted(len(found), 'archive')} begin" if found else "no archive begins"
    raise NotFound(f"{why} with {address}", hint="reverie archives list shows the addresses")
