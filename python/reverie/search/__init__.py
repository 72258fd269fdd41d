"""Search in threads and documents: units of the index, what a question asks for, the best passage, fused scores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.full_text_index import Hit
from reverie.lazy_regex import lazy_regex
from reverie.search.units import (
    K1,
    VERSION,
    B,
    content_text,
    document_units,
    is_number_of,
    message_text,
    message_unit,
    section_of,
)
from reverie.search.weights import (
    SPREAD_FROM,
    days_asked_about,
    is_question,
    spread,
    surroundings_for,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = [
    "K1",
    "NEAR",
    "SIMILAR",
    "SPREAD_FROM",
    "VERSION",
    "B",
    "clipped",
    "content_text",
    "days_asked_about",
    "document_units",
    "fused",
    "is_number_of",
    "is_question",
    "message_text",
    "message_unit",
    "passage",
    "section_of",
    "spread",
    "surroundings_for",
]

PASSAGE_CHARS: Final = 400
STEM_CHARS: Final = 4  # `deployed` and `deployment` have as many in common
SEARCHED_CHARS: Final = 50_000  # of a text; a passage behind them is not shown
_PIECE = lazy_regex(r"[^\n.!?]*(?:[.!?]+(?=\s|$)|\n|.|$)", re.DOTALL)
_WORD = lazy_regex(r"\w+")

NEAR: Final = 200  # the messages nearest in meaning that are looked at
SIMILAR: Final = 30.0  # what a cosine of 1 counts beside the score of words


def passage(text: str, words: Collection[str], chars: int = PASSAGE_CHARS) -> str:
    """Return the run of whole sentences or lines with most of the words, at most `chars` characters long.

    Words count once each, longer ones more, and by their beginnings: what inflection adds is at the end.
    """
    text = text[:SEARCHED_CHARS].strip()
    if len(text) <= chars:
        return text
    begins = {word[: max(STEM_CHARS, len(word) - 3)].lower() for word in words if word}
    pieces = [match.group() for match in _PIECE.finditer(text) if match.group()]
    best, best_score, start = (0, 1), -1, 0
    for end in range(1, len(pieces) + 1):
        while end - start > 1 and sum(map(len, pieces[start:end])) > chars:
            start += 1
        score = _found("".join(pieces[start:end])[:chars], begins)
        if score > best_score:
            best, best_score = (start, end), score
    return clipped("".join(pieces[best[0] : best[1]]).strip(), chars)


def _found(text: str, begins: set[str]) -> int:
    """Return the total length of the word beginnings `begins` that occur in a text: how well it matches."""
    words = f" {' '.join(_WORD.findall(text))}".lower()
    return sum(len(begin) for begin in begins if f" {begin}" in words)


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
        hits.append(Hit(id_, hit.score + more, tuple(terms)))
    hits.sort(key=lambda hit: (-hit.score, hit.id))
    return hits[:limit]
