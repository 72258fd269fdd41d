"""Search in threads and documents: units of the index, what a question asks for, the best passage, fused scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie.search.units import (
    K1,
    VERSION,
    B,
    content_text,
    document_units,
    is_number_of,
    is_of_tools,
    message_text,
    message_unit,
    said_in,
    section_of,
)
from reverie.search.weights import days_asked_about, surroundings_for
from reverie.text_index import Hit, passage

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "K1",
    "NEAR",
    "SIMILAR",
    "VERSION",
    "B",
    "clipped",
    "content_text",
    "days_asked_about",
    "document_units",
    "fused",
    "is_number_of",
    "is_of_tools",
    "message_text",
    "message_unit",
    "passage",
    "said_in",
    "section_of",
    "surroundings_for",
]

NEAR: Final = 200  # the messages nearest in meaning that are looked at
SIMILAR: Final = 30.0  # what a cosine of 1 counts beside the score of words


def clipped(text: str, chars: int) -> str:
    """Return a text cut to `chars` characters, the last one then an ellipsis."""
    return text if len(text) <= chars else text[: chars - 1].rstrip() + "…"


def fused(by_words: Sequence[Hit], near: Sequence[tuple[str, float]], limit: int) -> list[Hit]:
    """Return the `limit` best hits by score plus similarity, best first, ties by id.

    `by_words` are hits with their scores, `near` ids with cosines, the nearest first. Similarity counts from that of
    the last of `near` on, so that a message that is not among them has none.
    """
    floor = near[-1][1] if near else 0.0
    similar = {id_: SIMILAR * (cosine - floor) for id_, cosine in near}
    word_hits = {hit.id: hit for hit in by_words}
    hits: list[Hit] = []
    for id_ in word_hits.keys() | similar.keys():
        hit, more = word_hits.get(id_, Hit(id_, 0.0, ())), similar.get(id_, 0.0)
        terms = sorted((*hit.terms, ("similar", more)), key=lambda term: (-term[1], term[0])) if more else hit.terms
        hits.append(Hit(id_, hit.score + more, tuple(terms), 1.0 if more else hit.relevance))
    hits.sort(key=lambda hit: (-hit.score, hit.id))
    return hits[:limit]
