"""Identifiers: time-sortable ones for events and records, content-derived ones for immutable data."""

from __future__ import annotations

import hashlib

from reverie.errors import ValidationError
from reverie.lazy_regex import lazy_regex

# 80 bits, as in a ULID: two of a million ids of one millisecond are equal with a probability of 4e-13.
ID_RANDOM_BYTES = 10

# Crockford's base32 in lower case: strings sort like their numbers, and no letter looks like a digit.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_CHARS = 10  # 50 bits of milliseconds: until the year 37648
_RANDOM_BYTES_MIN = 5  # 40 bits: two ids of one millisecond collide with a probability of 1e-12
_CONTENT_CHARS = 26  # 130 bits of the digest
_KIND = lazy_regex(r"[a-z]+(?:-[a-z]+)*")


def new_id(kind: str, at_ms: int, random: bytes) -> str:
    """Return `<kind>_<time><random>`: ids of one kind sort by `at_ms` (milliseconds since 1970), then by `random`.

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
    """Return `<kind>_<digest>`: equal bytes always have the same id (130 bits of SHA-256)."""
    _check_kind(kind)
    return f"{kind}_{_base32_bytes(hashlib.sha256(data).digest())[:_CONTENT_CHARS]}"


def of_session(kind: str, client: str, session: str) -> str:
    """Return the id of what the session of a client is imported into: its thread (`thr`) or its import (`imp`).

    Raises ValidationError for a name that is no text, with half of a surrogate pair.
    """
    try:
        name = f"{client}\0{session}".encode()
    except UnicodeEncodeError as error:
        hint = "give a name that can be written as UTF-8"
        raise ValidationError("the name of a session has half of a surrogate pair", hint=hint) from error
    return content_id(kind, name)


def _check_kind(kind: str) -> None:
    """Raise ValidationError unless the kind is lower-case words joined by `-`."""
    if _KIND.fullmatch(kind) is None:
        raise ValidationError(f"{kind!r} cannot begin an id", hint="use lower-case words joined by '-'")


def _base32(number: int, width: int) -> str:
    """Return `number` in `width` base-32 digits."""
    return "".join(_ALPHABET[(number >> (5 * digit)) & 31] for digit in reversed(range(width)))


def _base32_bytes(data: bytes) -> str:
    """Return bytes in base 32, padded with zero bits at the end."""
    width = (len(data) * 8 + 4) // 5
    padding = width * 5 - len(data) * 8
    return _base32(int.from_bytes(data, "big") << padding, width)
