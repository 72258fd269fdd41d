"""Read access to one space in one snapshot: current records, versions, sequences and counts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import lmdb
import orjson

from reverie.errors import Damaged, NotFound, ValidationError
from reverie.store.checksums import CollectionChecksum
from reverie.store.codec import TOMBSTONE, RawRecord, decode_record, fast_sealed, from_ms
from reverie.store.env import translated_error
from reverie.store.keys import (
    backward,
    decode_key,
    encode_key,
    encode_number,
    forward,
    kind_prefix,
    record_key,
    record_name,
    versions_prefix,
)
from reverie.store.kinds import RULES, Key, Kind
from reverie.store.records import OperationRecord, StoredRecord, decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.store.checksums import VerifiedCollections
    from reverie.store.codec import Sealed
    from reverie.store.transactions import ReadTransaction

R = TypeVar("R", bound=StoredRecord)
V = TypeVar("V")  # a typed record, or its JSON object


@dataclass(frozen=True, slots=True)
class Version(Generic[V]):
    """One version of a record: the operation that wrote it, when, and its content, None for a deletion."""

    operation: int
    at: str
    value: V | None


class Reader:
    """A snapshot of one space, valid inside the `with` of `Store.reader`.

    Every method raises Damaged, naming what is damaged, rather than return a record that is not the one written, or
    None where a record is missing; ValidationError for a key of the wrong shape.
    `transaction` is for the store's own modules. `snapshot` is equal for two readers that see the same.
    """

    def __init__(self, transaction: ReadTransaction, space: str, verified: VerifiedCollections) -> None:
        self.transaction = transaction
        self._verified = verified
        self.space = space
        self.snapshot = transaction.snapshot

    def get(self, kind: Kind, key: Key) -> dict[str, Any] | None:
        """Return the value under `key`, or None where nothing is there."""
        raw, data = self._data(kind, key)
        return None if data is None else self.transaction.value(raw, data)

    def load(self, record_type: type[R], key: Key) -> R | None:
        """Return the typed record under `key`, or None where nothing is there."""
        raw, data = self._data(record_type.KIND, key)
        return None if data is None else self.transaction.load(record_type, raw, data)

    def _data(self, kind: Kind, key: Key) -> tuple[bytes, bytes | None]:
        """Return the whole key of a record and its bytes, not verified; None as bytes where there is no record."""
        raw = record_key(self.transaction.space, kind, key)
        data = self.transaction.data(raw)
        if data is None:
            self._absent(kind, key)
        return raw, data

    def get_many(self, kind: Kind, keys: Sequence[Key]) -> list[dict[str, Any] | None]:
        """Return the values under `keys`, in order, None where nothing is there: sooner than by one `get` for each."""
        return [None if body is None else orjson.loads(body) for _, body in self._bodies(kind, keys)]

    def load_many(self, record_type: type[R], keys: Sequence[Key]) -> list[R | None]:
        """Return the typed records under `keys`, in order, None where nothing is there."""
        bodies = self._bodies(record_type.KIND, keys)
        return [None if body is None else decoded(record_type, raw, body) for raw, body in bodies]

    def _bodies(self, kind: Kind, keys: Sequence[Key]) -> list[tuple[bytes, bytes | None]]:
        """Return the whole key and JSON text of each record, in order; None as text where the record does not exist."""
        raws = [record_key(self.transaction.space, kind, key) for key in keys]
        bodies = self.transaction.bodies(raws)
        for key, body in zip(keys, bodies, strict=True):
            if body is None:
                self._absent(kind, key)
        return list(zip(raws, bodies, strict=True))

    def version(self, kind: Kind, key: Key) -> int | None:
        """Return the operation that wrote the current record under `key`, or None where nothing is there."""
        raw, data = self._data(kind, key)
        return None if data is None else decode_record(raw, data).operation

    def record_checksum(self, kind: Kind, key: Key) -> str | None:
        """Return the checksum in hex of the record under `key` (key, operation, time and content), None without one."""
        raw, data = self._data(kind, key)
        return None if data is None else decode_record(raw, data).checksum.hex()

    def exists(self, kind: Kind, key: Key) -> bool:
        """Return True if a record is under `key`; its content is not read."""
        return self.version(kind, key) is not None

    def keys(self, kind: Kind, prefix: Key = ()) -> Iterator[Key]:
        """Yield the keys under `prefix` in order, without reading the records; not for kinds with a hashed key."""
        start = len(self.transaction.space) + 1
        return (decode_key(raw[start:]) for raw, _ in self._walk(kind, prefix, None, reverse=False))

    def scan(
        self, kind: Kind, prefix: Key = (), *, after: Key | None = None, limit: int | None = None, reverse: bool = False
    ) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Yield keys and values under `prefix` in the order of their keys, or against it; those beyond `after` only.

        Kinds with a hashed key come in the order of the hash. A prefix is made of whole key parts, not of a part's
        beginning. An incomplete collection raises Damaged before its first record, a sequence at its first gap.
        """
        for raw, data in islice(self._walk(kind, prefix, after, reverse=reverse), limit):
            value = self.transaction.value(raw, data)
            yield self._key(kind, raw, value), value

    def records(
        self,
        record_type: type[R],
        prefix: Key = (),
        *,
        after: Key | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> Iterator[tuple[Key, R]]:
        """Yield keys and typed records under `prefix`, in the order of their keys or against it; as `scan`."""
        kind = record_type.KIND
        name_part = RULES[kind].field
        for raw, data in islice(self._walk(kind, prefix, after, reverse=reverse), limit):
            record = self.transaction.load(record_type, raw, data)
            key = decode_key(raw[len(self.transaction.space) + 1 :])
            yield key if name_part is None else (getattr(record, name_part), *key[1:]), record

    def stored(self, kind: Kind) -> Iterator[tuple[bytes, Key, bytes]]:
        """Yield whole key, key and bytes of each record, in order, of a kind without a hashed key; none is opened."""
        start = len(self.transaction.space) + 1
        return ((raw, decode_key(raw[start:]), data) for raw, data in self._walk(kind, (), None, reverse=False))

    def scan_sealed(
        self, kind: Kind, prefix: Key = (), *, after: Key | None = None, limit: int | None = None, reverse: bool = False
    ) -> Iterator[tuple[Key, bytes]]:
        """Yield keys and sealed values, as `scan`; `open_sealed` or `open_sealed_as` verify and open them anywhere."""
        for raw, data in islice(self._walk(kind, prefix, after, reverse=reverse), limit):
            yield self._key(kind, raw, None), self.transaction.sealed_bytes(raw, decode_record(raw, data))

    def sealed_sequence(
        self, kind: Kind, prefix: Key, *, after: int = 0, through: int | None = None
    ) -> Iterator[tuple[int, bytes]]:
        """Yield numbers and sealed values of a sequence, those in `after + 1 .. through`; as `scan_sealed`."""
        rows = self._walk(kind, prefix, (*prefix, after) if after else None, reverse=False)
        first = max(after + 1, self.first_seq(kind, prefix))
        # A sequence is dense, and a gap is noticed on the way: so a number need not be decoded from its key.
        most = None if through is None else max(0, through + 1 - first)
        for seq, (raw, data) in enumerate(islice(rows, most), first):
            sealed = fast_sealed(raw, data)
            yield seq, self.transaction.sealed_bytes(raw, decode_record(raw, data)) if sealed is None else sealed

    def last_record(self, record_type: type[R], prefix: Key = ()) -> tuple[Key, R] | None:
        """Return the greatest key under `prefix` with its typed record, or None."""
        return next(self.records(record_type, prefix, reverse=True), None)

    def count(self, kind: Kind, prefix: Key = ()) -> int:
        """Return how many records are under `prefix`; for a whole collection without walking it."""
        if len(prefix) == RULES[kind].scope:
            return self._checksum(kind, prefix).count
        return sum(1 for _ in self._walk(kind, prefix, None, reverse=False))

    def collection_state(self, kind: Kind, prefix: Key = ()) -> tuple[int, int]:
        """Return number and checksum of the records of a collection: equal as long as none of them changes."""
        checksum = self._checksum(kind, prefix)
        return checksum.count, checksum.digest

    def last_seq(self, kind: Kind, prefix: Key = ()) -> int:
        """Return the last number assigned in the sequence of `kind` under `prefix`; 0 where none was."""
        return self._checksum(kind, prefix).last

    def first_seq(self, kind: Kind, prefix: Key = ()) -> int:
        """Return the first number of a sequence that is still kept; `last_seq` + 1 where none is."""
        checksum = self._checksum(kind, prefix)
        return checksum.last - checksum.count + 1

    def operation(self) -> int:
        """Return the number of the last operation of this space; 0 where there is none."""
        return self.last_seq(Kind.OPERATION)

    def versioned_keys(self, kind: Kind) -> Iterator[Key]:
        """Yield the key of every record of `kind` that has superseded versions, whether or not it is deleted by now.

        A key part that is stored hashed is taken from a version's value.
        """
        space = self.transaction.space
        prefix = versions_prefix(space, kind_prefix(space, kind))
        self._verified.require(self.transaction, prefix[: len(space) + 2])
        before: bytes | None = None
        for raw, data in self._records(prefix, None, reverse=False):
            rest = raw[len(space) + 2 :]
            parts = decode_key(rest)
            owner = rest[: len(rest) - len(encode_number(parts[-1]))]
            record = decode_record(raw, data)
            if owner == before or record.form == TOMBSTONE:
                continue
            before = owner
            field = RULES[kind].field
            yield parts[:-1] if field is None else (self.transaction.open(raw, record)[field], *parts[1:-1])

    def touched(self, kind: Kind, since: int) -> list[str]:
        """Return the first key parts of the records of a kind that operations after `since` changed, sorted."""
        operations = (operation for _, operation in self.records(OperationRecord, after=(since,)))
        changes = (change for operation in operations for change in operation.changes if change.kind is kind)
        return sorted({str(change.key[0]) for change in changes})

    def history(self, kind: Kind, key: Key) -> list[Version[dict[str, Any]]]:
        """Return every version kept of a record, oldest first, the current one last, deletions among them."""
        return [self._version(raw, record) for raw, record in self._past(kind, key)][::-1]

    def _past(self, kind: Kind, key: Key) -> Iterator[tuple[bytes, RawRecord]]:
        """Yield the current record and its superseded versions, newest first, each with its whole key."""
        raw, data = self._data(kind, key)
        if data is not None:
            yield raw, decode_record(raw, data)
        yield from self._versions(kind, raw, reverse=True)

    def record_history(self, record_type: type[R], key: Key) -> list[Version[R]]:
        """Return every version kept of a record, typed: oldest first, the current one last, deletions among them."""
        return list(self.record_versions(record_type, key))[::-1]

    def record_versions(self, record_type: type[R], key: Key) -> Iterator[Version[R]]:
        """Yield the versions of `record_history`, newest first; each is read when the caller comes to it."""
        for raw, record in self._past(record_type.KIND, key):
            value = None if record.form == TOMBSTONE else decoded(record_type, raw, self.transaction.body(raw, record))
            yield Version(record.operation, from_ms(record.at_ms), value)

    def _version(self, raw: bytes, record: RawRecord) -> Version[dict[str, Any]]:
        """Return a current or superseded record as a `Version`: operation, time, and content (None: deleted)."""
        value = None if record.form == TOMBSTONE else self.transaction.open(raw, record)
        return Version(record.operation, from_ms(record.at_ms), value)

    def latest(self, kind: Kind, key: Key) -> int | None:
        """Return the operation that last wrote or deleted the record under `key`; None where there is no version."""
        raw = record_key(self.transaction.space, kind, key)
        current = self.transaction.find(raw)
        if current is not None:
            return current.operation
        return next((record.operation for _, record in self._versions(kind, raw, reverse=True)), None)

    def at_version(self, kind: Kind, key: Key, operation: int) -> Sealed:
        """Return what `operation` wrote under `key`. Raises NotFound where it is no longer kept, or was a deletion."""
        raw = record_key(self.transaction.space, kind, key)
        current = self.transaction.find(raw)
        if current is not None and current.operation == operation:
            return self.transaction.sealed_copy(raw, current)
        for version_raw, record in self._versions(kind, raw):
            if record.operation == operation and record.form != TOMBSTONE:
                return self.transaction.sealed_copy(version_raw, record)
        raise NotFound(
            f"version {operation} of {record_name(raw)} is not kept",
            hint="superseded versions are pruned after a year; look at its history",
        )

    def _versions(self, kind: Kind, raw: bytes, *, reverse: bool = False) -> Iterator[tuple[bytes, RawRecord]]:
        """Yield key and record of each superseded version of the record under `raw`, oldest first unless `reverse`."""
        if not RULES[kind].versioned:
            raise ValidationError(f"versions of a {kind} are not kept", hint="see store/FORMAT.md")
        prefix = versions_prefix(self.transaction.space, raw)
        collection = prefix[: len(self.transaction.space) + 2]  # the versions of all records of the kind
        self._verified.require(self.transaction, collection)
        return ((key, decode_record(key, data)) for key, data in self._records(prefix, None, reverse=reverse))

    def _checksum(self, kind: Kind, prefix: Key) -> CollectionChecksum:
        """Return the checksum of a collection; where there is none, the space's root must show that there was none."""
        if len(prefix) != RULES[kind].scope:
            raise ValidationError(f"{prefix!r} does not name a collection of {kind}", hint="see store/FORMAT.md")
        checksum = self.transaction.checksum(kind_prefix(self.transaction.space, kind) + encode_key(prefix))
        if checksum is None:
            self._verified.require_space(self.transaction)
        return checksum or CollectionChecksum()

    def _absent(self, kind: Kind, key: Key) -> None:
        """Raise Damaged if a record that was not found should exist, by the checksum of its collection.

        In a sequence the checksum says which numbers exist. Elsewhere the whole collection is verified, once.
        """
        rule = RULES[kind]
        if rule.sequence:
            checksum = self._checksum(kind, key[:-1])
            if isinstance(key[-1], int) and checksum.last - checksum.count < key[-1] <= checksum.last:
                raise _missing(record_key(self.transaction.space, kind, key))
            return
        scope = kind_prefix(self.transaction.space, kind) + encode_key(
            key[: rule.scope], hashed=rule.hashed and rule.scope > 0
        )
        self._verified.require(self.transaction, scope)

    def _walk(self, kind: Kind, prefix: Key, after: Key | None, *, reverse: bool) -> Iterator[tuple[bytes, bytes]]:
        """Return an iterator over whole keys and bytes under `prefix`. Raises Damaged where one is missing."""
        rule = RULES[kind]
        space = self.transaction.space
        whole = kind_prefix(space, kind) + encode_key(prefix, hashed=rule.hashed)
        beyond = None if after is None else record_key(space, kind, after)
        if rule.sequence and len(prefix) == rule.scope:
            return self._dense(
                whole, self._checksum(kind, prefix), beyond, None if after is None else after[-1], reverse=reverse
            )
        if len(prefix) >= rule.scope:
            self._verified.require(self.transaction, kind_prefix(space, kind) + encode_key(prefix[: rule.scope]))
        else:
            self._verified.require_kind(self.transaction, kind)
        return self._records(whole, beyond, reverse=reverse)

    def _dense(
        self,
        prefix: bytes,
        checksum: CollectionChecksum,
        beyond: bytes | None,
        after: str | int | None,
        *,
        reverse: bool,
    ) -> Iterator[tuple[bytes, bytes]]:
        """Yield the records of a sequence. A gap is noticed on the way, so the sequence is not walked beforehand.

        Example: `last` 9 and `count` 4 mean that 6, 7, 8, 9 exist; a retention rule has removed 1 to 5. Raises Damaged
        naming the number that is missing, also at the end.
        """
        first, last = checksum.last - checksum.count + 1, checksum.last
        if isinstance(after, int):
            first, last = (first, min(last, after - 1)) if reverse else (max(first, after + 1), last)
        numbers = iter(range(last, first - 1, -1) if reverse else range(first, last + 1))
        for raw, data in self._records(prefix, beyond, reverse=reverse):
            expected = next(numbers, None)
            if expected is None or raw != prefix + encode_number(expected):
                raise _missing(raw if expected is None else prefix + encode_key((expected,)))
            yield raw, data
        missing = next(numbers, None)
        if missing is not None:
            raise _missing(prefix + encode_key((missing,)))

    def _records(self, prefix: bytes, beyond: bytes | None, *, reverse: bool) -> Iterator[tuple[bytes, bytes]]:
        """Yield whole keys and their bytes under `prefix`, in order or against it. Raises Damaged."""
        txn = self.transaction.txn
        items = backward(txn, prefix, beyond) if reverse else forward(txn, prefix, beyond)
        try:
            yield from items
        except lmdb.Error as error:
            raise translated_error(error, f"reading from {record_name(prefix)}") from error

    def _key(self, kind: Kind, raw: bytes, value: dict[str, Any] | None) -> Key:
        """Return a record's key from its stored bytes; a part that is stored as a hash is read from the record."""
        rule = RULES[kind]
        key = decode_key(raw[len(self.transaction.space) + 1 :])
        if rule.field is None:
            return key
        if value is None:
            record = self.transaction.find(raw)
            value = {} if record is None else self.transaction.open(raw, record)
        return (value[rule.field], *key[1:])


def _missing(raw: bytes) -> Damaged:
    return Damaged(
        f"{record_name(raw)} is missing from its sequence",
        hint="run `reverie check`, then `reverie restore` from a backup",
        record=record_name(raw),
    )
