"""From which relevance on a found text answers a query: below it a search or recall shows nothing.

BM25 ranks texts, and its scores say nothing about whether the best one is about the question: "write a haiku about
autumn" finds the memory that shares `write`. The relevance of a hit is the share of the query's topic that a text has,
by how rare its words are (`rust/core/src/rank/query.rs`).

Commands are often made of words that are in any question: `make check`, `go get`. Where a text has such a name as code
and the query has its words in this order, it is an answer.
"""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST: Final = 0.45
"""Least threshold, also of a small store: one of two rare words is an answer (0.59), one of three is not (0.44)."""

GROWTH: Final = (0.31, 0.08)
"""Threshold of a store of one text, and what it grows by for ten times as many: the more texts there are, the more
words of any question one of them has by chance. At 250 texts it is 0.5, at 20,000 0.65. There, of 140 questions about
anything else 96 % find nothing this relevant; all of 72 questions about the recorded sessions do, and 99 % of 120
sentences that readers wrote about them."""

_CODE = lazy_regex(r"`([^`\n]{3,60})`")
"""Code in a text; longer code is a line of a program, and nobody asks for it word by word."""

_NAME_WORDS = range(2, 6)
"""Words of a name in code. One alone may be any word: `add` is in "add a paragraph about autumn"."""

_WORD = lazy_regex(r"\w+")


def threshold(texts: int) -> float:
    """Return the relevance that the best hit of a query must exceed in a store of so many texts."""
    first, growth = GROWTH
    return max(LEAST, first + growth * log10(max(texts, 1)))


def names_code(query: str, text: str) -> bool:
    """Return True if a query has the words of a name of several words that is in backquotes in a text."""
    names = [_WORD.findall(code.lower()) for code in _CODE.findall(text)] if "`" in text else []
    asked = _spaced(_WORD.findall(query.lower())) if names else ""
    return any(len(name) in _NAME_WORDS and _spaced(name) in asked for name in names)


def _spaced(words: Iterable[str]) -> str:
    """Return words with a space around each, so that one sequence of words is found in another."""
    return f" {' '.join(words)} "
