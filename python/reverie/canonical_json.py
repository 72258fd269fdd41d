"""Canonical JSON (RFC 8785), its SHA-256, and strict validation of JSON text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import _native

if TYPE_CHECKING:
    from reverie.models import Json


def canonical(value: Json | bytes) -> bytes:
    """Return the canonical form of a value, or of the JSON text in `bytes`.

    Raises ValidationError for what could only be rounded or guessed: `details["reason"]` is duplicate_key,
    number_out_of_range (NaN, infinities, integers beyond 2^53-1), lone_surrogate, too_deep (128), unsupported,
    malformed or encoding; the position is `details["offset"]` in bytes, or `details["path"]` such as `$.a[3]`
    for a Python value.
    A float from 2^53 to 10^21 is written as ECMAScript does, without exponent, and rejected when read again.
    """
    return _native.canonical(value)


def sha256(value: Json | bytes) -> str:
    """Return the SHA-256 of the canonical form in lower-case hexadecimal. Raises as `canonical` does."""
    return _native.sha256_canonical(value)


def check_json(data: bytes) -> None:
    """Raise ValidationError unless `data` is one JSON value by RFC 8259 that no two readers understand differently.

    `details["reason"]` is malformed, duplicate_key, number_out_of_range (beyond 64 bits or a
    double), lone_surrogate, too_deep (128) or encoding (a byte order mark, UTF-16, invalid UTF-8), and
    `details["offset"]` is the first invalid byte.
    """
    _native.check_json(data)
