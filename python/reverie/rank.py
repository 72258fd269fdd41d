"""Ranks texts by how well they answer a query: BM25 in memory, with what each term gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Hit", "Index"]


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: the id it was added under, its score, and what each term of the query gave to that, best first."""

    id: str
    score: float
    terms: tuple[tuple[str, float], ...]


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

    def add(self, id: str, text: str, tags: Sequence[str] = ()) -> None:  # noqa: A002  # the word of the design
        """Adds a text, in place of what had the same id. A tag counts as two mentions."""
        self._native.add(id, text, list(tags))

    def remove(self, id: str) -> bool:  # noqa: A002  # the word of the design
        """Removes a text; False if there was none under that id."""
        return self._native.remove(id)

    def search(self, query: str, limit: int) -> list[Hit]:
        """The best `limit` texts that hold at least one term of the query, best first, equal scores by id."""
        hits = self._native.search(query, max(limit, 0))
        return [Hit(id, score, tuple(terms)) for id, score, terms in hits]  # noqa: A001  # the word of the design
