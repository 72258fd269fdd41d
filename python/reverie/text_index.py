"""Full-text search: BM25 ranking over saved segments and unsaved messages, with the score of each query term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

PASSAGE_CHARS: Final = 400
SEARCHED_CHARS: Final = 50_000  # of a text; a passage behind them is not shown


class Hit(NamedTuple):
    """A search result: the document's id, its score, and the score of each query term, best first.

    `relevance` is 0 to 1: how much of what the query is about the document has.
    """

    id: str
    score: float
    terms: tuple[tuple[str, float], ...]
    relevance: float = 1.0


class IndexEntry(NamedTuple):
    """A document to be indexed. `groups` (any strings) and `at` (a time in any unit) are for filters."""

    id: str
    text: str
    tags: Sequence[str] = ()
    groups: Sequence[str] = ()
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents a search may return; an omitted condition accepts all. Scores do not depend on it.

    A document belongs to at least one group of each set in `any_of` and to none of `none_of`. Its id is one of `ids`.
    Its time is in `since <= at < before`; with one of these, documents without a time are not found.
    """

    any_of: Collection[Collection[str]] = ()
    none_of: Collection[str] = ()
    ids: Collection[str] | None = None
    since: int | None = None
    before: int | None = None


class Boost(NamedTuple):
    """A score added to the messages of a `group`, or `after` one of a group, or with `times[0] <= at < times[1]`.

    One of the three is given. `name` is what a hit's `terms` call it.
    """

    name: str
    score: float
    group: str | None = None
    after: str | None = None
    times: tuple[int, int] | None = None


class Surroundings(NamedTuple):
    """Parameters of `search_around`: how many best hits are ranked with their neighbours, and the `weight` of those.

    The words of messages of a group count by its factor; messages of the group `outside` are not part of what was said
    around others.
    """

    candidates: int
    weight: float
    factors: tuple[tuple[str, float], ...] = ()
    outside: str | None = None
    boosts: tuple[Boost, ...] = ()


class Segment(NamedTuple):
    """A saved part of an index: an immutable file, and which of its documents were removed since it was written.

    `digest` names the content of the file. `documents` counts the removed ones too.
    """

    path: Path
    removed: bytes
    digest: str
    documents: int
    removed_documents: int


_ACCEPT_ALL: Final = Filter()


class Index:
    """An inverted index of documents: words, parts of identifiers and paths, with light English stemming.

    The order of hits depends only on the documents in the index. It is thread-safe.

    Documents are in memory until `flush` writes them to a segment, a file that is never changed. `segments` returns
    what `open` needs to have the same index again. Every method raises OSError where a file cannot be used: build the
    index again then.
    """

    __slots__ = ("_native",)

    def __init__(self, segments: Iterable[tuple[Path, bytes]] = (), *, k1: float = 1.2, b: float = 0.75) -> None:
        """Open the index of these segments, each a path and its removed documents; without any, an empty one.

        `k1` and `b` are the parameters of BM25: how soon more mentions add nothing, how much length counts against one.
        """
        self._native = _native.Index.open(list(segments), k1, b)

    @staticmethod
    def merge(segments: Iterable[Segment], path: Path) -> None:
        """Write a new segment of several; an index that has them open can be used meanwhile. Then call `replace`."""
        _native.Index.merge([(segment.path, segment.removed) for segment in segments], path)

    def replace(self, segments: Iterable[Segment], path: Path) -> None:
        """Put the segment that `merge` made of others in their place."""
        self._native.replace([(segment.path, segment.removed) for segment in segments], path)

    def flush(self, path: Path) -> None:
        """Write the documents that are in memory only to a new segment; without any, no file is written."""
        self._native.flush(path)

    def segments(self) -> list[Segment]:
        """Return the segments, oldest first."""
        return list(map(Segment._make, self._native.segments()))

    @property
    def buffered(self) -> int:
        """The number of documents that are in memory only."""
        return self._native.buffered()

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._native)

    def add(
        self,
        id: str,  # noqa: A002  # the API's name
        text: str,
        tags: Sequence[str] = (),
        groups: Sequence[str] = (),
        at: int | None = None,
    ) -> None:
        """Add a document, replacing an older one with the same id. A tag counts as two mentions of its words."""
        self._native.add(id, text, tags, groups, at)

    def add_many(self, records: Iterable[IndexEntry]) -> None:
        """Add documents in one step, with the same result as `add` one by one."""
        self._native.add_many(list(records))

    def remove(self, id: str) -> bool:  # noqa: A002  # the API's name
        """Remove a document; return False if there was none with this id."""
        return self._native.remove(id)

    def search(self, query: str, limit: int, within: Filter = _ACCEPT_ALL) -> list[Hit]:
        """Return the best `limit` documents with at least one query term, best first; equal scores by id."""
        return list(map(Hit._make, self._native.search(query, max(limit, 0), _parts(within))))

    def search_around(self, query: str, limit: int, how: Surroundings, within: Filter = _ACCEPT_ALL) -> list[Hit]:
        """Return the best `limit` messages ranked with what was said around them, best first; equal scores by id.

        The id of a message is `thread/number`; two messages on either side are its surroundings. A hit's `terms` add up
        to its score and name the boosts too.
        """
        return list(map(Hit._make, self._native.search(query, max(limit, 0), _parts(within), how)))

    def ids(self, any_of: Collection[Collection[str]], after: str, limit: int) -> list[str]:
        """Return up to `limit` ids greater than `after`, in order, of documents in a group of each set in `any_of`."""
        return self._native.ids([list(groups) for groups in any_of], after, max(limit, 0))


def _parts(
    within: Filter,
) -> tuple[list[list[str]], list[str], list[str] | None, int | None, int | None]:
    """Return a filter as the arguments of the native core: groups, times and the other conditions."""
    ids = None if within.ids is None else list(within.ids)
    return [list(groups) for groups in within.any_of], list(within.none_of), ids, within.since, within.before


def passage(text: str, query: str, chars: int = PASSAGE_CHARS) -> str:
    """Return the run of whole sentences or lines with most of a query's words, at most `chars` characters long."""
    return _native.passage(text[:SEARCHED_CHARS], query, chars)
