"""Recall: search indexes over the memories of each space, kept up to date with the store by its operations."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from reverie import recall, tokens, wire
from reverie.store import Kind, MemoryRecord
from reverie.usecases.memories import memory_answer, memory_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from reverie.models import MemoryType
    from reverie.recall import Hit
    from reverie.store import Reader, Store

__all__ = ["MemoryIndex", "Recall", "recall_answer"]

BEHIND_MAX = 2_000  # operations; further behind, reading all memories again is faster


class MemoryIndex:
    """A search index over one space's memories. Not thread-safe."""

    def __init__(self) -> None:
        self._index = recall.SearchIndex()
        self._operation: int | None = None  # the last operation that is in the index

    def catch_up(self, reader: Reader) -> None:
        """Index the memories that were committed since the last call."""
        now = reader.operation()
        if self._operation == now:
            return
        if self._operation is None or now < self._operation or now - self._operation > BEHIND_MAX:
            self._index = recall.build_index([memory_of(record) for _, record in reader.records(MemoryRecord)])
        else:
            self._update(reader, self._operation)
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
        """Return the best memories for `query`, best first, within `token_budget`."""
        return self._index.search(query, limit=limit, token_budget=token_budget, types=types, tags=tags)

    def _update(self, reader: Reader, since: int) -> None:
        for memory_id in reader.touched(Kind.MEMORY, since):
            record = reader.load(MemoryRecord, (memory_id,))
            if record is None:
                self._index.remove(memory_id)
            else:
                self._index.add(memory_of(record))


class Recall:
    """The indexes of all spaces of a store, each built on first use. Thread-safe.

    One lock for all of them is enough, because a search takes well under a millisecond.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._indexes: dict[str, MemoryIndex] = {}
        self._lock = threading.Lock()

    def search(self, space: str, query: str, **options: Any) -> list[Hit]:
        """Return the best memories of `space` for `query`; options as for `MemoryIndex.search`."""
        with self._lock, self._store.reader(space) as reader:
            index = self._indexes.setdefault(space, MemoryIndex())
            index.catch_up(reader)
            return index.search(query, **options)

    def lines(self, space: str, query: str, *, limit: int) -> list[tuple[str, str, str]]:
        """Return the best memories as lines of a context: text, memory id, document."""
        if not query:
            return []
        hits = self.search(space, query, limit=limit)
        return [(recall.recall_line(hit.memory), hit.memory.id, hit.memory.document) for hit in hits]


def recall_answer(found: Sequence[tuple[Hit, MemoryRecord]]) -> wire.RecallAnswer:
    """Return the hits as the API shows them, each with the terms that contributed to its score."""
    hits = [
        wire.RecallHit(
            memory=memory_answer(record),
            score=round(hit.score, 4),
            why=", ".join(f"{term} {added:.2f}" for term, added in hit.why),
        )
        for hit, record in found
    ]
    return wire.RecallAnswer(hits=hits, tokens=sum(hit.tokens for hit, _ in found), tokenizer=tokens.TOKENIZER)
