"""Says how full a memory is, and so how hard consolidation may cut (seed 003, capacity tiers)."""

from __future__ import annotations

from reverie.models import Tier

__all__ = ["WINDOW_TOKENS", "tier"]

WINDOW_TOKENS = 1_000_000
_SELECTIVE_FROM = 0.30
_HEAVY_CUT_FROM = 0.50


def tier(json_tokens: int | None, window: int | None = WINDOW_TOKENS) -> Tier:
    """The tier of a memory whose `memory/long-term-memory.json` has `json_tokens` tokens in a window of `window`.

    A share that cannot be computed (None, a negative count, a window that is not positive) is GENEROUS: nothing is
    cut on a guess.
    """
    if json_tokens is None or window is None or json_tokens < 0 or window <= 0:
        return Tier.GENEROUS
    share = json_tokens / window
    if share < _SELECTIVE_FROM:
        return Tier.GENEROUS
    return Tier.SELECTIVE if share < _HEAVY_CUT_FROM else Tier.HEAVY_CUT
