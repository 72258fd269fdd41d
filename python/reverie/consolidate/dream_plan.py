"""The memories of one dream: all that are new, or the oldest of them that a token budget can hold.

A backlog can be larger than any budget: 1,501 memories need 184,655 tokens where a dream may use 100,000. A dream that
insisted on all of them would fail every night, so it takes the oldest ones and leaves the rest to the next dreams.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from reverie.consolidate.dream_archive import counted_sources, distilled, fitted
from reverie.errors import TokenBudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.consolidate.dream_archive import Archive, DreamPlan, Source
    from reverie.models import Memory

__all__ = ["BATCH_MIN", "DreamBatch", "plan_oldest"]

# Memories that a dream takes at least. With fewer a backlog shrinks slower than it grows: an import of one long
# session brings about that many in a day.
BATCH_MIN = 20


class DreamBatch(NamedTuple):
    """The plan of a dream about the oldest memories, the ids it takes, and the ids of oversized memories.

    `taken` and `oversized` are ids in the order of the memories. An oversized memory needs more than the largest budget
    by itself; it is passed over. `plan` is None where there are no memories.
    """

    plan: DreamPlan | None
    taken: tuple[str, ...] = ()
    oversized: tuple[str, ...] = ()


def plan_oldest(memories: Sequence[Memory], *, budget: int, maximum: int, redact: Callable[[str], str]) -> DreamBatch:
    """Return the plan of a dream about all `memories` (oldest first), or about the oldest ones that fit `budget`.

    All are taken where reading them leaves room for the shortest archive. Otherwise as many are taken as fit together
    with their place in the archive, so that a batch is not read in vain; at least `BATCH_MIN`, even if the archive
    then has to leave some out. `maximum` is the largest budget that a caller may give.

    Raises TokenBudgetExceeded where `budget` cannot hold the least batch. `minimum_required` is at most `maximum` and
    works when it is given; only where every memory is oversized it is what the maximum would have to be.
    """
    if not memories:
        return DreamBatch(None)
    sources, sizes, oversized, complete = _usable(memories, budget, maximum, redact)
    if not sources:
        _refuse_oversized(oversized, maximum)
    reading = [0, *accumulate(sizes)]

    @cache
    def archive(number: int) -> Archive:
        return distilled(sources[:number], budget=budget, redact=redact)

    def least(number: int) -> int:
        return reading[number] + archive(number).tokens(0)

    def whole(number: int) -> int:
        return reading[number] + archive(number).tokens(len(archive(number).memories))

    number = len(sources)
    if not complete or reading[number] > budget or least(number) > budget:
        number = _batch_size(reading, least, whole, budget=budget, maximum=maximum)
    return DreamBatch(
        fitted(archive(number), reading[number]),
        tuple(source.id for source in sources[:number]),
        tuple(name for name, _ in oversized),
    )


def _usable(
    memories: Sequence[Memory], budget: int, maximum: int, redact: Callable[[str], str]
) -> tuple[list[Source], list[int], list[tuple[str, int]], bool]:
    """Return sources, the tokens of each, oversized memories, and True if all memories were looked at.

    Reading ends where neither the budget nor the least batch can hold more: of a million memories that wait, a few
    thousand are looked at. An oversized memory is returned by its id with the budget that it needs.
    """
    sources: list[Source] = []
    sizes: list[int] = []
    oversized: list[tuple[str, int]] = []
    total = 0
    for source, size in counted_sources(memories, redact):
        if total > maximum or (total > budget and len(sources) >= BATCH_MIN):
            return sources, sizes, oversized, False
        if size > maximum // 2:  # the archive of one memory is shorter than its text
            alone = size + distilled([source], budget=maximum, redact=redact).tokens(0)
            if alone > maximum:
                oversized.append((source.id, alone))
                continue
        sources.append(source)
        sizes.append(size)
        total += size
    return sources, sizes, oversized, True


def _batch_size(
    reading: Sequence[int],
    least: Callable[[int], int],
    whole: Callable[[int], int],
    *,
    budget: int,
    maximum: int,
) -> int:
    """Return how many of the oldest sources a dream takes that cannot take all.

    `reading[n]` are the tokens of reading the first n; with the shortest archive they are `least(n)`, with the whole
    one `whole(n)`. Raises TokenBudgetExceeded.
    """
    floor = min(BATCH_MIN, len(reading) - 1)
    while floor > 1 and least(floor) > maximum:
        floor -= 1
    minimum = least(floor)
    if minimum > budget:
        raise TokenBudgetExceeded(
            f"the oldest {floor} memories cannot be distilled within {budget} tokens; the least is {minimum}",
            budget=budget,
            minimum_required=minimum,
            hint=f"give a budget of {minimum} tokens or more",
        )
    low, high = floor, max(number for number, tokens in enumerate(reading) if tokens <= budget)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if whole(middle) <= budget else (low, middle - 1)
    return low


def _refuse_oversized(oversized: Sequence[tuple[str, int]], maximum: int) -> None:
    """Raise TokenBudgetExceeded for memories of which not one fits the largest budget."""
    name, needed = min(oversized, key=lambda item: item[1])
    raise TokenBudgetExceeded(
        f"{name} alone needs {needed} tokens, and a dream may use {maximum}",
        budget=maximum,
        minimum_required=needed,
        hint=f"shorten the memory, or set dream.maxTokenBudget to {needed} or more",
    )
