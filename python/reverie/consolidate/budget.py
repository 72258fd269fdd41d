"""Says how many tokens a dream may use (RFC 0062 section B2, api.md 2.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.errors import ValidationError

if TYPE_CHECKING:
    from reverie.models import Json

__all__ = ["MAX_TOKEN_BUDGET", "validate_budget"]

MAX_TOKEN_BUDGET = 200_000


def validate_budget(value: Json, maximum: int = MAX_TOKEN_BUDGET) -> int:
    """The budget in tokens, input and output together: an integer of at least 1, clamped to `maximum`; None is that.

    Raises ValidationError for anything else: text, fractions and truth values are not read as numbers.
    """
    if value is None:
        return maximum
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValidationError(
            f"{ascii(value)[:40]} is not a token budget",
            hint=f"give a whole number from 1 to {maximum}",
            maximum=maximum,
        )
    return min(value, maximum)
