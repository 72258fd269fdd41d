"""Makes identifiers: sortable by time where a thing happens, by content where a thing is what it says."""

from __future__ import annotations

import hashlib
import re

from reverie.errors import ValidationError

__all__ = ["content_id", "new_id"]

# Crockford's base32 in lower case: sorts like the number it writes, and no letter reads as a digit.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_CHARS = 10  # 50 bits of milliseconds: until the year 37648
_RANDOM_BYTES_MIN = 5
_CONTENT_CHARS = 26  # 130 bits of the digest
_KIND = re.compile(r"[a-z]+(?:-[a-z]+)*")


def new_id(kind: str, at_ms: int, random: bytes) -> str:
    """`<kind>_<time><random>`: ids of one kind sort by `at_ms` (milliseconds since 1970), then by `random`.

    Raises ValidationError when the kind is not lower-case words joined by `-`, the time is out of range,
    or `random` is shorter than five bytes.
    """
    _check_kind(kind)
    if not 0 <= at_ms < 1 << (5 * _TIME_CHARS):
        raise ValidationError(f"the time {at_ms} ms cannot be part of an id", hint="give milliseconds since 1970")
    if len(random) < _RANDOM_BYTES_MIN:
        raise ValidationError(f"{len(random)} random bytes are too few for an id", hint="give five bytes or more")
    return f"{kind}_{_base32(at_ms, _TIME_CHARS)}{_base32_bytes(random)}"


def content_id(kind: str, data: bytes) -> str:
    """`<kind>_<digest>`: the same bytes have the same id, everywhere and always (SHA-256, 130 bits of it)."""
    _check_kind(kind)
    return f"{kind}_{_base32_bytes(hashlib.sha256(data).digest())[:_CONTENT_CHARS]}"


def _check_kind(kind: str) -> None:
    if _KIND.fullmatch(kind) is None:
        raise ValidationError(f"{kind!r} cannot begin an id", hint="use lower-case words joined by '-'")


def _base32(number: int, width: int) -> str:
    return "".join(_ALPHABET[(number >> (5 * place)) & 31] for place in reversed(range(width)))


def _base32_bytes(data: bytes) -> str:
    width = (len(data) * 8 + 4) // 5
    padding = width * 5 - len(data) * 8
    return _base32(int.from_bytes(data, "big") << padding, width)
