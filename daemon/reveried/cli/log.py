"""`reverie log`, `show` of an operation, `diff`, `undo` and `rollback`: the operations, and the ways back."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Final

from msgspec.structs import replace

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict, NotFound
from reverie.lazy_regex import lazy_regex
from reveried.cli.command import Answer, Argument, Limit, Option, Yes, confirm, renamed
from reveried.cli.ids import all_items
from reveried.cli.output import clip, counted, print_table, say, when
from reveried.cli.recall import find_memory

_ROUTINE = frozenset(
    {
        "messages.append",
        "import.begin",
        "import.chunk",
        "memory.access",
        "memory.list",
        "schedule",
        "schedule.run",
        "files.intended",
        "files.recorded",
        "files.written",
    }
)
"""Reasons of operations that `reverie log` hides: hundreds of them surround each one that a person looks for."""
_SUMMARY_CHARS = 60  # of one version in a list
_MEMORY_CHARS = 70  # of one memory in the effects of an operation
MEMORIES_SHOWN = 50  # changed memories that `reverie show` lists
_SUBJECTS_SHOWN = 3  # threads and files of one operation in the log, about two lines of a narrow column
_TITLE_CHARS = 40  # of a thread in the log
_THREAD_KINDS = frozenset({"thread", "entry", "note", "distillation", "state"})  # their keys begin with a thread's id
_FORGOTTEN = "forgotten"
_LISTED_APART = ("entry", "memory", _FORGOTTEN)
_BOOKKEEPING = frozenset({"ledger", "import", "cursor", "published", "tally"})  # record kinds that are no memory

_LINE_BREAK = lazy_regex(r"(?<=\n)|(?<=\r)(?!\n)")
_VISIBLE_END = {"\r\n": "\\r\\n", "\r": "\\r", "": " (no newline)"}


def log(
    client: Client,
    what: Annotated[str | None, Argument("[WHAT]", "A document's path or a memory's id: only its versions.")] = None,
    limit: Limit = 20,
    all_: Annotated[bool, Option("--all", "-a", help="Routine ones too: appends, import steps, lists.")] = False,
) -> Answer:
    """List the operations, newest first: who, why, when.

    Example: reverie log
    """
    if what is not None:
        yield from _versions(client, what, limit)
        return
    shown, hidden = _operations(client, limit, with_routine=all_)
    yield wire.Page(items=shown, next=shown[-1].id if len(shown) == limit else None)
    subjects = _subjects(client, shown)
    if shown:
        print_table(
            "Operation, When, Who, Why, What*, Changes>, Undo",
            [
                (item.id, when(item.at), item.who, item.why, subject, len(item.changes), "yes" if item.undoable else "")
                for item, subject in zip(shown, subjects, strict=True)
            ],
        )
    elif not hidden:
        say("No operations yet.")
    if hidden:
        say(f"Routine operations not shown: {hidden:,} (appends, import steps, lists, schedules); --all shows them.")


def _subjects(client: Client, operations: list[wire.Operation]) -> list[str]:
    """Return for each operation the thread that it is about, by its title, and the files that it changed."""
    titles: dict[str, str] = {}
    subjects = []
    for item in operations:
        paths = dict.fromkeys(str(change.key[0]) for change in item.changes if change.kind == "document")
        threads = dict.fromkeys(str(change.key[0]) for change in item.changes if change.kind in _THREAD_KINDS)
        for thread_id in threads:
            if thread_id not in titles:
                titles[thread_id] = _title(client, thread_id)
        names = [*(titles[thread_id] for thread_id in threads), *paths]
        more = f" and {len(names) - _SUBJECTS_SHOWN:,} more" if len(names) > _SUBJECTS_SHOWN else ""
        subjects.append(", ".join(names[:_SUBJECTS_SHOWN]) + more)
    return subjects


def _title(client: Client, thread_id: str) -> str:
    """Return the title of a thread, its id where it has none or is gone."""
    try:
        title = client.thread(thread_id).title
    except NotFound:
        title = None
    return f'"{clip(title, _TITLE_CHARS)}"' if title else thread_id


def _versions(client: Client, what: str, limit: int) -> Answer:
    """Print the versions of one document (a path has a dot) or one memory, newest first."""
    versions: list[wire.DocumentVersion] | list[wire.MemoryVersion]
    if "." in what:
        versions = client.document_history(what).items[::-1][:limit]
    else:
        what = _whole_id(client, what)
        versions = client.memory_history(what).items[::-1][:limit]
    yield wire.Page(items=versions)
    print_table(
        "Operation, When, Who, Why*, Content*",
        [(item.operation, when(item.at), item.who, item.why, _summary(item)) for item in versions],
    )
    say(
        f"To see one: reverie show {what} --at OP" if "." in what else f"To return: reverie rollback OP --memory {what}"
    )


def _whole_id(client: Client, memory: str) -> str:
    """Return the id of a memory, which a list prints by its end; a whole one may be of a memory that is gone."""
    return memory if memory.startswith("mem_") and "…" not in memory else find_memory(client, memory).id


def _summary(version: wire.DocumentVersion | wire.MemoryVersion) -> str:
    if isinstance(version, wire.DocumentVersion):
        return "deleted" if version.etag is None else version.summary or "-"
    return "deleted" if version.memory is None else clip(version.memory.title or version.memory.content, _SUMMARY_CHARS)


def _operations(client: Client, limit: int, *, with_routine: bool) -> tuple[list[wire.Operation], int]:
    """Return the newest operations, and how many routine ones were skipped among them."""
    shown: list[wire.Operation] = []
    hidden = 0
    for item in all_items(client.operations):
        if item.why in _ROUTINE and not with_routine:
            hidden += 1
            continue
        shown.append(item)
        if len(shown) == limit:
            break
    return shown, hidden


def effects(client: Client, operation: wire.Operation) -> list[str]:
    """Return a line for each effect of an operation: appended entries, changed memories, other records."""
    return [
        *_entry_lines(operation),
        *_memory_lines(client, operation),
        *_forgotten_lines(operation),
        *_other_lines(operation),
    ] or ["No memory, document or thread changed."]


def _entry_lines(operation: wire.Operation) -> Iterator[str]:
    """Yield a line for each thread that transcript entries were appended to or removed from."""
    for change in operation.changes:
        if change.kind == "entry" and change.first is not None and change.last is not None:
            action = "removed for good" if change.purged else "appended"
            yield f"Entries {action}: {change.last - change.first + 1:,} of {change.key[0]}"


def _memory_lines(client: Client, operation: wire.Operation) -> Iterator[str]:
    """Yield the counts of changed memories by action, then a line for each of the first of them."""
    changes = [change for change in operation.changes if change.kind == "memory"]
    counts = Counter(_action(change) for change in changes)
    if changes:
        yield "Memories: " + ", ".join(f"{number:,} {action}" for action, number in counts.items())
    for change in changes[:MEMORIES_SHOWN]:
        yield f"  {_action(change)}: {_memory_text(client, str(change.key[0]), operation.id)}"
    if len(changes) > MEMORIES_SHOWN:
        yield f"  and {counted(len(changes) - MEMORIES_SHOWN, 'more', 'more')}; --json lists all of them."


def _memory_text(client: Client, memory_id: str, operation_id: str) -> str:
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


def _forgotten_lines(operation: wire.Operation) -> Iterator[str]:
    """Yield how many statements an operation has forgotten, and how many it allows again; their keys are hashes."""
    actions = Counter(_action(change) for change in operation.changes if change.kind == _FORGOTTEN)
    removed, added = actions.pop("removed", 0), actions.total()
    if added:
        yield f"Not learnt again when a session says the same: {counted(added, 'memory', 'memories')}"
    if removed:
        yield f"Learnt again when a session says the same: {counted(removed, 'memory', 'memories')}"


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


def diff(
    client: Client,
    start: Annotated[str, Argument("OPERATION", "An operation's id; changes after it are shown.")],
    end: Annotated[str | None, Argument("[UNTIL]", "The last operation; default: the newest.")] = None,
    path: Annotated[str | None, Option("--path", metavar="PATH", help="Only this document.")] = None,
) -> Answer:
    """Show what changed in documents between two operations.

    Example: reverie diff OP
    """
    with renamed({"from": "OPERATION", "to": "UNTIL"}):
        difference = client.difference(start, end, path=path)
    yield difference
    if not difference.items:
        say(f"No document changed between operations {difference.from_} and {difference.to}.")
    for item in difference.items:
        before, after = _comparable_lines(item.before or "", item.after or "")
        old = item.path if item.before is not None else "(not there)"
        new = item.path if item.after is not None else "(deleted)"
        labels = f"op {difference.from_}", f"op {difference.to}"
        lines = list(difflib.unified_diff(before, after, old, new, *labels, lineterm=""))
        for line in lines or [f"--- {old}\t{labels[0]}", f"+++ {new}\t{labels[1]}"]:  # an empty document has no lines
            say(line)


def _comparable_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    r"""Return the lines of both texts for a diff, with visible line endings if only the endings differ.

    Example: "a\n" and "a\r\n" have the same words; without a visible `\r\n` the diff would be empty.
    """
    one, other = _split_lines(before), _split_lines(after)
    words = [line for line, _ in one], [line for line, _ in other]
    same_endings = not one or not other or {end for _, end in one} == {end for _, end in other}
    if same_endings and words[0] != words[1]:
        return words
    return [line + _VISIBLE_END.get(end, "") for line, end in one], [
        line + _VISIBLE_END.get(end, "") for line, end in other
    ]


def _split_lines(text: str) -> list[tuple[str, str]]:
    stripped = ((line, line.rstrip("\r\n")) for line in _LINE_BREAK.split(text) if line)
    return [(words, line[len(words) :]) for line, words in stripped]


_PATHS_SHOWN = 10  # of documents that a rollback would change

# What clients and the daemon record beside the work: no one means these by "undo the last thing". An agent's session
# that is followed appends all the time, and its bridge begins a thread, which an undo by its number still takes.
_RECORDED: Final = frozenset(
    {
        *("thread.create", "messages.append", "import.begin", "import.chunk", "memory.list", "memory.access"),
        *("project.register", "session.begin", "session.end", "session.project", "folder.author"),
        *("run.begin", "run.file", "files.announced", "files.recorded", "files.begun_anew"),
        *("schedule.run", "dream failed", "redaction.note", "redaction.remember"),
        *("redaction.restore",),  # the way back is `reverie redactions disallow`
        *("backup.made", "archives.removed", "retention", "versions.shorten", "compaction.due", "compaction.done"),
    }
)
# These change memories where they find something new, and are records like those above where they do not.
_RECORDED_IF_NOT_UNDOABLE: Final = frozenset({"thread.learn", "run.complete", "dream", "memory.add"})


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
    lines = [] if newer is None else [_for_good(newer)]
    lines.append(f"Operation {target.id}: {target.why} ({when(target.at)}, {target.who})")
    confirm("\n".join([*lines, *effects(client, target)]), "Undo it?")


def _for_good(operation: wire.Operation) -> str:
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
    memory = memory and _whole_id(client, memory)
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
