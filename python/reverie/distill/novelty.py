"""Greedy ordering of text lines by how many new words each adds for its tokens."""

from __future__ import annotations

import heapq
import re
from collections import deque
from typing import TYPE_CHECKING

from reverie import token_counter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def order_by_novelty(lines: Sequence[str]) -> Iterator[int]:
    """Yield the positions of `lines`, the line with most new words per token first; ties keep their order.

    Greedy and lazy: the worth of a line only shrinks, so it is weighed again when it comes up. Of lines with the same
    words, all of which become worth less at once, only the first is weighed.
    """
    said: dict[str, int] = {}
    costs = token_counter.count_many([f"- {line}\n" for line in lines])
    alike: dict[tuple[str, ...], list[int]] = {}
    for position, line in enumerate(lines):
        alike.setdefault(content_words(line), []).append(position)
    queues = {words: deque(sorted(places, key=lambda at: (costs[at], at))) for words, places in alike.items() if words}

    def entry(words: tuple[str, ...]) -> tuple[float, int, tuple[str, ...]]:
        position = queues[words][0]
        worth = line_weight(len(words)) * sum(_AGAIN ** said.get(word, 0) for word in words)
        return -worth / costs[position], position, words

    heap = [entry(words) for words in queues]
    heapq.heapify(heap)
    while heap:
        now = entry(heap[0][2])
        if now > heap[0]:
            heapq.heapreplace(heap, now)
            continue
        words = now[2]
        yield queues[words].popleft()
        for word in words:
            said[word] = said.get(word, 0) + 1
        if queues[words]:
            heapq.heapreplace(heap, entry(words))
        else:
            heapq.heappop(heap)
    yield from alike.get((), ())
