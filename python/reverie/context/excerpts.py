"""Passages of the distilled part, kept word for word: the best that fit, shown in the order they were said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reverie import tokens
from reverie.context.cost import BLOCK
from reverie.context.tiers import Tier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Passage

__all__ = ["HEADING", "demand", "pack"]

HEADING: Final = "## Excerpts (verbatim, oldest first)"

_ROUNDS: Final = 6
"""Packings tried: the sum of the passages' own counts misses the exact count of the joined text by a little."""

_SLACK: Final = 12
"""Tokens that may stay unused."""


def demand(passages: Sequence[Passage]) -> int:
    """Tokens that all passages would take as one block."""
    return _frame() + sum(max(1, passage.tokens) + 1 for passage in passages) if passages else 0


def pack(passages: Sequence[Passage], room: int) -> Tier:
    """The passages of best rank within `room` tokens, by their own counts; one that does not fit lets smaller ones in.

    Pieces of neighbouring entries stand together, an empty line marks a gap.
    """
    ranked = sorted(passages, key=lambda each: (each.rank, each.seq))
    left = room - _frame()
    best = Tier("excerpts", (), _told(passages, ()))
    for _ in range(_ROUNDS):
        kept = _chosen(ranked, left)
        tier = Tier("excerpts", (_shown(kept),) if kept else (), _told(passages, kept))
        if best.cost < tier.cost <= room:
            best = tier
        if len(kept) == len(passages) or 0 <= room - tier.cost < _SLACK:
            break
        left += room - tier.cost
    return best


def _chosen(ranked: Sequence[Passage], left: int) -> list[Passage]:
    kept: list[Passage] = []
    for passage in ranked:
        cost = max(1, passage.tokens)
        if cost <= left and passage.text.strip():
            kept.append(passage)
            left -= cost
    return kept


def _told(passages: Sequence[Passage], kept: Sequence[Passage]) -> list[dict[str, Any]]:
    if len(kept) == len(passages):
        return []
    lost = sum(passage.tokens for passage in passages) - sum(passage.tokens for passage in kept)
    return [{"tier": "excerpts", "count": len(passages) - len(kept), "tokens": lost}]


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
