"""The bytes of values and records: redacted and sealed with a checksum, then bound to a key with a second one.

`seal` is the only way to make a `Sealed`, and the store writes nothing else: so nothing reaches the disk that has not
passed through the redactor. FORMAT.md section 2 draws the bytes.

There are two checksums because a value may be sealed before its key is known, in another process. `encode_record`
then covers key, operation, time and the seal: a record that turns up under another key, or with another number, fails.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import orjson

from reverie.errors import Damaged, ValidationError
from reverie.store.keys import record_name

if TYPE_CHECKING:
    from reverie.models import Json

__all__ = [
    "HASH_BYTES",
    "IN_BLOB",
    "TOMBSTONE",
    "RawRecord",
    "Redactor",
    "Sealed",
    "blob_reference",
    "decode_record",
    "encode_record",
    "fast_body",
    "from_ms",
    "open_sealed",
    "record_body",
    "record_json",
    "seal",
    "seal_own",
    "sealed_body",
    "to_ms",
    "tombstone",
    "verified_sealed",
]

HASH_BYTES = 16  # the beginning of a SHA-256: chance damage passes once in 2^128
VERSION = 1  # of the sealed form
INLINE, IN_BLOB, TOMBSTONE = 0, 1, 2  # the body is JSON, the address and size of a blob, or empty: a deletion
_BODY = HASH_BYTES + 2  # offset of the body in sealed bytes
_FIXED = HASH_BYTES + 16  # offset of the sealed bytes in a record, after checksum, operation and time
_HEAD = _FIXED + HASH_BYTES  # offset of the sealed form's version in a record: what the record's checksum covers ends
_INLINE_HEAD = bytes((VERSION, INLINE))

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Redactor(Protocol):
    """Replaces secrets in JSON; `reverie.redact.Redactor` is the one used outside tests."""

    def value(self, value: Json, /) -> tuple[Json, int]:
        """Return the value without its secrets, and how many spans were replaced."""
        ...


class Sealed:
    """A redacted value as bytes: 16 bytes of SHA-256 over the rest, version, form, body. Made only by this module."""

    __slots__ = ("data", "redacted")

    data: bytes
    redacted: int  # how many spans the redactor replaced

    def __init__(self, data: bytes, redacted: int, *, maker: object) -> None:
        if maker is not _MAKER:
            raise TypeError("a Sealed is made by codec.seal, so that nothing is written unredacted")
        self.data = data
        self.redacted = redacted

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as bytes, whose checksum is verified when they are unpickled."""
        return verified_sealed, (self.data, self.redacted)

    @property
    def body(self) -> bytes:
        """The body: JSON text, except in a blob reference or tombstone."""
        return self.data[_BODY:]

    @property
    def form(self) -> int:
        """INLINE, IN_BLOB or TOMBSTONE."""
        return self.data[_BODY - 1]

    def json(self) -> dict[str, Any]:
        """Return the redacted JSON object."""
        value: dict[str, Any] = orjson.loads(self.body)
        return value

    @property
    def address(self) -> str:
        """The content address in hex: equal for equal bodies."""
        return self.data[:HASH_BYTES].hex()


_MAKER = object()


def seal(value: Json, redactor: Redactor) -> Sealed:
    """Return `value` redacted throughout and sealed. Raises ValidationError for what JSON cannot hold.

    Pure, so that it can be done in another process than the one that writes.
    """
    clean, redacted = redactor.value(value)
    try:
        body = orjson.dumps(clean)
    except orjson.JSONEncodeError as error:
        raise ValidationError(f"a value cannot be stored as JSON: {error}", hint="send plain JSON") from error
    return _sealed(INLINE, body, redacted)


def seal_own(value: dict[str, int | str]) -> Sealed:
    """Return numbers and checksums of the store itself sealed, without redaction: no caller's text is in them."""
    return _sealed(INLINE, orjson.dumps(value))


def _sealed(form: int, body: bytes, redacted: int = 0) -> Sealed:
    """Return a body with its version, form and checksum before it."""
    inner = bytes((VERSION, form)) + body
    return Sealed(sha256(inner).digest()[:HASH_BYTES] + inner, redacted, maker=_MAKER)


def blob_reference(sealed: Sealed) -> Sealed:
    """Return the sealed form of a record whose body is in a blob: the body's address and its length."""
    return _sealed(IN_BLOB, sealed.data[:HASH_BYTES] + len(sealed.body).to_bytes(8, "big"), sealed.redacted)


def tombstone() -> Sealed:
    """Return the sealed form that a record's history has for the operation that deleted it."""
    return _sealed(TOMBSTONE, b"")


def verified_sealed(data: bytes, redacted: int = 0) -> Sealed:
    """Return a value that another process sealed, its checksum verified. Raises Damaged."""
    _verify(data)
    return Sealed(data, redacted, maker=_MAKER)


def open_sealed(data: bytes) -> dict[str, Any]:
    """Return the JSON object inside sealed bytes. Raises Damaged where the bytes are not those that were sealed."""
    value: dict[str, Any] = orjson.loads(sealed_body(data))
    return value


