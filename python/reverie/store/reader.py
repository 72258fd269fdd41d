"""Reads one space as it stood at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import lmdb

from reverie.errors import Damaged, NotFound, ValidationError
from reverie.store.codec import GONE, Record, unbind
from reverie.store.collection_checksum import Tally
from reverie.store.keys import decode, encode, kind_prefix, name, number, prefix_end, record_key
from reverie.store.lmdb_errors import translate
from reverie.store.records import StoredRecord, decoded
from reverie.store.schema import RULES, Key, Kind
from reverie.store.timestamps import from_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.store.codec import Sealed
    from reverie.store.integrity import Trust
    from reverie.store.lookup import Lookup

__all__ = ["Reader", "RecordVersion", "Version"]


R = TypeVar("R", bound=StoredRecord)


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a record: the operation that wrote it, when, and the value; None where it was deleted."""

    operation: int
    at: str
    value: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class RecordVersion(Generic[R]):
    """One version of a typed record: the operation that wrote it, when, and the record; None where it was deleted."""

    operation: int
    at: str
    value: R | None


class Reader:
    """A snapshot of one space. Valid inside the `with` that gave it.

    Every method raises Damaged, naming what is damaged, rather than give a record that is not the one written, or say
    that nothing is there where something is missing; ValidationError for a key of the wrong shape.
    `lookup` is for the store's own parts.
    """

    def __init__(self, lookup: Lookup, space: str, trust: Trust) -> None:
        self.lookup = lookup
        self._trust = trust
        self.space = space

    def get(self, kind: Kind, key: Key) -> dict[str, Any] | None:
        """The value under `key`, or None where nothing is there."""
        raw = record_key(self.lookup.space, kind, key)
        data = self.lookup.data(raw)
        if data is None:
            self._absent(kind, key)
            return None
        return self.lookup.value(raw, data)

    def load(self, record_type: type[R], key: Key) -> R | None:
        """Return the typed record under `key`, or None where nothing is there."""
        raw = record_key(self.lookup.space, record_type.KIND, key)
        data = self.lookup.data(raw)
        if data is None:
            self._absent(record_type.KIND, key)
            return None
        return self.lookup.load(record_type, raw, data)

    def version(self, kind: Kind, key: Key) -> int | None:
        """The operation that wrote what is under `key`, or None where nothing is there."""
        record = self.lookup.find(record_key(self.lookup.space, kind, key))
        if record is None:
            self._absent(kind, key)
            return None
        return record.operation

    def scan(
        self, kind: Kind, prefix: Key = (), *, after: Key | None = None, limit: int | None = None, reverse: bool = False
    ) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Keys and values under `prefix` in the order of their keys, or against it; those beyond `after` only.

        Kinds with a hashed key come in the order of the hash. Whole key parts make a prefix, not pieces of text.
        """
        for raw, data in islice(self._walk(kind, prefix, after, reverse=reverse), limit):
            value = self.lookup.value(raw, data)
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
            record = self.lookup.load(record_type, raw, data)
            key = decode(raw[len(self.lookup.space) + 1 :])
            yield key if name_part is None else (getattr(record, name_part), *key[1:]), record

    def scan_sealed(
        self, kind: Kind, prefix: Key = (), *, after: Key | None = None, limit: int | None = None, reverse: bool = False
    ) -> Iterator[tuple[Key, bytes]]:
        """As `scan`, with the values still sealed: `codec.open_sealed` verifies and opens them, anywhere."""
        for raw, data in islice(self._walk(kind, prefix, after, reverse=reverse), limit):
            yield self._key(kind, raw, None), self.lookup.sealed(raw, unbind(raw, data))

    def last(self, kind: Kind, prefix: Key = ()) -> tuple[Key, dict[str, Any]] | None:
        """The greatest key under `prefix` with its value, or None."""
        return next(self.scan(kind, prefix, reverse=True), None)

    def last_record(self, record_type: type[R], prefix: Key = ()) -> tuple[Key, R] | None:
        """Return the greatest key under `prefix` with its typed record, or None."""
        return next(self.records(record_type, prefix, reverse=True), None)

    def count(self, kind: Kind, prefix: Key = ()) -> int:
        """How many records are under `prefix`; at once for a whole collection."""
        if len(prefix) == RULES[kind].scope:
            return self._tally(kind, prefix).count
        return sum(1 for _ in self._walk(kind, prefix, None, reverse=False))

    def last_seq(self, kind: Kind, prefix: Key = ()) -> int:
        """The number last given in a sequence; 0 where none was. `kind` is a sequence, `prefix` what it is for."""
        return self._tally(kind, prefix).last

    def first_seq(self, kind: Kind, prefix: Key = ()) -> int:
        """The number of the first record of a sequence that is still kept; `last_seq` + 1 where there is none."""
        tally = self._tally(kind, prefix)
        return tally.last - tally.count + 1

    def operation(self) -> int:
        """The number of the last operation of this space; 0 where there is none."""
        return self.last_seq(Kind.OPERATION)

    def touched(self, kind: Kind, since: int) -> list[str]:
        """The names (first key part) of a kind that operations after `since` wrote or deleted, in their order."""
        names = {
            str(change["key"][0])
            for _, operation in self.scan(Kind.OPERATION, after=(since,))
            for change in operation["changes"]
            if change["kind"] == kind.value
        }
        return sorted(names)

    def history(self, kind: Kind, key: Key) -> list[Version]:
        """Every version kept of a record, oldest first, the current one last; deletions among them."""
        return list(self.past(kind, key))[::-1]

    def past(self, kind: Kind, key: Key) -> Iterator[Version]:
        """As `history`, newest first; each one is read when it is come to, so a few cost as much as they are."""
        for where, record in self._past(kind, key):
            yield self._version(where, record)

    def _past(self, kind: Kind, key: Key) -> Iterator[tuple[bytes, Record]]:
        """Yield the current record and its superseded versions, newest first, each with its whole key."""
        raw = record_key(self.lookup.space, kind, key)
        current = self.lookup.find(raw)
        if current is None:
            self._absent(kind, key)
        else:
            yield raw, current
        yield from self._versions(kind, raw, reverse=True)

    def record_history(self, record_type: type[R], key: Key) -> list[RecordVersion[R]]:
        """Return every version kept of a record, typed: oldest first, the current one last, deletions among them."""
        return list(self.record_versions(record_type, key))[::-1]

    def record_versions(self, record_type: type[R], key: Key) -> Iterator[RecordVersion[R]]:
        """Yield the versions of `record_history`, newest first; each is read when the caller comes to it."""
        for raw, record in self._past(record_type.KIND, key):
            value = None if record.form == GONE else decoded(record_type, raw, self.lookup.body(raw, record))
            yield RecordVersion(record.operation, from_ms(record.at_ms), value)

    def _version(self, where: bytes, record: Record) -> Version:
        value = None if record.form == GONE else self.lookup.open(where, record)
        return Version(record.operation, from_ms(record.at_ms), value)

    def latest(self, kind: Kind, key: Key) -> int | None:
        """The operation that last wrote or deleted what is under `key`; None where nothing is known of it."""
        raw = record_key(self.lookup.space, kind, key)
        current = self.lookup.find(raw)
        if current is not None:
            return current.operation
        return next((record.operation for _, record in self._versions(kind, raw, reverse=True)), None)

    def at_version(self, kind: Kind, key: Key, operation: int) -> Sealed:
        """What `operation` wrote under `key`. Raises NotFound where that version is not kept, or was a deletion."""
        raw = record_key(self.lookup.space, kind, key)
        current = self.lookup.find(raw)
        if current is not None and current.operation == operation:
            return self.lookup.again(raw, current)
        for where, record in self._versions(kind, raw):
            if record.operation == operation and record.form != GONE:
                return self.lookup.again(where, record)
        raise NotFound(
            f"version {operation} of {name(raw)} is not kept",
            hint="superseded versions are pruned after a year; look at its history",
        )

    def _versions(self, kind: Kind, raw: bytes, *, reverse: bool = False) -> Iterator[tuple[bytes, Record]]:
        """Superseded versions of the record under the whole key `raw`, oldest first unless `reverse`."""
        if not RULES[kind].versioned:
            raise ValidationError(f"versions of a {kind} are not kept", hint="see store/FORMAT.md")
        of = versions_prefix(self.lookup.space, raw)
        collection = of[: len(self.lookup.space) + 2]
        self._trust.require(self.lookup, self.lookup.space, collection)
        return ((key, unbind(key, data)) for key, data in self._records(of, None, reverse=reverse))

    def _tally(self, kind: Kind, prefix: Key) -> Tally:
        """The tally of a collection; its own checksum and the space's root vouch for it."""
        if len(prefix) != RULES[kind].scope:
            raise ValidationError(f"{prefix!r} does not name a collection of {kind}", hint="see store/FORMAT.md")
        tally = self.lookup.tally(kind_prefix(self.lookup.space, kind) + encode(prefix))
        if tally is None:
            self._trust.require_space(self.lookup, self.lookup.space)
        return tally or Tally()

    def _absent(self, kind: Kind, key: Key) -> None:
        """Raises Damaged unless what is not found is known not to be there."""
        rule = RULES[kind]
        if rule.sequence:
            tally = self._tally(kind, key[:-1])
            if isinstance(key[-1], int) and tally.last - tally.count < key[-1] <= tally.last:
                raise _missing(record_key(self.lookup.space, kind, key))
            return
        scope = kind_prefix(self.lookup.space, kind) + encode(key[: rule.scope], hashed=rule.hashed and rule.scope > 0)
        self._trust.require(self.lookup, self.lookup.space, scope)

    def _walk(self, kind: Kind, prefix: Key, after: Key | None, *, reverse: bool) -> Iterator[tuple[bytes, bytes]]:
        rule = RULES[kind]
        space = self.lookup.space
        whole = kind_prefix(space, kind) + encode(prefix, hashed=rule.hashed)
        beyond = None if after is None else record_key(space, kind, after)
        if rule.sequence and len(prefix) == rule.scope:
            return self._dense(
                whole, self._tally(kind, prefix), beyond, None if after is None else after[-1], reverse=reverse
            )
        if len(prefix) >= rule.scope:
            self._trust.require(self.lookup, space, kind_prefix(space, kind) + encode(prefix[: rule.scope]))
        else:
            self._trust.require_kind(self.lookup, space, kind)
        return self._records(whole, beyond, reverse=reverse)

    def _dense(
        self, prefix: bytes, tally: Tally, beyond: bytes | None, after: str | int | None, *, reverse: bool
    ) -> Iterator[tuple[bytes, bytes]]:
        """The records of a sequence; a number left out is noticed on the way, so nothing is walked beforehand."""
        first, last = tally.last - tally.count + 1, tally.last
        if isinstance(after, int):
            first, last = (first, min(last, after - 1)) if reverse else (max(first, after + 1), last)
        numbers = iter(range(last, first - 1, -1) if reverse else range(first, last + 1))
        for raw, data in self._records(prefix, beyond, reverse=reverse):
            expected = next(numbers, None)
            if expected is None or raw != prefix + number(expected):
                raise _missing(raw if expected is None else prefix + encode((expected,)))
            yield raw, data
        lost = next(numbers, None)
        if lost is not None:
            raise _missing(prefix + encode((lost,)))

    def _records(self, prefix: bytes, beyond: bytes | None, *, reverse: bool) -> Iterator[tuple[bytes, bytes]]:
        """Whole keys and their bytes under `prefix`, in order or against it."""
        txn = self.lookup.txn
        items = backward(txn, prefix, beyond) if reverse else forward(txn, prefix, beyond)
        try:
            yield from items
        except lmdb.Error as error:
            raise translate(error, f"reading from {name(prefix)}") from error

    def _key(self, kind: Kind, raw: bytes, value: dict[str, Any] | None) -> Key:
        rule = RULES[kind]
        key = decode(raw[len(self.lookup.space) + 1 :])
        if rule.field is None:
            return key
        if value is None:
            record = self.lookup.find(raw)
            value = {} if record is None else self.lookup.open(raw, record)
        return (value[rule.field], *key[1:])


