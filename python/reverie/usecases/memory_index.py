"""The searchable memories of one space, kept in step with the store by its operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import recall
from reverie.models import Memory
from reverie.store import Kind, Write
from reverie.usecases.records import value

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from reverie.models import MemoryType
    from reverie.recall import Hit
    from reverie.store import Reader, Writer

__all__ = ["Recollection", "accessed", "memories", "memory_of", "with_access"]

BEHIND_MAX = 2_000  # operations; further behind, reading all memories again is quicker


class Recollection:
    """An index over one space's memories. Not safe for use by two threads at once."""

    def __init__(self) -> None:
        self._corpus = recall.SearchIndex()
        self._operation: int | None = None

    def catch_up(self, reader: Reader) -> None:
        """Takes in what was committed since the last call."""
        now = reader.operation()
        if self._operation == now:
            return
        if self._operation is None or now < self._operation or now - self._operation > BEHIND_MAX:
            self._corpus = recall.build_index(memories(reader))
        else:
            self._follow(reader, self._operation)
        self._operation = now

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        token_budget: int = 1_500,
        types: Collection[MemoryType] | None = None,
        tags: Collection[str] | None = None,
    ) -> list[Hit]:
        """The best memories for `query`, best first."""
        return self._corpus.search(query, limit=limit, token_budget=token_budget, types=types, tags=tags)

    def _follow(self, reader: Reader, since: int) -> None:
        for memory_id in reader.touched(Kind.MEMORY, since):
            stored = reader.get(Kind.MEMORY, (memory_id,))
            if stored is None:
                self._corpus.remove(memory_id)
            else:
                self._corpus.add(memory_of(stored))


def memories(reader: Reader) -> list[Memory]:
    """Every memory of the space in the order of their ids."""
    return [memory_of(stored) for _, stored in reader.scan(Kind.MEMORY)]


def memory_of(stored: dict[str, Any]) -> Memory:
    """A stored memory as its value."""
    return value(Memory, stored)


def with_access(reader: Reader, stored: dict[str, Any]) -> dict[str, Any]:
    """A stored memory with the count of its accesses, which is kept beside it."""
    access = reader.get(Kind.ACCESS, (stored["id"],)) or {}
    return {**stored, "access_count": access.get("count", 0), "last_accessed_at": access.get("at")}


def accessed(space: str, ids: Sequence[str], *, at: str) -> Write[None]:
    """Counts one access of each memory; bookkeeping, so no operation comes of it."""

    def body(writer: Writer) -> None:
        for memory_id in ids:
            known = writer.get(Kind.ACCESS, (memory_id,)) or {"count": 0}
            writer.put(Kind.ACCESS, (memory_id,), {"count": known["count"] + 1, "at": at})

    return Write(space=space, who="recall", why="memory.access", body=body)
