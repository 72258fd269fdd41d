"""Passages of the distilled part, kept word for word: the best that fit, shown in the order they were said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie import tokens
from reverie.context.cost import BLOCK
from reverie.context.tiers import Tier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Passage

__all__ = ["HEADING", "demand", "pack"]

HEADING: Final = "## Excerpts (verbatim, oldest first)"


def demand(passages: Sequence[Passage]) -> int:
    """Tokens that all passages would take as one block."""
    return _frame() + sum(passage.tokens + 1 for passage in passages) if passages else 0


def pack(passages: Sequence[Passage], room: int) -> Tier:
    """The passages of best rank within `room` tokens, by their own counts; one that does not fit lets smaller ones in.

    Pieces of neighbouring entries stand together, an empty line marks a gap.
    """
    left = room - _frame()
    kept: list[Passage] = []
    lost = count = 0
    for passage in sorted(passages, key=lambda each: (each.rank, each.seq)):
        cost = passage.tokens + 1
        if cost <= left and passage.text.strip():
            kept.append(passage)
            left -= cost
        else:
            lost += passage.tokens
            count += 1
    dropped = [{"tier": "excerpts", "count": count, "tokens": lost}] if count else []
    return Tier("excerpts", (_shown(kept),) if kept else (), dropped)


def _frame() -> int:
    return BLOCK + tokens.count(HEADING) + 1


def _shown(kept: list[Passage]) -> str:
    out = [HEADING]
    before: int | None = None
    for passage in sorted(kept, key=lambda each: (each.seq, each.rank)):
        if before is not None and passage.seq - before > 1:
            out.append("")
        out.append(passage.text)
        before = passage.seq
    return "\n".join(out)
