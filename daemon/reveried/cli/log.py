"""`reverie log` and `reverie diff`: operations and their effects in words, differences of documents between two."""

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from reverie import wire
from reverie.client import Client
from reverie.errors import NotFound, ValidationError
from reverie.lazy_regex import lazy_regex
from reveried.cli.command import Answer, Argument, Limit, Option
from reveried.cli.daemon_client import all_items
from reveried.cli.output import clip, counted, print_table, say, when

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
            drop=(5, 2, 6),
        )
    elif not hidden:
        say("No operations yet.")
    if hidden:
        say(f"Routine operations not shown: {hidden:,} (appends, import steps, lists); --all shows them.")


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
    versions: wire.Page[wire.DocumentVersion] | wire.Page[wire.MemoryVersion]
    versions = client.document_history(what) if "." in what else client.memory_history(what)
    yield versions
    print_table(
        "Operation, When, Who, Why*, Content*",
        [(item.operation, when(item.at), item.who, item.why, _summary(item)) for item in versions.items[::-1][:limit]],
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


def _operations(client: Client, limit: int, *, with_routine: bool) -> tuple[list["wire.Operation"], int]:
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


@contextmanager
def _named_as_arguments() -> Iterator[None]:
    """Raise errors about the two operations of a comparison with the names that they have on the command line."""
    try:
        yield
    except ValidationError as error:
        name = {"from": "OPERATION", "to": "UNTIL"}.get(str(error.details.get("field")))
        if name is None:
            raise
        said = re.sub(r"`(?:from|to)`", name, error.message)
        raise ValidationError(said, hint=error.hint, field=name) from error


def diff(
    client: Client,
    start: Annotated[str, Argument("OPERATION", "An operation's id; changes after it are shown.")],
    end: Annotated[str | None, Argument("[UNTIL]", "The last operation; default: the newest.")] = None,
    path: Annotated[str | None, Option("--path", metavar="PATH", help="Only this document.")] = None,
) -> Answer:
    """Show what changed in documents between two operations.

    Example: reverie diff OP
    """
    with _named_as_arguments():
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
    """Split a text into lines, each with its line ending."""
    stripped = ((line, line.rstrip("\r\n")) for line in _LINE_BREAK.split(text) if line)
    return [(words, line[len(words) :]) for line, words in stripped]
