"""A time as a transcript writes it, in the one form that this project uses."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reverie.models import Json

__all__ = ["utc"]

_FORM: Final = re.compile(r"\d{4}-(?:0\d|1[0-2])-(?:[0-2]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z", re.ASCII)
_RFC3339: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


def utc(given: Json) -> str | None:
    """RFC 3339 in UTC with milliseconds (cut, not rounded), or None for what is not an RFC 3339 time."""
    if not isinstance(given, str):
        return None
    # The days 29 to 31 are the only ones that can be wrong in the usual form.
    if _FORM.fullmatch(given) and given[8:10] < "29":
        return given
    if not _RFC3339.fullmatch(given):
        return None
    try:
        moment = datetime.fromisoformat(given.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
