"""The memories of one space, searchable by words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie import tokens
from reverie.rank import Index
from reverie.recall.line import line, text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from reverie.models import Memory, MemoryType

__all__ = ["Corpus", "Hit", "build"]

_WIDEN: Final = 4
"""How many times more is fetched when filters left too few."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that was found. `why` holds the words that matched and what each added to `score`, most telling first.

    `tokens` is the cost of its recalled line.
    """

    memory: Memory
    score: float
    why: tuple[tuple[str, float], ...]
    tokens: int


class Corpus:
    """An index that follows the memories: what is added is found at once, what is removed never again."""

    def __init__(self) -> None:
        self._index = Index()
        self._memories: dict[str, Memory] = {}

    def __len__(self) -> int:
        return len(self._memories)

    def __contains__(self, memory_id: object) -> bool:
        return memory_id in self._memories

    def add(self, memory: Memory) -> None:
        """Adds the memory, or replaces the one of the same id."""
        self.remove(memory.id)
        self._index.add(memory.id, text(memory), memory.tags)
        self._memories[memory.id] = memory

    def remove(self, memory_id: str) -> None:
        """Forgets the memory; one that is not there is no error."""
        if self._memories.pop(memory_id, None) is not None:
            self._index.remove(memory_id)

    def search(
        self,
        query: str,
        limit: int = 10,
        token_budget: int = 1_500,
        types: Collection[MemoryType] | None = None,
        tags: Collection[str] | None = None,
    ) -> list[Hit]:
        """The best memories for `query`, best first, ties by id, in `limit` hits and `token_budget` tokens.

        `types` keeps memories of any of the types, `tags` those that carry all of the tags. A line that is larger than
        the tokens left makes room for smaller ones after it.
        """
        if limit < 1 or not query.strip() or not self._memories:
            return []
        hits: list[Hit] = []
        room = token_budget
        for memory, score, why in self._matching(query, limit, types, tags):
            cost = tokens.count(line(memory)) + 1
            if cost <= room:
                hits.append(Hit(memory, score, why, cost))
                room -= cost
        return hits

    def _matching(
        self, query: str, limit: int, types: Collection[MemoryType] | None, tags: Collection[str] | None
    ) -> list[tuple[Memory, float, tuple[tuple[str, float], ...]]]:
        """The first `limit` found memories that pass the filters."""
        wide = limit
        while True:
            found = self._index.search(query, wide)
            passed = [
                (self._memories[hit.id], hit.score, tuple(hit.terms))
                for hit in found
                if _passes(self._memories[hit.id], types, tags)
            ]
            if len(passed) >= limit or len(found) < wide:
                return passed[:limit]
            wide *= _WIDEN


def build(memories: Iterable[Memory]) -> Corpus:
    """A corpus of the memories given."""
    corpus = Corpus()
    for memory in memories:
        corpus.add(memory)
    return corpus


def _passes(memory: Memory, types: Collection[MemoryType] | None, tags: Collection[str] | None) -> bool:
    if types is not None and memory.type not in types:
        return False
    return tags is None or set(tags) <= set(memory.tags)
