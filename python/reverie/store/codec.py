"""Seals values into checksummed bytes, the only form that can be written, and opens them again.

`seal` is the redaction seam: nothing reaches the store without having passed through it.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import orjson

from reverie.errors import Damaged, ValidationError
from reverie.store.keys import name

if TYPE_CHECKING:
    from reverie.models import Json

__all__ = [
    "EXTERNAL",
    "GONE",
    "HASH_BYTES",
    "Record",
    "Redactor",
    "Sealed",
    "arrived",
    "bind",
    "open_record",
    "open_sealed",
    "pointer",
    "seal",
    "seal_own",
    "sealed_body",
    "tombstone",
    "unbind",
    "verified_body",
    "whole_body",
]

HASH_BYTES = 16
VERSION = 1  # of the sealed form
PLAIN, EXTERNAL, GONE = 0, 1, 2  # what the body is: JSON, the address of a blob, the mark of a deletion
_BODY = HASH_BYTES + 2
_FIXED = HASH_BYTES + 16  # of a record, before its sealed part: bound checksum, operation, time
_HEAD = _FIXED + HASH_BYTES  # of a record, before the version of its sealed part
_PLAIN_HEAD = bytes((VERSION, PLAIN))


class Redactor(Protocol):
    """Takes secrets out of JSON; `reverie.redact.Redactor` is the one used outside tests."""

    def value(self, value: Json, /) -> tuple[Json, int]:
        """The value without its secrets, and how many spans were replaced."""
        ...


class Sealed:
    """A redacted value as bytes: 16 bytes of SHA-256 over the rest, version, form, body. Made only by this module."""

    __slots__ = ("data", "redacted")

    data: bytes
    redacted: int

    def __init__(self, data: bytes, redacted: int, *, maker: object) -> None:
        if maker is not _MAKER:
            raise TypeError("a Sealed is made by codec.seal, so that nothing is written unredacted")
        self.data = data
        self.redacted = redacted

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels between processes as its bytes, checked on arrival."""
        return arrived, (self.data, self.redacted)

    @property
    def body(self) -> bytes:
        """What was sealed, as bytes."""
        return self.data[_BODY:]

    @property
    def form(self) -> int:
        """PLAIN, EXTERNAL or GONE."""
        return self.data[_BODY - 1]

    def json(self) -> dict[str, Any]:
        """What was sealed, without its secrets."""
        value: dict[str, Any] = orjson.loads(self.body)
        return value

    @property
    def address(self) -> str:
        """The content's address in hex: equal for equal bodies."""
        return self.data[:HASH_BYTES].hex()


_MAKER = object()


def seal(value: Json, redactor: Redactor) -> Sealed:
    """`value` redacted throughout and sealed. Raises ValidationError for what JSON cannot hold.

    Pure, so that it can be done in another process than the one that writes.
    """
    clean, redacted = redactor.value(value)
    try:
        body = orjson.dumps(clean)
    except orjson.JSONEncodeError as error:
        raise ValidationError(f"a value cannot be stored as JSON: {error}", hint="send plain JSON") from error
    return _sealed(PLAIN, body, redacted)


def seal_own(value: dict[str, int | str]) -> Sealed:
    """Numbers and digests that the store itself made; no text of anyone's passes here."""
    return _sealed(PLAIN, orjson.dumps(value))


def _sealed(form: int, body: bytes, redacted: int = 0) -> Sealed:
    inner = bytes((VERSION, form)) + body
    return Sealed(sha256(inner).digest()[:HASH_BYTES] + inner, redacted, maker=_MAKER)


def pointer(sealed: Sealed) -> Sealed:
    """What stands in a record whose body is kept as a blob: the body's address and its length."""
    return _sealed(EXTERNAL, sealed.data[:HASH_BYTES] + len(sealed.body).to_bytes(8, "big"), sealed.redacted)


def tombstone() -> Sealed:
    """What stands in the history of a record at the operation that deleted it."""
    return _sealed(GONE, b"")


def arrived(data: bytes, redacted: int = 0) -> Sealed:
    """A value that another process sealed, its checksum verified. Raises Damaged."""
    _verify(data)
    return Sealed(data, redacted, maker=_MAKER)


def open_sealed(data: bytes) -> dict[str, Any]:
    """Return the JSON object inside sealed bytes. Raises Damaged where the bytes are not those that were sealed."""
    value: dict[str, Any] = orjson.loads(sealed_body(data))
    return value


