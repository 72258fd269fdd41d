"""Scores of words and similarity of meaning in one ranking, for searches with an embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie.full_text_index import Hit

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NEAR", "SIMILAR", "fused"]

NEAR: Final = 200  # the messages nearest in meaning that are looked at
SIMILAR: Final = 30.0  # what a cosine of 1 counts beside the score of words


def fused(by_words: Sequence[Hit], near: Sequence[tuple[str, float]], limit: int) -> list[Hit]:
    """Return the best `limit` hits by the sum of both scores, best first; equal ones by id.

    `by_words` are hits with their scores, `near` ids with cosines, the nearest first. Similarity counts from that of
    the last of `near` on, so that a message that is not among them has none.
    """
    floor = near[-1][1] if near else 0.0
    similar = {id_: SIMILAR * (cosine - floor) for id_, cosine in near}
    known = {hit.id: hit for hit in by_words}
    hits: list[Hit] = []
    for id_ in known.keys() | similar.keys():
        hit, more = known.get(id_, Hit(id_, 0.0, ())), similar.get(id_, 0.0)
        terms = sorted((*hit.terms, ("similar", more)), key=lambda term: (-term[1], term[0])) if more else hit.terms
        hits.append(Hit(id_, hit.score + more, tuple(terms)))
    hits.sort(key=lambda hit: (-hit.score, hit.id))
    return hits[:limit]
