"""Commands for the operation history: log, show, undo; and the effects of an operation in words."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from reverie import wire
from reverie.errors import NotFound
from reveried.cli import daemon_handle
from reveried.cli.daemon_handle import all_items
from reveried.cli.options import Json, Limit
from reveried.cli.output import clip, counted, is_terminal, print_fields, print_json, print_table, say, when

if TYPE_CHECKING:
    from reverie.client import Client

__all__ = ["effects", "log", "show", "undo"]

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
"""Reasons of operations that `reverie log` hides: hundreds of them surround each one that a person looks for."""
_SUMMARY_CHARS = 60  # of one version in a list
_MEMORY_CHARS = 70  # of one memory in the effects of an operation
MEMORIES_SHOWN = 50  # changed memories that `reverie show` lists
_LISTED_APART = ("entry", "memory")
_BOOKKEEPING = frozenset({"ledger", "import", "cursor", "published", "tally"})  # record kinds that are no memory


def log(
    what: Annotated[
        str | None, typer.Argument(metavar="[WHAT]", help="A document's path or a memory's id: only its versions.")
    ] = None,
    limit: Limit = 20,
    all_: Annotated[bool, typer.Option("--all", "-a", help="Routine ones too: appends, import steps, lists.")] = False,
    json: Json = False,
) -> None:
    """List the operations, newest first: who, why, when.

    Example: reverie log
    """
    with daemon_handle.client() as client:
        if what is not None:
            _print_versions(client, what, limit, json=json)
            return
        if json:
            print_json(_page(client, limit, with_routine=all_))
            return
        shown, hidden = _operations(client, limit, with_routine=all_)
    if shown:
        print_table(
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
        say("No operations yet.")
    if hidden:
        say(f"Routine operations not shown: {hidden:,} (appends, import steps, lists); --all shows them.")


def show(
    operation: Annotated[
        str,
        typer.Argument(metavar="OP|PATH", help="An operation's id, as `reverie log` shows it; or a document's path."),
    ],
    at: Annotated[
        str | None, typer.Option("--at", metavar="OP", help="The document as it was after this operation.")
    ] = None,
    json: Json = False,
) -> None:
    """Show an operation and its changes; or a document, now or at an earlier operation.

    Example: reverie show OP
    """
    with daemon_handle.client() as client:
        if "." in operation:
            _print_document(client, operation, at, json=json)
            return
        record = client.operation(operation)
        lines = [] if json else effects(client, record)
    if json:
        print_json(record)
        return
    print_fields(
        [
            ("Operation", record.id),
            ("When", f"{record.at[:19].replace('T', ' ')} UTC"),
            ("Who", record.who),
            ("Why", record.why),
            ("Parent", record.parent),
            ("Undoes", record.undoes),
        ]
    )
    if lines:
        say()
    for line in lines:
        say(line)


def undo(
    operation: Annotated[
        str | None, typer.Argument(metavar="[OP]", help="An operation's id; default: the last that can be undone.")
    ] = None,
    json: Json = False,
) -> None:
    """Undo one operation by a new one.

    Example: reverie undo
    """
    with daemon_handle.client() as client:
        target = client.operation(operation) if operation is not None else _last_undoable(client)
        answer = client.undo(target.id)
    if json:
        print_json(answer)
        return
    if answer.operation is None:
        say(f"Nothing to undo: no change of operation {target.id} is in effect any more.")
        return
    say(f"Undone: {target.why} ({when(target.at)} UTC, {target.who}). To redo it: reverie undo {answer.operation}")


def _print_document(client: "Client", path: str, at: str | None, *, json: bool) -> None:
    """Print a document's text: without control characters on a terminal, byte for byte to a pipe."""
    document = client.document(path, at=at)
    if json:
        print_json(document)
    elif is_terminal():
        say(document.content.removesuffix("\n"), keep="\n\t")
    else:
        typer.echo(document.content.encode(), nl=False)


def _print_versions(client: "Client", what: str, limit: int, *, json: bool) -> None:
    """Print the versions of one document (a path has a dot) or one memory, newest first."""
    versions: wire.Page[wire.DocumentVersion] | wire.Page[wire.MemoryVersion]
    versions = client.document_history(what) if "." in what else client.memory_history(what)
    if json:
        print_json(versions)
        return
    print_table(
        ["Operation", "When (UTC)", "Who", "Why", "Content"],
        [(item.operation, when(item.at), item.who, item.why, _summary(item)) for item in versions.items[::-1][:limit]],
        wraps=(3, 4),
        drop=(2,),
    )
    say(
        f"To see one: reverie show {what} --at OP" if "." in what else f"To return: reverie rollback OP --memory {what}"
    )