def _missing(raw: bytes) -> Damaged:
    return Damaged(
        f"{name(raw)} is missing from its sequence",
        hint="run `reverie check`, then `reverie restore` from a backup",
        record=name(raw),
    )


def versions_prefix(space: bytes, raw: bytes) -> bytes:
    """What the keys of the superseded versions of the record under the whole key `raw` begin with."""
    return kind_prefix(space, Kind.VERSION) + raw[len(space) :]


def forward(txn: lmdb.Transaction[bytes], prefix: bytes, beyond: bytes | None) -> Iterator[tuple[bytes, bytes]]:
    """Keys under `prefix` that are greater than `beyond`, rising."""
    end = prefix_end(prefix)
    cursor = txn.cursor()
    if not cursor.set_range(prefix if beyond is None else max(prefix, beyond + b"\0")):
        return
    for key, record in cursor.iternext(keys=True, values=True):
        if key >= end:
            return
        yield key, record


def backward(txn: lmdb.Transaction[bytes], prefix: bytes, beyond: bytes | None) -> Iterator[tuple[bytes, bytes]]:
    """Keys under `prefix` that are less than `beyond`, falling."""
    cursor = txn.cursor()
    at_end = not cursor.set_range(prefix_end(prefix) if beyond is None else min(beyond, prefix_end(prefix)))
    if not (cursor.last() if at_end else cursor.prev()):
        return
    for key, record in cursor.iterprev(keys=True, values=True):
        if key < prefix:
            return
        yield key, record
