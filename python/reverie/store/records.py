"""Typed records: the base struct, how to read and write one, and the kinds that the store itself writes.

`Reader.load`, `records` and `record_history` return them, `Writer.save` and `append_record` write them. They are
frozen: change one with `msgspec.structs.replace(record, field=value)`. `Reader.get`, `scan` and `Writer.put` have JSON
objects without a type.

Records that an earlier version wrote must load: a field that may be absent has a default, and fields that are not
declared here are skipped. Where a record is read, changed and written back (`KEEPS_UNKNOWN_FIELDS`), `save` copies
the undeclared fields of the stored JSON into the new one. A null is never an error where the field is `X | None`.

Names are camelCase in the JSON, except for memories and imports, whose JSON has always been snake_case. The
docstring of each class names its key. The kinds that callers write are in the other modules named `…_records`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec

from reverie.decode import from_json
from reverie.errors import Damaged, ValidationError
from reverie.store.codec import Redactor, Sealed, seal, sealed_body
from reverie.store.keys import record_name
from reverie.store.kinds import Kind
from reverie.text_types import DerivedText, JsonText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Json
    from reverie.redact import Taken

R = TypeVar("R", bound="StoredRecord")

_ENCODER = msgspec.json.Encoder()
_PLAIN_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder()  # orjson makes a 65-bit integer a float


class StoredRecord(msgspec.Struct, frozen=True, rename="camel"):
    """Base of all records. `KIND` is the kind that the record is stored under."""

    KIND: ClassVar[Kind]
    OPTIONAL: ClassVar[tuple[str, ...]] = ()
    """JSON names of fields that are left out of the JSON while they are None or False."""
    KEEPS_UNKNOWN_FIELDS: ClassVar[bool] = False
    """Return whether `save` copies fields unknown to this version from the stored record into the new one."""

    def as_json(self) -> dict[str, Any]:
        """Return the stored JSON of the record as a dict, not yet redacted.

        It goes through JSON text and not through `msgspec.to_builtins`, which leaves tuples as they are: the redactor
        looks into lists and dicts alone, so a secret in a tuple would reach the disk. Raises ValidationError for what
        JSON cannot hold.
        """
        try:
            value: dict[str, Any] = _PLAIN_DECODER.decode(_ENCODER.encode(self))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ValidationError(f"a value cannot be stored as JSON: {error}", hint="send plain JSON") from error
        for optional in self.OPTIONAL:
            if value[optional] is None or value[optional] is False:
                del value[optional]
        return value


def decoded(record_type: type[R], raw: bytes, body: bytes) -> R:
    """Return the typed record that verified JSON text contains; `raw` is its key in the store, for the error.

    Raises Damaged naming the record where the JSON lacks a field or has one of another type.
    """
    try:
        record: R = from_json(body, record_type)
    except msgspec.DecodeError as error:
        raise Damaged(
            f"{record_name(raw)} is not a {record_type.KIND}: {error}",
            hint="run `reverie check`",
            record=record_name(raw),
        ) from error
    return record


def open_sealed_as(record_type: type[R], data: bytes) -> R:
    """Return the record inside sealed bytes, verified. Raises Damaged where the bytes are not those sealed."""
    try:
        record: R = from_json(sealed_body(data), record_type)
    except msgspec.DecodeError as error:
        raise Damaged(f"the sealed value is not a {record_type.KIND}: {error}", hint="run `reverie check`") from error
    return record


def seal_record(record: StoredRecord, redactor: Redactor) -> Sealed:
    """Return the record redacted and sealed, ready for `append_many` or `put_sealed`; pure, for any process."""
    return seal(record.as_json(), redactor)


def seal_records(records: Sequence[StoredRecord], redactor: Redactor) -> list[Sealed]:
    """Return records as `seal_record` does one by one; where none has a secret they are redacted in one pass."""
    values: list[Json] = [record.as_json() for record in records]
    clean, taken = redactor.taken(values)
    if taken or not isinstance(clean, list):
        return [seal(value, redactor) for value in values]
    return [seal(value, _CLEAN) for value in clean]


class _Clean:
    """Redactor of values in which no secret was found before."""

    def taken(self, value: Json, /) -> tuple[Json, Sequence[Taken]]:
        """Return the value unchanged, and nothing taken: it was found to have no secret."""
        return value, ()


_CLEAN = _Clean()


def same_record(record: StoredRecord, body: bytes) -> bool:
    """Return True if a JSON text is this record: order of keys, and defaults left out, do not count."""
    try:
        return bool(from_json(body, type(record)) == record)
    except msgspec.DecodeError:
        return False


def unknown_fields(record_type: type[StoredRecord], stored: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a stored JSON object that `record_type` does not declare."""
    declared = _json_names(record_type)
    if stored.keys() <= declared:
        return {}
    return {key: value for key, value in stored.items() if key not in declared}


@cache
def _json_names(record_type: type[StoredRecord]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(record_type))


class FailureRecord(msgspec.Struct, frozen=True, rename="camel"):
    """Why a run in the background failed: the error's code and message, and what to do next."""

    code: str
    message: DerivedText
    hint: DerivedText | None = None


class IdempotencyRecord(StoredRecord, frozen=True, kw_only=True):
    """The stored answer of an idempotency key, and the hash of its request. Written by the store.

    `purged`: the answer held something that was purged, and is gone. Key: (idempotency key,).
    """

    KIND: ClassVar[Kind] = Kind.IDEMPOTENCY
    OPTIONAL: ClassVar[tuple[str, ...]] = ("purged",)

    request: str
    value: JsonText
    operation: int | None
    purged: bool = False


class ChangeRecord(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The change of one key, or of a run of sequence numbers, by an operation.

    One key: the versions `before` and `after`, None where nothing is there; `first` and `last` are None. A run: the
    numbers `first` to `last` of the sequence `key`. `purged`: removed for good, with every version.
    """

    kind: Kind
    key: list[str | int]
    before: int | None = None
    after: int | None = None
    first: int | None = None
    last: int | None = None
    purged: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the stored JSON: `before` and `after`, or `first` and `last`; `purged` only where it is true."""
        value: dict[str, Any] = {"kind": self.kind.value, "key": list(self.key)}
        if self.first is None:
            value |= {"before": self.before, "after": self.after}
        else:
            value |= {"first": self.first, "last": self.last}
        return {**value, "purged": True} if self.purged else value


class OperationRecord(StoredRecord, frozen=True, kw_only=True):
    """One committed write: who, why, when, on which operation's state, and its changes. The store itself writes it.

    `events` are the first and last number of the events that it announced. Key: (seq,).
    """

    KIND: ClassVar[Kind] = Kind.OPERATION

    seq: int
    who: str
    why: str
    at: str
    parent: int
    changes: list[ChangeRecord]
    events: list[int] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the stored JSON, changes by `ChangeRecord.as_json`; built by hand, as every write does it once."""
        return {
            "seq": self.seq,
            "who": self.who,
            "why": self.why,
            "at": self.at,
            "parent": self.parent,
            "changes": [change.as_json() for change in self.changes],
            "events": self.events,
        }


class EventRecord(StoredRecord, frozen=True, kw_only=True):
    """The content-free announcement of something that happened. Written by the store. Key: (seq,)."""

    KIND: ClassVar[Kind] = Kind.EVENT

    seq: int
    type: str
    at: str
    operation: int | None
    data: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return the stored JSON; built by hand, as every event of a write does it once."""
        return {"seq": self.seq, "type": self.type, "at": self.at, "operation": self.operation, "data": self.data}
