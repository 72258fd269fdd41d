"""Ranks texts by how well they answer a query: BM25 in memory, with what each term gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

__all__ = ["Filter", "Hit", "Index", "IndexEntry"]


class Hit(NamedTuple):
    """One answer: the id it was added under, its score, and what each term of the query gave to that, best first."""

    id: str
    score: float
    terms: tuple[tuple[str, float], ...]


class IndexEntry(NamedTuple):
    """A text to be found. Filters know it by `groups`, which are any strings, and `at`, in a unit of the caller's."""

    id: str
    text: str
    tags: Sequence[str] = ()
    groups: Sequence[str] = ()
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which texts a search may give; what is left out lets every text through. Scores do not depend on it.

    Of each set in `any_of` a text carries at least one group, of `none_of` none. It is one of `ids`. Its time is in
    `since <= at < before`; where one of these is given, a text without a time is not found.
    """

    any_of: Collection[Collection[str]] = ()
    none_of: Collection[str] = ()
    ids: Collection[str] | None = None
    since: int | None = None
    before: int | None = None


_EVERYTHING: Final = Filter()


class Index:
    """An index of texts by their terms: words, parts of identifiers and paths, common English endings folded.

    The order of hits depends only on what is in the index. It may be used from several threads.
    """

    __slots__ = ("_native",)

    def __init__(self) -> None:
        self._native = _native.Index()

    def __len__(self) -> int:
        """How many texts it holds."""
        return len(self._native)

    def add(
        self,
        id: str,  # noqa: A002  # the word of the design
        text: str,
        tags: Sequence[str] = (),
        groups: Sequence[str] = (),
        at: int | None = None,
    ) -> None:
        """Adds a text, in place of what had the same id. A tag counts as two mentions."""
        self._native.add(id, text, tags, groups, at)

    def add_many(self, records: Iterable[IndexEntry]) -> None:
        """Adds all of them in one step, as `add` would one by one."""
        self._native.add_many(list(records))

    def remove(self, id: str) -> bool:  # noqa: A002  # the word of the design
        """Removes a text; False if there was none under that id."""
        return self._native.remove(id)

    def search(self, query: str, limit: int, within: Filter = _EVERYTHING) -> list[Hit]:
        """The best `limit` texts that hold at least one term of the query, best first, equal scores by id."""
        if within is _EVERYTHING:
            hits = self._native.search(query, max(limit, 0))
        else:
            hits = self._native.search(query, max(limit, 0), *_parts(within))
        return list(map(Hit._make, hits))


def _parts(
    within: Filter,
) -> tuple[list[list[str]], list[str], list[str] | None, int | None, int | None]:
    ids = None if within.ids is None else list(within.ids)
    return [list(groups) for groups in within.any_of], list(within.none_of), ids, within.since, within.before
