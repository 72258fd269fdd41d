"""Greedy ordering of text lines by how many new words each adds for its tokens."""

from __future__ import annotations

import heapq
import re
from typing import TYPE_CHECKING

from reverie import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["content_words", "line_weight", "order_by_novelty"]

_AGAIN = 0.7  # worth of a word each time it was said before

_FULLNESS = ((4, 0.4), (8, 0.7), (15, 1.0))  # worth of the words on a line with fewer than these: it says half a thing
_FULL = 1.2  # and of those on any longer one

_WORD = re.compile(r"[a-z][a-z_]{4,}")
_ENDING = re.compile(r"(?:ing|ed|es|s)$")


def content_words(text: str) -> tuple[str, ...]:
    """Return the distinct words of a line that carry meaning (five letters or more), without their endings."""
    return tuple(dict.fromkeys(_ENDING.sub("", word) for word in _WORD.findall(text.lower())))


def line_weight(words: int) -> float:
    """Return the weight of each word on a line of `words` words: short lines are fragments and weigh less."""
    return next((share for fewer, share in _FULLNESS if words < fewer), _FULL)


def order_by_novelty(lines: Sequence[str]) -> list[int]:
    """Return the positions of `lines`, the line with most new words per token first; ties keep their order.

    Greedy and lazy: the worth of a line only shrinks, so it is weighed again when it comes up.
    """
    said: dict[str, int] = {}
    words = [content_words(line) for line in lines]
    costs = tokens.count_many([f"- {line}\n" for line in lines])

    def value(position: int) -> float:
        found = words[position]
        return line_weight(len(found)) * sum(_AGAIN ** said.get(word, 0) for word in found) / costs[position]

    heap = [(-value(position), position) for position in range(len(lines))]
    heapq.heapify(heap)
    ordered = []
    while heap:
        _, position = heapq.heappop(heap)
        now = -value(position)
        if heap and (now, position) > heap[0]:
            heapq.heappush(heap, (now, position))
            continue
        ordered.append(position)
        for word in words[position]:
            said[word] = said.get(word, 0) + 1
    return ordered
