"""Input, limits and result of a context's assembly, and the token ceilings of its tiers for any budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from reverie.models import Dropped, Message, Note, Passage

Placement: TypeAlias = Literal["system", "late"]

AFTER_DISTILLATION: Final = 35_000
"""Tokens of a whole context right after a distillation at a window of 200K or more (seed 001)."""

_OF_WINDOW: Final = AFTER_DISTILLATION / 200_000

SHARES: Final[dict[int, tuple[int, ...]]] = {
    # budget: bootstrap, index, digest, notes, state, recall, summary, tail; tokens. Excerpts take what remains.
    1_000: (90, 60, 30, 60, 120, 40, 200, 400),
    4_000: (500, 150, 60, 240, 260, 160, 350, 300),
    8_000: (1_400, 240, 120, 460, 340, 340, 1_000, 700),
    16_000: (3_200, 460, 230, 920, 420, 690, 1_800, 4_400),
    35_000: (7_000, 1_000, 500, 2_000, 500, 1_500, 5_000, 12_000),
}
"""Ceilings in tokens at five budgets; between two rows they are interpolated, beyond the last they grow with it.

The last row is the table of a 200K window. The rows above it favour what a continuing agent needs most when there is
little room: the state keeps its size longer than the bootstrap texts do, and the tail gives way to excerpts.
"""


@dataclass(frozen=True, slots=True)
class RecallLine:
    """One recalled memory with its origin; `text` has one or more lines and no bullet."""

    text: str
    memory_id: str
    document: str


@dataclass(frozen=True, slots=True)
class Parts:
    """Rendered texts and messages from which a context is assembled.

    `messages` are all messages that follow what is distilled: the preserved tail and what came since.
    `passages` are the excerpts of the distilled part, best rank first wanted. `notes` and `recall` stand in the order
    they are to be kept: newest note first, best memory first. `state` and `summary` are rendered texts;
    a summary `by_model` has up to half of the whole, so that it stands as it was written wherever it can.
    `distilled_at_seq` is the last entry that there was when the distillation took place; it sizes the excerpts once,
    so that a growing thread does not rewrite the prefix that is cached.
    """

    bootstrap: tuple[tuple[str, str], ...] = ()
    index: str | None = None
    digest: str = ""
    notes: tuple[Note, ...] = ()
    state: str = ""
    recall: tuple[RecallLine, ...] = ()
    summary: str | None = None
    by_model: bool = False
    distillation: int = 0
    passages: tuple[Passage, ...] = ()
    messages: tuple[Message, ...] = ()
    model: str | None = None
    placement: Placement | None = None
    distilled_at_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Token limits of a context, in o200k_base tokens.

    `window` is the model's. `max_tokens` is the hard bound of the whole context; without one `fill`
    of the window is the bound, which leaves room for the reply, and the ceilings are those of a 200K window. The
    tail's own bounds (seed 001, tier 3) say where a distillation cuts; `trigger`, `clear_at_least`, `keep_tool_uses`
    and `keep_thinking_turns` are the values of seed 001, tier 4, as fractions of the window.
    """

    window: int = 200_000
    max_tokens: int | None = None
    preserve_messages: int = 10
    preserve_tokens: int = 12_000
    trigger: float = 0.60
    clear_at_least: float = 0.10
    keep_tool_uses: int = 8
    keep_thinking_turns: int = 2
    fill: float = 0.90


@dataclass(frozen=True, slots=True)
class Context:
    """An assembled request fragment with its token counts.

    `request` holds exactly `system`, `messages`, `context_management` and `betas`. `tokens` has one number for each
    tier, their `total`, and the `tokenizer`'s name. `dropped` lists what found no room, each with its `tier`. `texts`
    are the texts of every tier but the tail, by the names of `tokens`.
    """

    request: dict[str, Any]
    tokens: dict[str, Any]
    distillation: int = 0
    dropped: list[Dropped] = field(default_factory=list)
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)


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
