"""The memories of one space, searchable by words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie import tokens
from reverie.rank import Filter, Index, IndexEntry
from reverie.recall.line import line, text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from reverie.models import Memory, MemoryType

__all__ = ["Corpus", "Hit", "build"]


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
        self._index.add(*_record(memory))
        self._memories[memory.id] = memory

    def add_many(self, memories: Iterable[Memory]) -> None:
        """Adds all of them in one step, as `add` would one by one."""
        added = list(memories)
        self._index.add_many(map(_record, added))
        self._memories.update((memory.id, memory) for memory in added)

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
        for found in self._index.search(query, limit, _within(types, tags)):
            memory = self._memories[found.id]
            cost = tokens.count(line(memory)) + 1
            if cost <= room:
                hits.append(Hit(memory, found.score, found.terms, cost))
                room -= cost
        return hits


def build(memories: Iterable[Memory]) -> Corpus:
    """A corpus of the memories given."""
    corpus = Corpus()
    corpus.add_many(memories)
    return corpus


def _record(memory: Memory) -> IndexEntry:
    """What the index knows of a memory: its words, and as groups its type and its tags."""
    groups = [_of_type(memory.type), *map(_of_tag, memory.tags)]
    return IndexEntry(memory.id, text(memory), memory.tags, groups)


def _within(types: Collection[MemoryType] | None, tags: Collection[str] | None) -> Filter:
    """Any of the types, and every one of the tags."""
    any_of = [] if types is None else [[_of_type(kind) for kind in types]]
    return Filter(any_of=[*any_of, *([_of_tag(tag)] for tag in tags or ())])


def _of_type(kind: MemoryType) -> str:
    return f"type:{kind}"


def _of_tag(tag: str) -> str:
    return f"tag:{tag}"
