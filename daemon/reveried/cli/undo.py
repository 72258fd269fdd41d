"""`reverie undo` takes back one operation, `reverie rollback` all that came after one."""

from typing import Annotated, Final

from msgspec.structs import replace

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict, NotFound
from reveried.cli.command import Answer, Argument, Option, Yes, confirm
from reveried.cli.daemon_client import all_items
from reveried.cli.log import effects
from reveried.cli.output import counted, say, when

_PATHS_SHOWN = 10  # of documents that a rollback would change

# What clients and the daemon record beside the work: no one means these by "undo the last thing". An agent's session
# that is followed appends all the time, and its bridge begins a thread, which an undo by its number still takes.
_RECORDED: Final = frozenset(
    {
        *("thread.create", "messages.append", "import.begin", "import.chunk", "memory.list", "memory.access"),
        *("project.register", "session.begin", "session.end", "session.project", "folder.author"),
        *("run.begin", "run.file", "files.announced", "files.recorded", "files.begun_anew", "redaction.remember"),
        *("redaction.restore",),  # the way back is `reverie redactions disallow`
        *("backup.made", "archives.removed", "retention", "versions.shorten", "compaction.due", "compaction.done"),
    }
)
# These change memories where they find something new, and are records like those above where they do not.
_RECORDED_IF_NOT_UNDOABLE: Final = frozenset({"thread.learn", "run.complete"})


def undo(
    client: Client,
    operation: Annotated[
        str | None,
        Argument(metavar="[OP]", help="An operation's id; default: the last that can be undone, after a question."),
    ] = None,
    yes: Yes = False,
) -> Answer:
    """Undo one operation by a new one.

    Example: reverie undo

    With --yes it stops where a newer operation cannot be undone, such as the deletion of a thread.
    """
    if operation is not None:
        target = client.operation(operation)
    else:
        target, newer = _last_undoable(client)
        if yes and newer is not None:
            raise Conflict(
                f"operation {newer.id} ({newer.why}) is newer than all that can be undone",
                hint=f"it stays; to undo {target.why} ({when(target.at)}, {target.who}): reverie undo {target.id}",
            )
        if not yes:
            _confirm(client, target, newer)
    answer = client.undo(target.id)
    yield answer
    if answer.operation is None:
        say(f"Nothing to undo: no change of operation {target.id} is in effect any more.")
        return
    say(f"Undone: {target.why} ({when(target.at)}, {target.who}). To redo it: reverie undo {answer.operation}")


def _confirm(client: Client, target: wire.Operation, newer: wire.Operation | None) -> None:
    """Print what the operation did, and any newer operation that cannot be undone, and ask whether to undo it."""
    lines = [] if newer is None else [_for_good(newer)]
    lines.append(f"Operation {target.id}: {target.why} ({when(target.at)}, {target.who})")
    confirm("\n".join([*lines, *effects(client, target)]), "Undo it?")


def _for_good(operation: wire.Operation) -> str:
    """Return the line that warns of a newer operation, which cannot be undone."""
    is_removal = any(change.purged for change in operation.changes)
    why = "what it removed is gone for good" if is_removal else "it cannot be undone"
    return f"Not undone: operation {operation.id} is newer ({operation.why}); {why}."


def _last_undoable(client: Client) -> tuple[wire.Operation, wire.Operation | None]:
    """Return the newest operation that can be undone, and the newest after it that cannot (None if there is none).

    What is only recorded beside the work is neither. A redo, the undo of an undo, is undone itself: what it made again
    has changed since the operation that made it first, whose name it gets.
    """
    newer: wire.Operation | None = None
    # Newest first: an undo comes before the operation that it undoes. An undo that was itself undone does not count.
    undone: set[str] = set()
    for item in all_items(client.operations):
        if item.undoes is not None:
            if item.id not in undone:
                if item.undoable and (redone := _redone(client, item.undoes)):
                    return replace(item, why=redone), newer
                undone.add(item.undoes)
        elif item.why in _RECORDED or item.id in undone:
            continue
        elif item.undoable:
            return item, newer
        elif newer is None and item.why not in _RECORDED_IF_NOT_UNDOABLE:
            newer = item
    raise NotFound("there is nothing to undo", hint="reverie log lists the operations")


def _redone(client: Client, undone: str) -> str | None:
    """Return why there was the operation that the undo of `undone` made again; None where that is no redo.

    Operation 4 undoes 3; 5, which undoes 4, is a redo of 3; 6, which undoes 5, is an undo of 3 again.
    """
    operation, is_redo = client.operation(undone), False
    while operation.undoes is not None:
        operation, is_redo = client.operation(operation.undoes), not is_redo
    return operation.why if is_redo else None


def rollback(
    client: Client,
    operation: Annotated[str, Argument("OP", "The last operation that stays in effect, as `reverie log` shows it.")],
    path: Annotated[str | None, Option("--path", metavar="PATH", help="Only this document.")] = None,
    memory: Annotated[str | None, Option("--memory", metavar="ID", help="Only this memory.")] = None,
    yes: Yes = False,
) -> Answer:
    """Restore documents, memories and notes to an earlier operation; undo reverts that.

    Example: reverie rollback OP --yes
    """
    if not yes:
        _confirm_rollback(client, operation, path=path, memory=memory)
    answer = client.rollback(operation, path=path, memory=memory)
    yield answer
    if answer.operation is None:
        say(f"Nothing to roll back: {path or memory or 'everything'} is as it was after operation {answer.to}.")
        return
    say(
        f"Rolled back to operation {answer.to}: {counted(len(answer.documents), 'document')} changed. "
        f"To revert that: reverie undo {answer.operation}"
    )


def _confirm_rollback(client: Client, operation: str, *, path: str | None, memory: str | None) -> None:
    """Print what a rollback would change and ask."""
    if operation != "0":
        client.operation(operation)  # raises NotFound before anything is asked
    if memory is not None:
        preview = f"Memory {memory} would be restored to operation {operation}."
    else:
        changed = client.difference(operation, path=path).items
        paths = ", ".join(item.path for item in changed[:_PATHS_SHOWN])
        more = f" and {len(changed) - _PATHS_SHOWN:,} more" if len(changed) > _PATHS_SHOWN else ""
        preview = f"{counted(len(changed), 'document')} would be restored: {paths}{more}"
    confirm(preview, "Roll back?")
