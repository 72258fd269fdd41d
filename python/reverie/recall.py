"""Recall: a search index over memories, the line that shows a found memory, and the query that a context makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie import tokens
from reverie.rank import Filter, Index, IndexEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from reverie.models import Memory, MemoryType, WorkingState

__all__ = ["Hit", "SearchIndex", "build_index", "memory_text", "query_for", "recall_line"]


_MESSAGE_CHARS_MAX: Final = 2_000
"""Characters of the person's message in a query; more, such as a pasted log, would outweigh the words of the task."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that was found: `why` lists the words that matched and what each added to `score`, the greatest first.

    `tokens` is the cost of its recalled line.
    """

    memory: Memory
    score: float
    why: tuple[tuple[str, float], ...]
    tokens: int


class SearchIndex:
    """A full-text index over memories by id; changes are visible to the next search."""

    def __init__(self) -> None:
        self._index = Index()
        self._memories: dict[str, Memory] = {}

    def __len__(self) -> int:
        return len(self._memories)

    def __contains__(self, memory_id: object) -> bool:
        return memory_id in self._memories

    def add(self, memory: Memory) -> None:
        """Add a memory, or replace the one with the same id."""
        self._index.add(*_index_record(memory))
        self._memories[memory.id] = memory

    def add_many(self, memories: Iterable[Memory]) -> None:
        """Add memories in one step, which is faster than one by one."""
        added = list(memories)
        self._index.add_many(map(_index_record, added))
        self._memories.update((memory.id, memory) for memory in added)

    def remove(self, memory_id: str) -> None:
        """Remove a memory; one that is not in the index is no error."""
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
        """Return the best memories for `query`, best first, ties by id: at most `limit` hits and `token_budget` tokens.

        With `types`, memories of one of these types only; with `tags`, those that have all of the tags. A memory whose
        line is larger than the tokens left is skipped, and smaller ones after it may still fit.
        """
        if limit < 1 or not query.strip() or not self._memories:
            return []
        hits: list[Hit] = []
        room = token_budget
        for match in self._index.search(query, limit, _filter(types, tags)):
            memory = self._memories[match.id]
            cost = tokens.count(recall_line(memory)) + 1  # and its newline
            if cost <= room:
                hits.append(Hit(memory, match.score, match.terms, cost))
                room -= cost
        return hits


def build_index(memories: Iterable[Memory]) -> SearchIndex:
    """Return an index over the memories."""
    index = SearchIndex()
    index.add_many(memories)
    return index


def _index_record(memory: Memory) -> IndexEntry:
    """Return a memory as the index takes it: its text, its tags, and its type and tags as groups to filter by."""
    groups = [_type_group(memory.type), *map(_tag_group, memory.tags)]
    return IndexEntry(memory.id, memory_text(memory), memory.tags, groups)


def _filter(types: Collection[MemoryType] | None, tags: Collection[str] | None) -> Filter:
    """Return the filter for any of the types and every one of the tags."""
    any_of = [] if types is None else [[_type_group(kind) for kind in types]]
    return Filter(any_of=[*any_of, *([_tag_group(tag)] for tag in tags or ())])


def _type_group(kind: MemoryType) -> str:
    return f"type:{kind}"


def _tag_group(tag: str) -> str:
    return f"tag:{tag}"


def recall_line(memory: Memory) -> str:
    """Return a memory as one markdown item: `- [fact · facts/project.md] text`, further lines indented below it."""
    body = "\n  ".join(part.strip() for part in memory_text(memory).split("\n") if part.strip())
    return f"- [{memory.type.value} · {memory.document}] {body}"


def memory_text(memory: Memory) -> str:
    """Return the text of a memory: its title where it has one, its content, and for an episode its fields."""
    fields = [f"{key}: {value}" for key, value in memory.fields]
    return "\n".join(part for part in (memory.title or "", memory.content, *fields) if part.strip())


def query_for(state: WorkingState, last_user_text: str) -> str:
    """Return the current task, the next step and the last user message as one query; empty where none is known.

    Used for a context, where no agent has asked. Of a long message both ends count: people put the question first or
    last and the log between.
    """
    message = last_user_text.strip()
    if len(message) > _MESSAGE_CHARS_MAX:
        half = _MESSAGE_CHARS_MAX // 2
        message = f"{message[:half]}\n{message[-half:]}"
    return "\n".join(part for part in (state.current_task, *state.next_steps[:1], message) if part.strip())
