"""Times as the store keeps them: whole milliseconds since 1970, from and to RFC 3339 UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reverie.errors import ValidationError

__all__ = ["from_ms", "to_ms"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def to_ms(at: str) -> int:
    """`2026-11-21T09:30:00.000Z` as milliseconds since 1970. Raises ValidationError."""
    try:
        moment = datetime.fromisoformat(at)
        return (moment - _EPOCH) // _MILLISECOND
    except (TypeError, ValueError) as error:
        raise ValidationError(f"{at!r} is not a time", hint="write times as 2026-11-21T09:30:00.000Z") from error


def from_ms(at_ms: int) -> str:
    """Milliseconds since 1970 as `2026-11-21T09:30:00.000Z`."""
    moment = _EPOCH + at_ms * _MILLISECOND
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
