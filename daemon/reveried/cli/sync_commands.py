"""The commands about the folder: how it stands with the store, a look at it now, and conflicts."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reverie import wire
from reverie.errors import NotFound, ValidationError
from reveried.cli import daemon_handle
from reveried.cli.options import Json, Limit
from reveried.cli.output import as_json, counted, fields, say, table, when
from reveried.cli.pagination import every
from reveried.cli.two_column_diff import side_by_side

if TYPE_CHECKING:
    from reverie.client import Client

__all__ = ["conflicts", "now", "resolve", "status"]

_GONE_S = 10.0  # at most, for files that are gone: then the status says so
_AGAIN_S = 0.5
_NAMED = 10  # files that are gone
_SHORT = 8  # last characters of an id that tell conflicts apart for people
Conflict = Annotated[str, typer.Argument(metavar="ID", help="A conflict's id, or its last characters.")]


def status(json: Json = False) -> None:
    """Show how the folder and the store stand to each other.

    Example: reverie sync status
    """
    with daemon_handle.client() as client:
        found = client.sync_status()
    if json:
        as_json(found)
    else:
        _print(found)
    if found.state == "stopped":
        raise typer.Exit(4)


def now(
    accept_deletions: Annotated[
        bool, typer.Option("--accept-deletions", help="What is gone from the folder was meant to go.")
    ] = False,
    accept_folder: Annotated[
        bool, typer.Option("--accept-folder", help="The folder there is the space's from now on; nothing is deleted.")
    ] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Read every file, whatever its time and size say.")] = False,
    json: Json = False,
) -> None:
    """Look at the whole folder now, and wait until it and the store agree.

    Example: reverie sync now
    """
    with daemon_handle.client() as client:
        done = client.sync_now(accept_deletions=accept_deletions, accept_folder=accept_folder, deep=deep)
        done = _settled(client, done)
    if json:
        as_json(done)
    else:
        say(_told(done))
        if not _agree(done.status):
            _print(done.status)
    if done.status.state == "stopped":
        raise typer.Exit(4)


def conflicts(
    conflict: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Show this one, both texts side by side.")
    ] = None,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """List where a person and the store changed the same words; with an id, show both side by side.

    Example: reverie sync conflicts
    """
    with daemon_handle.client() as client:
        if conflict is not None:
            _show(client.conflict(_whole(client, conflict)), json=json)
            return
        page = client.conflicts(limit=limit)
    if json:
        as_json(page)
        return
    if not page.items:
        say("No conflicts.")
        return
    table(
        ["Conflict", "File", "The other text", "Since (UTC)", "Places"],
        [(item.id, item.path, item.copy or "-", when(item.opened_at), item.regions) for item in page.items],
        right=(4,),
        wraps=(1, 2),
        drop=(4, 3),
    )
    say("To see one: reverie sync conflicts ID   To settle it: reverie sync resolve ID --keep file|store|both")


def resolve(
    conflict: Conflict,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="SIDE", help="file (as it is), store (the other text) or both.")
    ] = None,
    content: Annotated[
        Path | None, typer.Option("--content", metavar="FILE", help="The text that shall stand, from this file.")
    ] = None,
    json: Json = False,
) -> None:
    """Settle a conflict; undo takes that back.

    Example: reverie sync resolve ID --keep file
    """
    if (keep is None) == (content is None):
        raise ValidationError("say either --keep or --content", hint="reverie sync resolve ID --keep file|store|both")
    body = wire.parse(wire.Resolve, {"keep": keep, "content": None if content is None else _text_of(content)})
    with daemon_handle.client() as client:
        done = client.resolve(_whole(client, conflict), body)
    if json:
        as_json(done)
        return
    say(f"Settled: {done.path}. To take that back: reverie undo {done.operation}")


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValidationError(f"{path} cannot be read: {error}", hint="name a text file in UTF-8") from error


def _whole(client: "Client", given: str) -> str:
    """The conflict's id from its last characters."""
    found = [item.id for item in every(lambda after: client.conflicts(after=after)) if item.id.endswith(given)]
    if len(found) == 1:
        return found[0]
    why = f"{counted(len(found), 'conflict')} end" if found else "no open conflict ends"
    raise NotFound(f"{why} with {given}", hint="reverie sync conflicts lists them")


def _show(found: wire.ConflictText, *, json: bool) -> None:
    if json:
        as_json(found)
        return
    fields([("Conflict", found.id), ("File", found.path), ("The other text", found.copy), ("Since", found.opened_at)])
    say()
    side_by_side("The file", found.file_text, "The store", found.store_text)
    say()
    say(f"To settle it: reverie sync resolve {found.id[-_SHORT:]} --keep file|store|both")


def _told(done: wire.SyncOutcome) -> str:
    parts = [
        (done.adopted, "taken in"),
        (done.written, "written"),
        (done.deleted, "deleted"),
        (done.conflicts, "in conflict"),
    ]
    said = ", ".join(f"{number:,} {verb}" for number, verb in parts if number)
    if said:
        return f"{counted(done.read, 'file')} read: {said}."
    return "Folder and store agree." if _agree(done.status) else "Nothing was taken in, and nothing written."


def _agree(found: wire.SyncStatus) -> bool:
    return found.state == "ok" and not (found.pending or found.missing or found.refused)


def _settled(client: "Client", done: wire.SyncOutcome) -> wire.SyncOutcome:
    """What came of it once no file that is gone may come back any more, and all of it together."""
    until = time.monotonic() + _GONE_S
    while done.status.state == "ok" and done.status.missing and time.monotonic() < until:
        time.sleep(_AGAIN_S)
        then = client.sync_now()
        done = wire.SyncOutcome(
            read=done.read + then.read,
            adopted=done.adopted + then.adopted,
            written=done.written + then.written,
            deleted=done.deleted + then.deleted,
            conflicts=done.conflicts + then.conflicts,
            status=then.status,
        )
    return done


def _print(found: wire.SyncStatus) -> None:
    fields(
        [
            ("Folder", found.root),
            ("Sync", f"{found.state}: {found.reason}" if found.reason else found.state),
            ("Next", found.hint),
            ("Documents", f"{found.documents:,}"),
            ("Waiting", found.pending or None),
            ("Conflicts", f"{found.conflicts:,}; reverie sync conflicts" if found.conflicts else None),
            ("Looked at", when(found.last_scan_at)),
            ("Changes are", "told by the system" if found.watching == "events" else "looked for again and again"),
        ]
    )
    if found.missing:
        more = " …" if len(found.missing) > _NAMED else ""
        say(f"Gone from the folder, and still remembered: {', '.join(found.missing[:_NAMED])}{more}")
    if found.refused:
        say()
        table(
            ["Left as it is", "Why", "What to do"],
            [(each.path, each.reason.replace("_", " "), each.hint) for each in found.refused],
            wraps=(0, 2),
        )
