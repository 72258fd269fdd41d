"""The neighbourhood of candidates: the memories that a model has to see to decide about them, in pages.

By search within the project and what concerns the person, so that a request has a few dozen memories and not the whole
store; a memory that no page shows is kept. In the tier HEAVY_CUT the store has to shrink, so all of them are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reverie import tokenizer
from reverie.documents.layout import PERSON, memory_project
from reverie.models import Tier
from reverie.text_index import Filter, Index

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.models import Candidate, Memory

NEIGHBOURS: Final = 12  # memories that are shown for each candidate
KNOWN_MAX: Final = 60  # memories that an extraction is shown
PAGE_TOKENS: Final = 40_000  # of memories and candidates; with the prompt a request stays far below 100,000
PAGE_CANDIDATES: Final = 40
QUERY_CHARS: Final = 2_000
_LABEL_TOKENS: Final = 60  # of a memory's line besides its content and tags: id, dates, counts


class ConsolidationPage(NamedTuple):
    """Candidates, by their indexes, and the memories that are shown beside them; no memory is on two pages."""

    indexes: tuple[int, ...]
    memories: tuple[Memory, ...]


class Nearby:
    """A search index over the memories of a run."""

    def __init__(self, memories: Sequence[Memory]) -> None:
        self._index = Index()
        self._memories = {memory.id: memory for memory in memories}
        for memory in memories:
            text = f"{memory.title or ''} {memory.content}"
            self._index.add(memory.id, text, tags=memory.tags, groups=[memory_project(memory)])

    def search(self, text: str, project: str, limit: int) -> list[Memory]:
        """Return the memories of the project and of the person that are nearest to a text, best first."""
        accepted = Filter(any_of=[{project, PERSON}])
        hits = self._index.search(text[:QUERY_CHARS], limit, accepted)
        return [self._memories[hit.id] for hit in hits]

    def known(self, texts: Sequence[str], project: str) -> list[Memory]:
        """Return the memories that an extraction from these texts is shown: those nearest to any of them."""
        limit = max(3, KNOWN_MAX // max(1, len(texts)))
        near = {memory.id: memory for text in texts for memory in self.search(text, project, limit)}
        return sorted(list(near.values())[:KNOWN_MAX], key=lambda memory: (memory.document, memory.order, memory.id))


def neighbourhood(
    candidates: Sequence[Candidate],
    existing: Sequence[Memory],
    tier: Tier,
    nearby: Nearby,
    *,
    wrong: Iterable[str] = (),
) -> list[ConsolidationPage]:
    """Return the candidates in pages, with the memories near them and those whose ids are in `wrong`.

    Every candidate is on one page. A page without memories needs no model.
    """
    near = [
        nearby.search(f"{candidate.title or ''} {candidate.content}", candidate.project, NEIGHBOURS)
        for candidate in candidates
    ]
    by_id = {memory.id: memory for memory in existing}
    said_wrong = [by_id[name] for name in dict.fromkeys(wrong) if name in by_id]
    if tier is Tier.HEAVY_CUT:
        return _all_pages(candidates, near, existing)
    pages: list[ConsolidationPage] = []
    shown: set[str] = set()
    indexes: list[int] = []
    memories = said_wrong
    shown.update(memory.id for memory in said_wrong)
    used = sum(map(_memory_tokens, memories))
    for index, candidate in enumerate(candidates):
        fresh = [memory for memory in near[index] if memory.id not in shown]
        size = tokenizer.count(candidate.content) + _LABEL_TOKENS + sum(map(_memory_tokens, fresh))
        if indexes and (used + size > PAGE_TOKENS or len(indexes) >= PAGE_CANDIDATES):
            pages.append(ConsolidationPage(tuple(indexes), tuple(memories)))
            indexes, memories, used = [], [], 0
        indexes.append(index)
        memories = [*memories, *fresh]
        shown.update(memory.id for memory in fresh)
        used += size
    if indexes or memories:
        pages.append(ConsolidationPage(tuple(indexes), tuple(memories)))
    return pages


def _all_pages(
    candidates: Sequence[Candidate], near: Sequence[Sequence[Memory]], existing: Sequence[Memory]
) -> list[ConsolidationPage]:
    """Return pages of all memories of the candidates' projects and the person; each candidate beside its nearest.

    Memories of one document follow each other, so that those that may be merged are on one page.
    """
    projects = {candidate.project for candidate in candidates} | {PERSON}
    pages = memory_pages([memory for memory in existing if memory_project(memory) in projects])
    page_of = {memory.id: number for number, page in enumerate(pages) for memory in page}
    indexes: list[list[int]] = [[] for _ in pages]
    for index, nearest in enumerate(near):
        indexes[page_of.get(nearest[0].id, 0) if nearest else 0].append(index)
    return [
        ConsolidationPage(tuple(page_indexes), tuple(page))
        for page_indexes, page in zip(indexes, pages, strict=True)
        if page_indexes or page
    ]


def memory_pages(memories: Sequence[Memory]) -> list[list[Memory]]:
    """Return memories in pages, those of one document after each other; at least one page, which may be empty."""
    pages: list[list[Memory]] = [[]]
    used = 0
    for memory in sorted(memories, key=lambda memory: (memory.document, memory.order, memory.id)):
        size = _memory_tokens(memory)
        if pages[-1] and used + size > PAGE_TOKENS:
            pages.append([])
            used = 0
        pages[-1].append(memory)
        used += size
    return pages


def _memory_tokens(memory: Memory) -> int:
    """Return about how many tokens a memory takes on a page."""
    return tokenizer.count(memory.content) + _LABEL_TOKENS