def sealed_body(data: bytes) -> bytes:
    """Return the JSON text inside sealed bytes. Raises Damaged where the bytes are not those that were sealed."""
    _verify(data)
    if data[_BODY - 1] != INLINE:
        raise Damaged("the body is not in its record", hint="run `reverie check`")
    return data[_BODY:]


def _verify(data: bytes) -> None:
    """Raise Damaged where the checksum of sealed bytes does not fit, or their version is not known."""
    if sha256(data[HASH_BYTES:]).digest()[:HASH_BYTES] != data[:HASH_BYTES] or len(data) < _BODY:
        raise Damaged("the checksum does not fit the sealed bytes", hint="run `reverie check`")
    if data[HASH_BYTES] != VERSION:
        raise Damaged(
            f"the bytes are sealed in form {data[HASH_BYTES]}, this version reads {VERSION}",
            hint="use a newer version of reverie",
        )


class RawRecord(NamedTuple):
    """A record as bytes: its checksum, the operation that wrote it, when, and the sealed value."""

    checksum: bytes  # over key, operation, time and the seal's checksum
    operation: int  # 0 for kinds that no operation writes
    at_ms: int  # since 1970, UTC
    data: bytes  # sealed

    @property
    def form(self) -> int:
        """INLINE, IN_BLOB or TOMBSTONE."""
        return self.data[_BODY - 1]

    @property
    def address(self) -> str:
        """The content address of the body, wherever it is: for a blob reference, the blob's."""
        start = _BODY if self.form == IN_BLOB else 0
        return self.data[start : start + HASH_BYTES].hex()


def encode_record(key: bytes, operation: int, at_ms: int, data: bytes) -> bytes:
    """Return the bytes to store under `key`: a checksum over key, operation, time and seal, then these themselves.

    The body is covered through the seal's own checksum, so binding a long value to its key costs no second pass.
    """
    fixed = operation.to_bytes(8, "big") + at_ms.to_bytes(8, "big")
    return sha256(key + fixed + data[:HASH_BYTES]).digest()[:HASH_BYTES] + fixed + data


def decode_record(key: bytes, record: bytes) -> RawRecord:
    """Return the parts of the record under `key`, its checksum verified; `record_body` verifies the body.

    Raises Damaged naming the record.
    """
    checksum = record[:HASH_BYTES]
    if sha256(key + record[HASH_BYTES:_HEAD]).digest()[:HASH_BYTES] != checksum or len(record) < _FIXED + _BODY:
        raise Damaged(
            f"{record_name(key)} is damaged: its checksum does not fit its bytes and key",
            hint="run `reverie check`",
            record=record_name(key),
        )
    if record[_HEAD + 1] != INLINE:
        # The body of a blob reference or tombstone is used without being opened as JSON, so no later step
        # would verify it.
        _verify_named(key, record[_FIXED:])
    return RawRecord(
        checksum, int.from_bytes(record[16:24], "big"), int.from_bytes(record[24:_FIXED], "big"), record[_FIXED:]
    )


def record_body(key: bytes, record: RawRecord) -> bytes:
    """Return the verified JSON text of a record that is not in a blob. Raises Damaged naming the record."""
    _verify_named(key, record.data)
    if record.form != INLINE:
        raise Damaged("the body is not in its record", hint="run `reverie check`")
    return record.data[_BODY:]


def record_json(key: bytes, record: RawRecord) -> dict[str, Any]:
    """Return the JSON object of a record that is not in a blob. Raises Damaged naming the record."""
    value: dict[str, Any] = orjson.loads(record_body(key, record))
    return value


def _verify_named(key: bytes, data: bytes) -> None:
    """Verify sealed bytes. Raises Damaged naming the record under `key`."""
    try:
        _verify(data)
    except Damaged as error:
        raise Damaged(
            f"{record_name(key)} is damaged: {error.message}", hint=error.hint, record=record_name(key)
        ) from error


def fast_body(key: bytes, record: bytes) -> bytes | None:
    """Return the JSON text in the bytes under `key`, verified in one go; None where something is out of the ordinary.

    The fast path of every read, without the objects that the general way makes. On None, `decode_record` and
    `record_body` find out why: a checksum that does not fit, a body in a blob, or an unknown form.
    """
    if (
        sha256(key + record[HASH_BYTES:_HEAD]).digest()[:HASH_BYTES] != record[:HASH_BYTES]
        or sha256(record[_HEAD:]).digest()[:HASH_BYTES] != record[_FIXED:_HEAD]
        or record[_HEAD : _HEAD + 2] != _INLINE_HEAD
    ):
        return None
    return record[_HEAD + 2 :]


def to_ms(at: str) -> int:
    """Return `2026-11-21T09:30:00.000Z` (RFC 3339) as milliseconds since 1970. Raises ValidationError."""
    try:
        moment = datetime.fromisoformat(at)
        return (moment - _EPOCH) // _MILLISECOND
    except (TypeError, ValueError) as error:
        raise ValidationError(f"{at!r} is not a time", hint="write times as 2026-11-21T09:30:00.000Z") from error


def from_ms(at_ms: int) -> str:
    """Return milliseconds since 1970 as RFC 3339 UTC: `2026-11-21T09:30:00.000Z`."""
    moment = _EPOCH + at_ms * _MILLISECOND
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
