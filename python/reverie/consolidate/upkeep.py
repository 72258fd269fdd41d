"""Shrinks a memory that has become full: merges what is related, drops what is general and never read (seed 003)."""

from __future__ import annotations

import zlib
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from reverie.consolidate.relation import Relation, overlap, relate
from reverie.consolidate.value import is_generic, merge
from reverie.models import Tier

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.consolidate.board import Board, Item
    from reverie.consolidate.relation import Reading

__all__ = ["REDUCTION_MAX", "tidy"]

REDUCTION_MAX = 0.20  # of all memories in one run: a guard against mass deletion, and the upper end of the target
COMPARED_MAX = 10_000  # memories that one run compares with all; of more, those that follow a place drawn by each run
_MERGE_OVERLAP = {Tier.SELECTIVE: 0.5, Tier.HEAVY_CUT: 0.2}
_RARE_WORDS = 4
_SHARED_BY_MAX = 30
_LOW_ACCESS = {Tier.SELECTIVE: 0, Tier.HEAVY_CUT: 1}


def tidy(board: Board, tier: Tier) -> int:
    """Merges and drops items on the board as the tier allows, at most a fifth of them; the number that went.

    GENEROUS leaves everything. Items of a person, and items that this run's candidates wrote, are never dropped. What
    one run changes is bounded: it looks for what is related to `COMPARED_MAX` items, and the runs to come for the rest.
    """
    if tier is Tier.GENEROUS:
        return 0
    looked_at = _looked_at(board)
    room = int(len(looked_at) * REDUCTION_MAX)
    merged = _merge_related(board, looked_at, tier, room)
    return merged + _drop_generic(board, looked_at, tier, room - merged)


def _looked_at(board: Board) -> list[int]:
    """The places of what this run wrote and of what follows a place drawn from that, in their order."""
    alive = [place for place, _ in board.alive()]
    if len(alive) <= COMPARED_MAX:
        return alive
    written = [place for place in alive if board.items[place].touched]
    drawn = zlib.crc32("\n".join(sorted(board.items[place].reading.flat for place in written)).encode()) % len(alive)
    following = islice((*alive[drawn:], *alive[:drawn]), COMPARED_MAX)
    return sorted({*written, *following})


def _merge_related(board: Board, places: Sequence[int], tier: Tier, room: int) -> int:
    gone = 0
    pairs = _pairs(board, places, _MERGE_OVERLAP[tier])
    for _, keeper, victim in sorted(pairs, key=lambda pair: _rank(board, *pair)):
        if gone >= room:
            break
        kept, lost = board.items[keeper], board.items[victim]
        if not (kept.alive and lost.alive) or kept.reading.affirms != lost.reading.affirms:
            continue
        both = _one_of(kept, lost)
        if both is None:
            continue
        board.rewrite(keeper, both)
        kept.tags = tuple(dict.fromkeys((*kept.tags, *lost.tags)))
        lost.alive = False
        gone += 1
    return gone


def _one_of(kept: Item, lost: Item) -> Reading | None:
    """What two related items say as one: the later of two that contradict each other, else both."""
    if relate(lost.reading, kept.reading, keyed=False) is Relation.REPLACES:
        return lost.reading if (lost.said_at or "") > (kept.said_at or "") else kept.reading
    return merge(kept.reading, lost.reading)


def _drop_generic(board: Board, places: Sequence[int], tier: Tier, room: int) -> int:
    unread = [
        (item.memory.access_count, item.reading.flat, place)
        for place, item in ((place, board.items[place]) for place in places)
        if item.alive
        and item.memory is not None
        and _may_go(item)
        and item.memory.access_count <= _LOW_ACCESS[tier]
        and is_generic(item.reading, item.type, item.scope)
    ]
    for _, _, place in sorted(unread)[: max(0, room)]:
        board.items[place].alive = False
    return min(len(unread), max(0, room))


def _pairs(board: Board, places: Sequence[int], least: float) -> Iterator[tuple[float, int, int]]:
    """Related items of one scope, one of each two at `places`, as (overlap, the one to keep, the one to merge into it).

    Each pair comes once.
    """
    sharing: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, item in board.alive():
        if item.memory is not None and not item.fixed:
            for word in item.reading.words:
                sharing[item.scope, word].append(place)
    seen: set[tuple[int, int]] = set()
    for place in places:
        item = board.items[place]
        if item.memory is None or item.fixed:
            continue
        rare = sorted((len(sharing[item.scope, word]), word) for word in item.reading.words)[:_RARE_WORDS]
        for shared_by, word in rare:
            others = sharing[item.scope, word] if shared_by <= _SHARED_BY_MAX else []
            for pair in ((min(place, other), max(place, other)) for other in others if other != place):
                if pair not in seen:
                    seen.add(pair)
                    yield from _worth(board, pair, least)


def _worth(board: Board, pair: tuple[int, int], least: float) -> Iterator[tuple[float, int, int]]:
    score = overlap(board.items[pair[0]].reading, board.items[pair[1]].reading)
    if score < least:
        return
    keeper, victim = sorted(pair, key=lambda place: _standing(board.items[place]))
    if _may_go(board.items[victim]):
        yield score, keeper, victim


def _standing(item: Item) -> tuple[bool, int, str, str]:
    """What this run wrote, then what is read most, then the oldest, stands first."""
    assert item.memory is not None
    return (not item.touched, -item.memory.access_count, item.memory.created_at, item.reading.flat)


def _may_go(item: Item) -> bool:
    return not item.fixed and not item.touched


def _rank(board: Board, score: float, keeper: int, victim: int) -> tuple[float, str, str]:
    return (-score, board.items[keeper].reading.flat, board.items[victim].reading.flat)
