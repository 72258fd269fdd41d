"""Capacity: the tier of a memory by its size, and how a full one is shrunk (seed 003, capacity tiers).

The tier says how much of a model's window all memories together would take. From 30 % on, related memories are merged
and generic ones that are never recalled are dropped; from 50 % on, both happen sooner.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from typing import TYPE_CHECKING

from reverie.consolidate.statements import Relation, is_generic, merged, overlap, parse_statement, relate
from reverie.models import Tier

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.consolidate.statements import Statement
    from reverie.consolidate.working_set import Item, WorkingSet

WINDOW_TOKENS = 1_000_000  # of the models that all memories are meant to fit into
_SELECTIVE_FROM = 0.30  # shares of the window, from seed 003
_HEAVY_CUT_FROM = 0.50

# Share of memories that one run removes at most: the upper end of seed 003's target, and a guard against mass deletion.
REDUCTION_MAX = 0.20
COMPARED_MAX = 10_000  # memories that one run compares with all others; reading so many takes about a second
# Overlap (0 to 1) from which two related memories become one. "Redis cache on port 6380" and "Redis cache listens on
# port 6379 locally" have 0.43: two memories in SELECTIVE, one in HEAVY_CUT.
_MERGE_OVERLAP = {Tier.SELECTIVE: 0.5, Tier.HEAVY_CUT: 0.2}
_RARE_WORDS = 4  # of a memory: its rarest words, by which similar memories are looked up
_SHARED_BY_MAX = 30  # memories; a word that more of them have does not say that two are about the same thing
_LOW_ACCESS = {Tier.SELECTIVE: 0, Tier.HEAVY_CUT: 1}  # recalls; a generic memory with more is used after all


def tier(json_tokens: int | None, window: int | None = WINDOW_TOKENS) -> Tier:
    """Return the tier of memories whose `long-term-memory.json` has `json_tokens` in a window of `window` tokens.

    A share that cannot be computed (None, a negative count, a window that is not positive) is GENEROUS: nothing is
    removed on a guess.
    """
    if json_tokens is None or window is None or json_tokens < 0 or window <= 0:
        return Tier.GENEROUS
    share = json_tokens / window
    if share < _SELECTIVE_FROM:
        return Tier.GENEROUS
    return Tier.SELECTIVE if share < _HEAVY_CUT_FROM else Tier.HEAVY_CUT


def similarity_to_merge(one: str, other: str, tier: Tier) -> float:
    """Return how similar two contents of one scope are (0 to 1), or 0 where the tier would not merge them."""
    score = overlap(parse_statement(one), parse_statement(other))
    return score if tier is not Tier.GENEROUS and score >= _MERGE_OVERLAP[tier] else 0.0


def shrink(working: WorkingSet, tier: Tier) -> None:
    """Merge and drop items as the tier allows, at most a fifth of them; GENEROUS leaves everything.

    Items of a person, and those that this run's candidates wrote or were compared with, stay as they are: the same
    candidates must find them again. One run compares `COMPARED_MAX` items with all others, later runs the rest.
    """
    if tier is Tier.GENEROUS:
        return
    positions = _compared(working)
    room = int(len(positions) * REDUCTION_MAX)
    _drop_generic(working, positions, tier, room - _merge_related(working, positions, tier, room))


def _compared(working: WorkingSet) -> list[int]:
    """Return positions of the items to compare: all, or a part of them if they are too many.

    Where that part begins is a checksum of what was written, not a random number: the same arguments give the same
    decision, and another run another part.
    """
    alive = [position for position, _ in working.alive()]
    texts = sorted(item.statement.normalized for item in working.items if item.is_touched)
    begin = zlib.crc32("\n".join(texts).encode()) % len(alive) if len(alive) > COMPARED_MAX else 0
    return sorted((*alive[begin:], *alive[:begin])[:COMPARED_MAX])


def _merge_related(working: WorkingSet, positions: Sequence[int], tier: Tier, room: int) -> int:
    """Merge at most `room` pairs of related items, the most similar first; return how many items were removed."""
    removed = 0

    def order(pair: tuple[float, int, int]) -> tuple[float, str, str]:  # by texts: positions do not matter
        score, keeper, victim = pair
        return -score, working.items[keeper].statement.normalized, working.items[victim].statement.normalized

    for _, keeper, victim in sorted(_pairs(working, positions, _MERGE_OVERLAP[tier]), key=order):
        if removed >= room:
            break
        kept, dropped = working.items[keeper], working.items[victim]
        # An earlier merge may have dropped one of the two, or given it words that deny.
        if not (kept.is_alive and dropped.is_alive) or kept.statement.affirms != dropped.statement.affirms:
            continue
        both = _both(kept, dropped)
        if both is None:
            continue
        working.rewrite(keeper, both)
        kept.tags = tuple(dict.fromkeys((*kept.tags, *dropped.tags)))
        dropped.is_alive = False
        removed += 1
    return removed


def _both(kept: Item, dropped: Item) -> Statement | None:
    """Return one statement for two: the later of two values, else both; None if they exclude each other, or too long.

    Example: "the build takes 4 minutes" (May) and "the build takes 9 minutes" (June) become the second.
    """
    relation = relate(dropped.statement, kept.statement, keyed=False)
    if relation is Relation.REPLACES:
        return dropped.statement if dropped.stated_at > kept.stated_at else kept.statement
    return None if relation is Relation.CONTRADICTS else merged(kept.statement, dropped.statement)


def _drop_generic(working: WorkingSet, positions: Sequence[int], tier: Tier, room: int) -> None:
    unread = [
        (item.memory.access_count, item.statement.normalized, position)
        for position, item in ((position, working.items[position]) for position in positions)
        if item.is_alive
        and item.memory is not None
        and _may_change(item)
        and item.memory.access_count <= _LOW_ACCESS[tier]
        and is_generic(item.statement, item.scope)
    ]
    for _, _, position in sorted(unread)[: max(0, room)]:
        working.items[position].is_alive = False


def _pairs(working: WorkingSet, positions: Sequence[int], overlap_min: float) -> Iterator[tuple[float, int, int]]:
    """Yield each pair of related memories of one scope once: overlap, position to keep, position to merge into it.

    One of each pair is at `positions`. Comparing all with all would be quadratic, so only memories that share one of
    the rarest words of the other are compared: two that are similar share such a word, or nothing but common ones.
    """

    def order(position: int) -> tuple[int, str, str]:  # the most recalled is kept, then the oldest
        item = working.items[position]
        assert item.memory is not None
        return -item.memory.access_count, item.memory.created_at, item.statement.normalized

    sharing: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, item in working.alive():
        if _may_change(item):
            for word in item.statement.words:
                sharing[item.scope, word].append(position)
    compared: set[tuple[int, int]] = set()
    for position in positions:
        item = working.items[position]
        if not _may_change(item):
            continue
        rarest = sorted((len(sharing[item.scope, word]), word) for word in item.statement.words)[:_RARE_WORDS]
        for shared_by, word in rarest:
            others = sharing[item.scope, word] if shared_by <= _SHARED_BY_MAX else []
            for pair in ((min(position, other), max(position, other)) for other in others if other != position):
                if pair not in compared:
                    compared.add(pair)
                    score = overlap(working.items[pair[0]].statement, working.items[pair[1]].statement)
                    if score >= overlap_min:
                        keeper, victim = sorted(pair, key=order)
                        yield score, keeper, victim


def _may_change(item: Item) -> bool:
    return item.memory is not None and not item.is_persons and not item.is_touched
