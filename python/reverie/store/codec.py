"""The bytes of values and records: redacted and sealed with a checksum, then bound to a key with a second one.

`seal` is the only way to make a `Sealed`, and the store writes nothing else: so nothing reaches the disk that has not
passed through the redactor. FORMAT.md section 2 draws the bytes.

There are two checksums because a value may be sealed before its key is known, in another process. `encode_record`
then covers key, operation, time and the seal: a record that turns up under another key, or with another number, fails.
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import orjson

from reverie.compression import apply_edit, edit, pack, unpack
from reverie.errors import Damaged, ValidationError
from reverie.store.keys import record_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Json
    from reverie.redact import Taken

HASH_BYTES = 16  # the beginning of a SHA-256: chance damage passes once in 2^128
VERSION = 1  # of the sealed form
INLINE, IN_BLOB, TOMBSTONE = 0, 1, 2  # the body is JSON, the address and size of a blob, or empty: a deletion
PACKED, EDIT = 3, 4  # the body is packed JSON, or makes the JSON of a version from that of the next one
_PACKED_MIN = 64  # bytes; what is shorter, such as a collection checksum, is hardly shorter when packed
_BODY = HASH_BYTES + 2  # offset of the body in sealed bytes
_FIXED = HASH_BYTES + 16  # offset of the sealed bytes in a record, after checksum, operation and time
_HEAD = _FIXED + HASH_BYTES  # offset of the sealed form's version in a record: what the record's checksum covers ends
_INLINE_HEAD = bytes((VERSION, INLINE))
_PACKED_HEAD = bytes((VERSION, PACKED))
_IN_PLACE = frozenset((_INLINE_HEAD, _PACKED_HEAD))
_EDIT = struct.Struct(f">{HASH_BYTES}sQHI")  # the fields of EditHead

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Redactor(Protocol):
    """Replaces secrets in JSON; `reverie.redact.Redactor` is the one used outside tests."""

    def taken(self, value: Json, /) -> tuple[Json, Sequence[Taken]]:
        """Return the value without its secrets, and what was taken."""
        ...


class Sealed:
    """A redacted value as bytes: 16 bytes of SHA-256 over the rest, version, form, body. Made only by this module."""

    __slots__ = ("_text", "data", "redacted", "taken")

    data: bytes
    redacted: int  # how many spans the redactor replaced
    taken: Sequence[Taken]  # what it replaced; empty in another process
    _text: bytes | None  # the JSON text where it is known, so that it need not be unpacked

    def __init__(
        self, data: bytes, redacted: int, text: bytes | None = None, taken: Sequence[Taken] = (), *, maker: object
    ) -> None:
        if maker is not _MAKER:
            raise TypeError("a Sealed is made by codec.seal, so that nothing is written unredacted")
        self.data = data
        self.redacted = redacted
        self.taken = taken
        self._text = text

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as bytes, whose checksum is verified when they are unpickled."""
        return verified_sealed, (self.data, self.redacted)

    @property
    def body(self) -> bytes:
        """The body: JSON text, except in a blob reference, an edit or a tombstone."""
        if self._text is None:
            self._text = _opened(self.data) if self.form in {INLINE, PACKED} else self.data[_BODY:]
        return self._text

    @property
    def form(self) -> int:
        """INLINE, IN_BLOB, TOMBSTONE, PACKED or EDIT."""
        return self.data[_BODY - 1]

    def json(self) -> dict[str, Any]:
        """Return the JSON object inside these sealed bytes; it was redacted before it was sealed."""
        value: dict[str, Any] = orjson.loads(self.body)
        return value

    @property
    def address(self) -> str:
        """The content address in hex: the checksum of the sealed bytes."""
        return self.data[:HASH_BYTES].hex()


_MAKER = object()


def seal(value: Json, redactor: Redactor) -> Sealed:
    """Return `value` redacted throughout and sealed. Raises ValidationError for what JSON cannot hold.

    Pure, so that it can be done in another process than the one that writes.
    """
    clean, taken = redactor.taken(value)
    try:
        body = orjson.dumps(clean)
    except orjson.JSONEncodeError as error:
        raise ValidationError(f"a value cannot be stored as JSON: {error}", hint="send plain JSON") from error
    return sealed_text(body, taken=taken)


def sealed_text(text: bytes, *, taken: Sequence[Taken] = ()) -> Sealed:
    """Return redacted JSON text sealed, packed where that makes it shorter."""
    packed = pack(text) if len(text) >= _PACKED_MIN else None
    if packed is None or len(packed) >= len(text):
        return _sealed(INLINE, text, taken, text)
    return _sealed(PACKED, packed, taken, text)


def seal_own(value: dict[str, int | str]) -> Sealed:
    """Return numbers and checksums of the store itself sealed, without redaction: no caller's text is in them."""
    return _sealed(INLINE, orjson.dumps(value))


