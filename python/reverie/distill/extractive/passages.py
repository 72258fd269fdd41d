"""Ranks the lines of the distilled part by what the work is likely to need next, for the excerpts tier."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reverie import tokens
from reverie.distill.extractive.lines import Line, Source
from reverie.distill.extractive.names import names, word_count
from reverie.distill.extractive.prose import sentences
from reverie.models import Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.distill.extractive.trace import Said

__all__ = ["rank"]

_MAX_NAMES = 4  # a line with more names than this explains none of them
_MIN_WORDS = 3  # and one with fewer words neither
_TALK = 0.12  # worth of a full line of recent talk, names aside, in the same measure as a name's chance
_REPEAT = 0.2  # worth of a name's next line, once it stands in one
_REQUESTS = 6  # of the person's last messages are kept word for word
_REQUEST_LENGTH = 640  # characters of each
_UNCLEAR = 0.2  # share of the worth of names on a line that explains none of them
_HEADING_COST = 6  # tokens, about, that the heading of a new origin takes
_HORIZON = 10  # recency halves ten times: about a million characters back nothing is recent


@dataclass(slots=True)
class _Use:
    """How a name was used: how often, how often in tool inputs, and how far back last, by source."""

    count: int = 0
    asked: int = 0
    last: dict[Source, int] = field(default_factory=dict)
    last_any: int = 0


def rank(
    found: Sequence[Line],
    *,
    asked: Sequence[Said],
    stays: Sequence[str],
    tail_from_seq: int,
    budget: int,
) -> tuple[Passage, ...]:
    """Passages of `found` within `budget` tokens, the one to keep first at rank 0.

    What the person asked last comes first, in their own words (`asked`, oldest first). The rest is greedy by worth
    for each token, where a line is worth what the names on it are, and a name that already stands in a line (or in
    `stays`, the texts that are in context anyhow) is worth little more. Lines from `tail_from_seq` on only count as
    context that stays.
    """
    worth = _worths(found)
    seen: dict[str, int] = {}
    words = [line for line in _in_own_words(asked) if line.seq < tail_from_seq]
    for text in (*stays, *(line.text for line in words)):
        for piece in text.split("\n"):
            _cover(piece, seen)
    oldest = words[-1].seq if words else tail_from_seq
    summarised = "\n".join(stays)
    pool: dict[str, Line] = {}
    for line in found:
        if line.seq >= tail_from_seq:
            _cover(line.text, seen)
            pool.pop(line.text, None)
        elif line.source is Source.AGENT and _is_in(line.text, summarised):
            continue
        elif line.source is not Source.USER or line.seq < oldest:
            pool[line.text] = line
    costs = tokens.count_many([line.text + "\n" for line in words])
    kept = []
    for line, cost in zip(words, costs, strict=True):
        if cost <= budget:
            kept.append((line, cost))
            budget -= cost
    kept += _greedy(list(pool.values()), worth, seen, budget)
    return tuple(
        Passage(text=line.text, seq=line.seq, rank=rank, tokens=cost, origin=line.origin, place=line.order)
        for rank, (line, cost) in enumerate(kept)
    )


def _is_in(text: str, summarised: str) -> bool:
    """Whether everything that a line of talk says stands in the summary already."""
    said = sentences(text)
    return bool(said) and all(sentence in summarised for sentence in said)


def _in_own_words(asked: Sequence[Said]) -> list[Line]:
    """The last things that the person said, newest first, each as one piece."""
    return [Line(_shortened(said.text), "The user", Source.USER, said.seq, 0) for said in reversed(asked[-_REQUESTS:])]


def _shortened(text: str) -> str:
    if len(text) <= _REQUEST_LENGTH:
        return text
    cut = text[:_REQUEST_LENGTH]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut else cut} […]"


def _cover(text: str, seen: dict[str, int]) -> None:
    found = names(text)
    if len(found) <= _MAX_NAMES:
        for name in found:
            seen[name] = seen.get(name, 0) + 1


def _worths(found: Sequence[Line]) -> dict[str, float]:
    """The chance, roughly, that the work will use each name again."""
    uses: dict[str, _Use] = {}
    at = 0
    for line in found:
        at += len(line.text) + 1
        for name in names(line.text):
            use = uses.setdefault(name, _Use())
            use.count += 1
            use.asked += line.source is Source.INPUT
            use.last[line.source] = use.last_any = at
    return {name: _worth(name, use, at) for name, use in uses.items()}


def _worth(name: str, use: _Use, end: int) -> float:
    def recent(source: Source) -> float:
        at = use.last.get(source)
        return 0.0 if at is None else _recency(end - at)

    log_odds = (
        -5.0
        + 0.2 * math.log2(1 + use.count)
        + 0.6 * math.log2(1 + use.asked)
        + 2.6 * _recency(end - use.last_any)
        + 1.9 * recent(Source.EDIT)
        + 1.1 * recent(Source.INPUT)
        + 1.1 * recent(Source.AGENT)
        + (0.6 if "/" in name or "." in name else 0.3)
    )
    return 1 / (1 + math.exp(-log_odds))


def _recency(back: int) -> float:
    return 1 - min(_HORIZON, math.log2(1 + back / 1000)) / _HORIZON


def _telling(line: Line, end: int) -> float:
    """What a line of talk is worth beside its names: it says what was found, decided and done."""
    if line.source not in {Source.AGENT, Source.USER}:
        return 0.0
    words = word_count(line.text)
    if words < _MIN_WORDS:
        return 0.0
    return _TALK * min(1.0, words / 8) * (0.4 + 0.6 * line.order / end)


def _greedy(pool: list[Line], worth: dict[str, float], seen: dict[str, int], budget: int) -> list[tuple[Line, int]]:
    """Lines by worth for each token. A line whose origin is shown already comes cheaper: it needs no heading."""
    costs = tokens.count_many([line.text + "\n" for line in pool])
    named = [names(line.text) for line in pool]
    clear = [_explains(line.text, found) for line, found in zip(pool, named, strict=True)]
    end = max((line.order for line in pool), default=0)
    telling = [_telling(line, end) for line in pool]
    opened: set[str] = set()
    taken: set[int] = set()
    by_origin: dict[str, list[int]] = {}
    for index, line in enumerate(pool):
        by_origin.setdefault(line.origin, []).append(index)

    def value(index: int) -> float:
        gain = sum(worth[name] * _REPEAT ** seen.get(name, 0) for name in named[index])
        cost = costs[index] + (1 if pool[index].origin in opened else _HEADING_COST)
        return (gain * (1 if clear[index] else _UNCLEAR) + telling[index]) / cost

    heap = [(-value(index), index) for index in range(len(pool)) if named[index] or telling[index]]
    heapq.heapify(heap)
    kept: list[tuple[Line, int]] = []
    while heap and budget > 0:
        _, index = heapq.heappop(heap)
        if index in taken:
            continue
        now = -value(index)
        if heap and now > heap[0][0]:
            heapq.heappush(heap, (now, index))
            continue
        if costs[index] > budget:
            continue
        line = pool[index]
        budget -= costs[index]
        taken.add(index)
        kept.append((line, costs[index]))
        if clear[index]:
            for name in named[index]:
                seen[name] = seen.get(name, 0) + 1
        if line.origin not in opened:
            opened.add(line.origin)
            for other in by_origin[line.origin]:
                if other not in taken and (named[other] or telling[other]):
                    heapq.heappush(heap, (-value(other), other))
    return kept


def _explains(text: str, found: Sequence[str]) -> bool:
    """Whether a line says something about the names on it: few names, and enough words."""
    return 0 < len(found) <= _MAX_NAMES and word_count(text) >= _MIN_WORDS