def _summary(version: "wire.DocumentVersion | wire.MemoryVersion") -> str:
    """Return the first words of a version, or `deleted`."""
    if isinstance(version, wire.DocumentVersion):
        return "deleted" if version.etag is None else version.summary or "-"
    return "deleted" if version.memory is None else clip(version.memory.title or version.memory.content, _SUMMARY_CHARS)


def _operations(client: "Client", limit: int, *, with_routine: bool) -> tuple[list["wire.Operation"], int]:
    """Return the newest operations, and how many routine ones were skipped among them."""
    shown: list[wire.Operation] = []
    hidden = 0
    for item in all_items(lambda after: client.operations(after=after)):
        if item.why in _ROUTINE and not with_routine:
            hidden += 1
            continue
        shown.append(item)
        if len(shown) == limit:
            break
    return shown, hidden


def _page(client: "Client", limit: int, *, with_routine: bool) -> "wire.Page[wire.Operation]":
    """Return the operations that the table shows as a page; `next` is set if there may be more."""
    shown, _ = _operations(client, limit, with_routine=with_routine)
    return wire.Page(items=shown, next=shown[-1].id if len(shown) == limit else None)


def _last_undoable(client: "Client") -> "wire.Operation":
    """Return the newest operation that can be undone and has not been."""
    # Newest first: an undo comes before the operation that it undoes. An undo that was itself undone does not count.
    undone: set[str] = set()
    for item in all_items(lambda after: client.operations(after=after)):
        if item.undoes is not None:
            if item.id not in undone:
                undone.add(item.undoes)
        elif item.undoable and item.id not in undone:
            return item
    raise NotFound("there is nothing to undo", hint="reverie log lists the operations")


def effects(client: "Client", operation: wire.Operation) -> list[str]:
    """Return a line for each effect of an operation: appended entries, changed memories, other records."""
    return [
        *_entry_lines(operation),
        *_memory_lines(client, operation),
        *_other_lines(operation),
    ] or ["No memory, document or thread changed."]


def _entry_lines(operation: wire.Operation) -> Iterator[str]:
    """Yield a line for each thread that transcript entries were appended to or removed from."""
    for change in operation.changes:
        if change.kind == "entry" and change.first is not None and change.last is not None:
            action = "removed for good" if change.purged else "appended"
            yield f"Entries {action}: {change.last - change.first + 1:,} of {change.key[0]}"


def _memory_lines(client: "Client", operation: wire.Operation) -> Iterator[str]:
    """Yield the counts of changed memories by action, then a line for each of the first of them."""
    changes = [change for change in operation.changes if change.kind == "memory"]
    counts = Counter(_action(change) for change in changes)
    if changes:
        yield "Memories: " + ", ".join(f"{number:,} {action}" for action, number in counts.items())
    for change in changes[:MEMORIES_SHOWN]:
        yield f"  {_action(change)}: {_memory_text(client, str(change.key[0]), operation.id)}"
    if len(changes) > MEMORIES_SHOWN:
        yield f"  and {counted(len(changes) - MEMORIES_SHOWN, 'more', 'more')}; --json lists all of them."


def _memory_text(client: "Client", memory_id: str, operation_id: str) -> str:
    """Return the first words of a memory after an operation; of one that it removed, before it."""
    try:
        versions = client.memory_history(memory_id).items
    except NotFound:
        return memory_id
    by_operation = {version.operation: version.memory for version in versions}
    memory = by_operation.get(operation_id)
    if memory is None:
        # Operation ids are ascending numbers: the last version before this one is what was removed.
        before = [
            (int(id_), version) for id_, version in by_operation.items() if version and int(id_) < int(operation_id)
        ]
        memory = max(before, key=lambda pair: pair[0])[1] if before else None
    return clip(memory.title or memory.content, _MEMORY_CHARS) if memory is not None else memory_id


def _other_lines(operation: wire.Operation) -> Iterator[str]:
    """Yield a line for each changed record that is neither an entry, a memory nor bookkeeping."""
    for change in operation.changes:
        if change.kind not in _LISTED_APART and change.kind not in _BOOKKEEPING:
            yield f"{change.kind.capitalize()} {'/'.join(str(part) for part in change.key)}: {_action(change)}"


def _action(change: wire.OperationChange) -> str:
    """Return what a change did to its record: added, changed, removed and so on."""
    if change.purged:
        return "removed for good"
    match change.before, change.after:
        case None, None:
            return "written"
        case None, _:
            return "added"
        case _, None:
            return "removed"
        case _:
            return "changed"
