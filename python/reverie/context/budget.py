"""Token ceilings of the tiers for any budget, from one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reverie.context.assembly_values import Limits

__all__ = ["AFTER_DISTILLATION", "SHARES", "TIERS", "Ceilings", "ceilings", "hard_limit", "target"]

AFTER_DISTILLATION: Final = 35_000
"""Tokens of a whole context right after a distillation at a window of 200K or more, tools included (seed 001)."""

_OF_WINDOW: Final = AFTER_DISTILLATION / 200_000

TIERS: Final = ("bootstrap", "index", "digest", "notes", "workingState", "recall", "summary", "tail")

SHARES: Final[dict[int, tuple[int, ...]]] = {
    # budget: bootstrap, index, digest, notes, state, recall, summary, tail; tokens. Excerpts take what remains.
    1_000: (90, 60, 30, 60, 120, 40, 200, 400),
    4_000: (500, 150, 60, 240, 260, 160, 350, 300),
    8_000: (1_400, 240, 120, 460, 340, 340, 1_700, 700),
    16_000: (3_200, 460, 230, 920, 420, 690, 3_000, 4_400),
    35_000: (7_000, 1_000, 500, 2_000, 500, 1_500, 5_000, 12_000),
}
"""Ceilings in tokens at five budgets; between two rows they are interpolated, beyond the last they grow with it.

The last row is the table of a 200K window. The rows above it favour what a continuing agent needs most when there is
little room: the state keeps its size longer than the bootstrap texts do, and the tail gives way to excerpts.
"""


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Maximum tokens of each tier, its framing text included."""

    bootstrap: int
    index: int
    digest: int
    notes: int
    state: int
    recall: int
    summary: int
    tail: int


def target(limits: Limits) -> int:
    """Return the size ceilings are scaled to: `max_tokens`, else 35,000 (less for a window below 200K)."""
    if limits.max_tokens is not None:
        return limits.max_tokens
    return min(AFTER_DISTILLATION, int(limits.window * _OF_WINDOW))


def hard_limit(limits: Limits) -> int:
    """Return the total that is never exceeded: `max_tokens`, else the window less the reply's reserve."""
    if limits.max_tokens is None:
        return int(limits.window * limits.fill)
    return min(limits.max_tokens, limits.window)


def ceilings(limits: Limits) -> Ceilings:
    """Return the ceilings of every tier for these limits."""
    return Ceilings(*_row(target(limits)))


def _row(budget: int) -> tuple[int, ...]:
    marks = sorted(SHARES)
    if budget <= marks[0]:
        return _scaled(marks[0], budget)
    if budget >= marks[-1]:
        return _scaled(marks[-1], budget)
    upper = next(mark for mark in marks if budget <= mark)
    lower = marks[marks.index(upper) - 1]
    part = budget - lower
    return tuple(
        low + (high - low) * part // (upper - lower) for low, high in zip(SHARES[lower], SHARES[upper], strict=True)
    )


def _scaled(mark: int, budget: int) -> tuple[int, ...]:
    return tuple(share * max(0, budget) // mark for share in SHARES[mark])
