"""What an operation did, in words: how many entries came, which memories changed, what else was written."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from reverie.errors import NotFound
from reveried.cli.output import clip, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie import wire
    from reverie.client import Client

__all__ = ["in_words"]

TEXT_CHARS = 70
MEMORIES_SHOWN = 50
_LISTED_APART = ("entry", "memory")
_BOOKS = frozenset({"ledger", "import", "cursor", "published", "tally"})  # how Reverie keeps count, not what it knows


def in_words(client: Client, operation: wire.Operation) -> list[str]:
    """A line for each thing that the operation did."""
    return [
        *_entries(operation),
        *_memories(client, operation),
        *_others(operation),
    ] or ["Nothing that is remembered changed."]


def _entries(operation: wire.Operation) -> Iterator[str]:
    for change in operation.changes:
        if change.kind == "entry" and change.first is not None and change.last is not None:
            done = "removed for good" if change.purged else "appended"
            yield f"Entries {done}: {change.last - change.first + 1:,} of {change.key[0]}"


def _memories(client: Client, operation: wire.Operation) -> Iterator[str]:
    changes = [change for change in operation.changes if change.kind == "memory"]
    done = Counter(_verb(change) for change in changes)
    if changes:
        yield "Memories: " + ", ".join(f"{number:,} {verb}" for verb, number in done.items())
    for change in changes[:MEMORIES_SHOWN]:
        yield f"  {_verb(change)}: {_text(client, str(change.key[0]), operation.id)}"
    if len(changes) > MEMORIES_SHOWN:
        yield f"  and {counted(len(changes) - MEMORIES_SHOWN, 'more', 'more')}; --json names them all."


def _text(client: Client, memory_id: str, operation_id: str) -> str:
    """The first words of a memory as the operation left it, or, where it was removed, as it was before."""
    try:
        versions = client.memory_history(memory_id).items
    except NotFound:
        return memory_id
    known = {version.operation: version.memory for version in versions}
    memory = known.get(operation_id)
    if memory is None:
        # The numbers of operations grow: the last version from before is what was removed.
        before = [(int(seq), kept) for seq, kept in known.items() if kept and int(seq) < int(operation_id)]
        memory = max(before, key=lambda pair: pair[0])[1] if before else None
    return clip(memory.title or memory.content, TEXT_CHARS) if memory is not None else memory_id


def _others(operation: wire.Operation) -> Iterator[str]:
    for change in operation.changes:
        if change.kind not in _LISTED_APART and change.kind not in _BOOKS:
            yield f"{change.kind.capitalize()} {'/'.join(str(part) for part in change.key)}: {_verb(change)}"


def _verb(change: wire.OperationChange) -> str:
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
