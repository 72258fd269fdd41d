"""The part of a text that answers a question best."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["clipped", "passage"]

PASSAGE_CHARS: Final = 400
STEM_CHARS: Final = 4  # `deployed` and `deployment` have as many in common
SEARCHED_CHARS: Final = 50_000  # of a text; a passage behind them is not shown
_PIECE = re.compile(r"[^\n.!?]*(?:[.!?]+(?=\s|$)|\n|.|$)", re.DOTALL)
_WORD = re.compile(r"\w+")


def passage(text: str, words: Collection[str], chars: int = PASSAGE_CHARS) -> str:
    """Return the run of whole sentences or lines with most of the words, at most `chars` characters long.

    Words count once each, longer ones more, and by their beginnings: what inflection adds is at the end.
    """
    text = text[:SEARCHED_CHARS].strip()
    if len(text) <= chars:
        return text
    begins = {word[: max(STEM_CHARS, len(word) - 3)].lower() for word in words if word}
    pieces = [found.group() for found in _PIECE.finditer(text) if found.group()]
    best, best_score, start = (0, 1), -1, 0
    for end in range(1, len(pieces) + 1):
        while end - start > 1 and sum(map(len, pieces[start:end])) > chars:
            start += 1
        found = _found("".join(pieces[start:end])[:chars], begins)
        if found > best_score:
            best, best_score = (start, end), found
    return clipped("".join(pieces[best[0] : best[1]]).strip(), chars)


def _found(text: str, begins: set[str]) -> int:
    """Return the characters of all beginnings of words that are in a text."""
    words = {word.lower() for word in _WORD.findall(text)}
    return sum(len(begin) for begin in begins if any(word.startswith(begin) for word in words))


def clipped(text: str, chars: int) -> str:
    """Return a text cut to `chars` characters, the last one then an ellipsis."""
    return text if len(text) <= chars else text[: chars - 1].rstrip() + "…"