def _sealed(form: int, body: bytes, taken: Sequence[Taken] = (), text: bytes | None = None) -> Sealed:
    """Return a body after a header of checksum, version and form; `text` is its JSON text where it has one."""
    inner = bytes((VERSION, form)) + body
    return Sealed(sha256(inner).digest()[:HASH_BYTES] + inner, len(taken), text, taken, maker=_MAKER)


def blob_reference(sealed: Sealed) -> Sealed:
    """Return the sealed form of a record whose body is in a blob: the blob's address and the length of its text."""
    return _sealed(IN_BLOB, sealed.data[:HASH_BYTES] + len(sealed.body).to_bytes(8, "big"), sealed.taken)


_TOMBSTONE = _sealed(TOMBSTONE, b"")


def tombstone() -> Sealed:
    """Return the sealed form that a record's history has for the operation that deleted it."""
    return _TOMBSTONE


class EditHead(NamedTuple):
    """The head of an edit, which makes the text of a version from that of a newer one, its base."""

    checksum: bytes  # of the text that it makes
    base: int  # the operation that wrote the base
    number: int  # of older edits whose base is this one, or one of which this is the base in turn
    size: int  # bytes of this edit and of those older ones together


def sealed_edit(text: bytes, base_text: bytes, base: int, before: EditHead | None) -> Sealed | None:
    """Return the sealed edit that makes `text` of `base_text`, which operation `base` wrote; None without memory.

    `before` is the head of the edit whose base is the version with this text, if there is one.
    """
    frame = edit(base_text, text)
    if frame is None:
        return None
    number, size = (0, 0) if before is None else (before.number + 1, before.size)
    head = EditHead(_text_checksum(text), base, number, size + len(frame))
    return _sealed(EDIT, _EDIT.pack(*head) + frame)


def edit_head(data: bytes) -> EditHead:
    """Return the head of a sealed edit that was verified. Raises Damaged where it is too short for one."""
    if len(data) < _BODY + _EDIT.size:
        raise Damaged("an edit ends before its text", hint="run `reverie check`")
    return EditHead(*_EDIT.unpack_from(data, _BODY))


def edited_text(data: bytes, base_text: bytes) -> bytes | None:
    """Return the text that a sealed edit makes of its base's text; None where that is not the text it was made for."""
    text = apply_edit(base_text, data[_BODY + _EDIT.size :])
    return text if text is not None and _text_checksum(text) == edit_head(data).checksum else None


def _text_checksum(text: bytes) -> bytes:
    return sha256(text).digest()[:HASH_BYTES]


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
    return _opened(data)


def _opened(data: bytes) -> bytes:
    """Return the JSON text inside sealed bytes that were verified. Raises Damaged where there is none in them."""
    form = data[_BODY - 1]
    if form == INLINE:
        return data[_BODY:]
    text = unpack(data[_BODY:]) if form == PACKED else None
    if text is None:
        raise Damaged("the body is not in its record, or cannot be unpacked", hint="run `reverie check`")
    return text


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
        """INLINE, IN_BLOB, TOMBSTONE, PACKED or EDIT."""
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
    if record[_HEAD + 1] not in {INLINE, PACKED}:
        # The body of a blob reference, edit or tombstone is used without being opened as JSON, so no later step
        # would verify it.
        _verify_named(key, record[_FIXED:])
    return RawRecord(
        checksum, int.from_bytes(record[16:24], "big"), int.from_bytes(record[24:_FIXED], "big"), record[_FIXED:]
    )


def record_operation(record: bytes) -> int:
    """Return the operation that wrote a record, as `decode_record` does, of one that is known to be sound."""
    return int.from_bytes(record[HASH_BYTES : HASH_BYTES + 8], "big")


def record_body(key: bytes, record: RawRecord) -> bytes:
    """Return the verified JSON text of a record that is not in a blob. Raises Damaged naming the record."""
    try:
        return sealed_body(record.data)
    except Damaged as error:
        raise _damaged(key, error) from error


def record_json(key: bytes, record: RawRecord) -> dict[str, Any]:
    """Return the JSON object of a record that is not in a blob. Raises Damaged naming the record."""
    value: dict[str, Any] = orjson.loads(record_body(key, record))
    return value


def _verify_named(key: bytes, data: bytes) -> None:
    """Verify sealed bytes. Raises Damaged naming the record under `key`."""
    try:
        _verify(data)
    except Damaged as error:
        raise _damaged(key, error) from error


def _damaged(key: bytes, error: Damaged) -> Damaged:
    """Return an error about sealed bytes with the name of their record."""
    return Damaged(f"{record_name(key)} is damaged: {error.message}", hint=error.hint, record=record_name(key))


def fast_sealed(key: bytes, record: bytes) -> bytes | None:
    """Return the sealed bytes of a record in place, its body not verified; None for others or a damaged head."""
    if sha256(key + record[HASH_BYTES:_HEAD]).digest()[:HASH_BYTES] != record[:HASH_BYTES]:
        return None
    return record[_FIXED:] if record[_HEAD : _HEAD + 2] in _IN_PLACE else None


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