def sealed_body(data: bytes) -> bytes:
    """Return the JSON text inside sealed bytes. Raises Damaged where the bytes are not those that were sealed."""
    _verify(data)
    if data[_BODY - 1] != PLAIN:
        raise Damaged("the body is not in its record", hint="run `reverie check`")
    return data[_BODY:]


def _verify(data: bytes) -> None:
    if sha256(data[HASH_BYTES:]).digest()[:HASH_BYTES] != data[:HASH_BYTES] or len(data) < _BODY:
        raise Damaged("the checksum does not fit the sealed bytes", hint="run `reverie check`")
    if data[HASH_BYTES] != VERSION:
        raise Damaged(
            f"the bytes are sealed in form {data[HASH_BYTES]}, this version reads {VERSION}",
            hint="use a newer version of reverie",
        )


class Record(NamedTuple):
    """A record as it stands under a key: its checksum, which operation wrote it, when, and its sealed bytes."""

    bound: bytes
    operation: int  # 0 for kinds that no operation writes
    at_ms: int  # since 1970, UTC
    data: bytes  # sealed

    @property
    def form(self) -> int:
        """PLAIN, EXTERNAL or GONE."""
        return self.data[_BODY - 1]

    @property
    def address(self) -> str:
        """The content's address, of the body itself or of the blob that holds it."""
        start = _BODY if self.form == EXTERNAL else 0
        return self.data[start : start + HASH_BYTES].hex()


def bind(key: bytes, operation: int, at_ms: int, data: bytes) -> bytes:
    """The bytes that stand under `key`: a checksum over key, operation, time and seal; those; the sealed `data`."""
    fixed = operation.to_bytes(8, "big") + at_ms.to_bytes(8, "big")
    return sha256(key + fixed + data[:HASH_BYTES]).digest()[:HASH_BYTES] + fixed + data


def unbind(key: bytes, record: bytes) -> Record:
    """The parts of the record under `key`, its place verified; its body is verified by whoever opens it.

    Raises Damaged naming the record.
    """
    bound = record[:HASH_BYTES]
    if sha256(key + record[HASH_BYTES:_HEAD]).digest()[:HASH_BYTES] != bound or len(record) < _FIXED + _BODY:
        raise Damaged(
            f"{name(key)} is damaged: its checksum does not fit its bytes and key",
            hint="run `reverie check`",
            record=name(key),
        )
    if record[_HEAD + 1] != PLAIN:
        # Nobody opens these forms as JSON, so what they say is verified here.
        _verify_named(key, record[_FIXED:])
    return Record(
        bound, int.from_bytes(record[16:24], "big"), int.from_bytes(record[24:_FIXED], "big"), record[_FIXED:]
    )


def verified_body(key: bytes, record: Record) -> bytes:
    """Return the JSON text in a record that has its body itself. Raises Damaged naming the record."""
    _verify_named(key, record.data)
    if record.form != PLAIN:
        raise Damaged("the body is not in its record", hint="run `reverie check`")
    return record.data[_BODY:]


def open_record(key: bytes, record: Record) -> dict[str, Any]:
    """Return the JSON object in a record that has its body itself. Raises Damaged naming the record."""
    value: dict[str, Any] = orjson.loads(verified_body(key, record))
    return value


def _verify_named(key: bytes, data: bytes) -> None:
    try:
        _verify(data)
    except Damaged as error:
        raise Damaged(f"{name(key)} is damaged: {error.message}", hint=error.hint, record=name(key)) from error


def whole_body(key: bytes, record: bytes) -> bytes | None:
    """Return the JSON text in the bytes under `key`, verified in one go; None where that cannot be done so simply.

    The fast path of every read. On None, `unbind` and `verified_body` find out why: a checksum that does not fit, a
    body in a blob, or a form that this version does not read.
    """
    if (
        sha256(key + record[HASH_BYTES:_HEAD]).digest()[:HASH_BYTES] != record[:HASH_BYTES]
        or sha256(record[_HEAD:]).digest()[:HASH_BYTES] != record[_FIXED:_HEAD]
        or record[_HEAD : _HEAD + 2] != _PLAIN_HEAD
    ):
        return None
    return record[_HEAD + 2 :]
