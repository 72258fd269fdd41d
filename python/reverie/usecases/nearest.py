"""The memories that candidates can change, found by the index of recall, so that learning need not read all others.

The rest are kept unseen. Where memories are many beside the window of consolidation, they are to become fewer: then a
page of the store comes with those near the candidates, another one each time, and whatever can be merged with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reverie.consolidate.capacity import similarity_to_merge
from reverie.consolidate.statements import parse_statement
from reverie.documents.layout import PERSON
from reverie.doubts import Objection
from reverie.models import Candidate, MemoryType, Tier
from reverie.store import Key, Kind, MemoryRecord, Reader
from reverie.usecases import consolidation
from reverie.usecases.capacity import EstimatedTokens
from reverie.usecases.consolidation import MemorySnapshot
from reverie.usecases.follow import Kept

if TYPE_CHECKING:
    from reverie.usecases.recall import MemoryIndex, Recall

_NEAREST: Final = 16  # memories of one search: what a candidate covers, extends or replaces shares most of its words
_SAME: Final = 8  # of the search for the same words in another type
# Share of the words of the shorter one that a candidate has in common with a memory that it can say something about:
# all of them where one covers the other, but for inflections and words without meaning; of unrelated ones a fifth.
# In HEAVY_CUT a candidate is merged with a memory from an overlap of a quarter on.
_SHARED_MIN: Final = {Tier.GENEROUS: 0.4, Tier.SELECTIVE: 0.4, Tier.HEAVY_CUT: 0.2}
_READ_WHOLE_MAX: Final = 2_000  # memories of a store that is shrunk as a whole; reading them takes a fifth of a second
_PAGE: Final = 500  # memories of a larger one that one consolidation may shrink, besides those near its candidates
_PARTNERS: Final = 3  # the most similar memories that each of a page is compared with
_SEARCHES: Final = 50  # between which recall has its turn
_DOCUMENTS_MAX: Final = 100  # of a page with its partners; each has up to 32 KB


@dataclass(slots=True)
class _Space:
    """Token estimate and last page of one space; changed under the lock of recall."""

    tokens: EstimatedTokens = field(default_factory=EstimatedTokens)
    page_end: Key | None = None  # the last memory of the page before


class NearestMemories(Kept):
    """Snapshots of the memories that candidates can change, of every space of a store."""

    def __init__(self, recall: Recall) -> None:
        """Take the indexes of recall, which are asked for the memories."""
        self._recall = recall
        self._spaces: dict[str, _Space] = {}

    def forget(self, space: str) -> None:
        """Count and page the memories of a space anew."""
        self._spaces.pop(space, None)

    def snapshot(
        self,
        space: str,
        candidates: Sequence[Candidate],
        *,
        window: int,
        at: str,
        objections: Sequence[Objection] = (),
        project: str = PERSON,
    ) -> MemorySnapshot | None:
        """Return a MemorySnapshot of the memories that a consolidation of `candidates` may change, or None.

        With them come those near `objections` of a session in `project`, which may put them in doubt.
        Where all memories are many for `window` tokens, a page of others comes with them. None where they are many for
        it and yet so few that all can be read.
        """
        cache = self._spaces.setdefault(space, _Space())
        while (tier := self._recall.ask(space, lambda _, reader: cache.tokens.tier(reader, window))) is None:
            pass  # one step of reading all memories; between two steps recall has its turn
        page: set[str] = set()
        if tier is not Tier.GENEROUS and candidates:
            seeds = self._recall.ask(space, lambda _, reader: _next_page(cache, reader))
            if seeds is None:
                return None
            page = self._with_partners(space, seeds, tier)

        def found(index: MemoryIndex, reader: Reader) -> MemorySnapshot:
            near: dict[str, list[Candidate]] = {name: [] for name in page}
            for candidate in candidates:
                for name in dict.fromkeys(_nearest(index, candidate)):
                    near.setdefault(name, []).append(candidate)
            asked = set(page)
            for objection in objections:
                asked.update(index.nearest(objection.text, _NEAREST, projects=[project, PERSON]))
            concerned = [
                record
                for record in reader.load_many(MemoryRecord, [(name,) for name in sorted({*near, *asked})])
                if record is not None
                and (record.id in asked or any(_may_concern(one, record, tier) for one in near[record.id]))
            ]
            return consolidation.snapshot_of(reader, concerned, candidates, window=window, at=at, tier=tier)

        return self._recall.ask(space, found)

    def _with_partners(self, space: str, seeds: Sequence[MemoryRecord], tier: Tier) -> set[str]:
        """Return the ids of a page of memories, and of those elsewhere that can be merged with one of them.

        The partners are in documents of their own, which have to be read too: the most similar ones come first, until
        they are in as many documents as the limit allows.
        """
        nearest: dict[str, tuple[float, str]] = {}  # by id: similarity and document
        for begin in range(0, len(seeds), _SEARCHES):
            part = seeds[begin : begin + _SEARCHES]
            for name, score, document in self._recall.ask(
                space,
                lambda index, reader: list(_partners(index, reader, part, tier)),  # noqa: B023 - called at once
            ):
                nearest[name] = max(nearest.get(name, (0.0, document)), (score, document))
        documents = {record.document for record in seeds}
        page = {record.id for record in seeds}
        for name, (_, document) in sorted(nearest.items(), key=lambda item: (-item[1][0], item[0])):
            if document in documents or len(documents) < _DOCUMENTS_MAX:
                documents.add(document)
                page.add(name)
        return page


def _next_page(known: _Space, reader: Reader) -> list[MemoryRecord] | None:
    """Return the memories after the last page, from the first one on again after the last; None for a small store."""
    if reader.count(Kind.MEMORY) <= _READ_WHOLE_MAX:
        return None
    page = list(reader.records(MemoryRecord, after=known.page_end, limit=_PAGE))
    if len(page) < _PAGE:
        page += reader.records(MemoryRecord, limit=_PAGE - len(page))
    known.page_end = page[-1][0]
    return [record for _, record in page]


def _partners(
    index: MemoryIndex, reader: Reader, seeds: Iterable[MemoryRecord], tier: Tier
) -> Iterator[tuple[str, float, str]]:
    for seed in seeds:
        if seed.type is MemoryType.EPISODE or seed.trust == "person":
            continue
        names = index.nearest(seed.content, _PARTNERS + 1, types=[seed.type], projects=[seed.project or PERSON])
        for record in reader.load_many(MemoryRecord, [(name,) for name in names if name != seed.id]):
            score = 0.0 if record is None else similarity_to_merge(seed.content, record.content, tier)
            if record is not None and score > 0:
                yield record.id, score, record.document


def _may_concern(candidate: Candidate, memory: MemoryRecord, tier: Tier) -> bool:
    """Return False for a memory whose words are too different for a candidate to change it or to repeat it.

    A search finds as many as it may, mostly unrelated ones: they need not be read by the rules, nor their documents.
    Episodes have rules of their own, and wishes contradict each other by few words.
    """
    kinds = {candidate.type, memory.type}
    if MemoryType.EPISODE in kinds or kinds == {MemoryType.PREFERENCE}:
        return True
    new, old = parse_statement(candidate.content), parse_statement(memory.content)
    if len(new.words & old.words) >= _SHARED_MIN[tier] * min(len(new.words), len(old.words)):
        return True
    return new.subject is not None and old.subject is not None and new.subject[0] == old.subject[0]


def _nearest(index: MemoryIndex, candidate: Candidate) -> Iterable[str]:
    """Yield ids of the memories that a candidate may be compared with, some of them more than once.

    They are those near it of its own type, any that say the same in its project or of the person, and those with its
    subject, whose value it may replace.
    """
    own = [candidate.project]
    text = "\n".join((candidate.title or "", candidate.content, *(value for _, value in candidate.fields)))
    yield from index.nearest(text, _NEAREST, types=[candidate.type], projects=own)
    if candidate.type is MemoryType.EPISODE:
        return
    statement = parse_statement(candidate.content)
    yield from index.nearest(text, _SAME, projects=[candidate.project, PERSON])
    if statement.subject is not None:
        yield from index.nearest(statement.subject[0], _NEAREST, types=[candidate.type], projects=own)
