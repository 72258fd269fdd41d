"""Memories with a search index over them, in memory, without a store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from reverie.models import Memory, MemoryType
from reverie.text_recall import Counted, Hit, SearchIndex, counted


class Corpus:
    """Memories by id, and their index."""

    def __init__(self) -> None:
        self._index = SearchIndex()
        self._memories: dict[str, Memory] = {}

    def __len__(self) -> int:
        return len(self._index)

    def add(self, memory: Memory) -> None:
        """Add or replace a memory."""
        self._index.add(memory)
        self._memories[memory.id] = memory

    def add_many(self, memories: Iterable[Memory]) -> None:
        """Add or replace memories."""
        added = list(memories)
        self._index.add_many(added)
        self._memories.update((memory.id, memory) for memory in added)

    def remove(self, memory_id: str) -> None:
        """Remove a memory."""
        self._index.remove(memory_id)
        self._memories.pop(memory_id, None)

    def search(
        self,
        query: str,
        limit: int = 10,
        token_budget: int = 1_500,
        types: Collection[MemoryType] | None = None,
        tags: Collection[str] | None = None,
    ) -> list[Hit[Memory]]:
        """Return the hits of a search."""
        return self._index.search(
            query, by_id(self._memories), limit=limit, token_budget=token_budget, types=types, tags=tags
        )


def by_id(memories: Mapping[str, Memory]) -> Callable[[str], Counted[Memory] | None]:
    """Return the function by which a search loads a hit's memory; it gives None for an unknown id."""
    return lambda memory_id: counted(memories[memory_id]) if memory_id in memories else None


def build_index(memories: Iterable[Memory]) -> Corpus:
    """Return memories with their index."""
    corpus = Corpus()
    corpus.add_many(memories)
    return corpus
