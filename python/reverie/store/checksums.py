"""Checksums over collections, so that a missing record is noticed and not read as "nothing there".

A record's own checksum shows damage in it, but not its absence. So each collection (the records of a kind in a space,
or of one thread) has a `CollectionChecksum`, kept up to date by every write. They form a tree, each level covering the
one below by the checksums of its records:

    records <- collection checksum <- root of the space <- header of the store <- rollback guard (a file)

`VerifiedCollections` compares a collection with its checksum when it is first scanned, or first misses a key, after the
store was opened. A read that finds its record needs none of this, because the record's own checksum covers it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import lmdb
import orjson

from reverie.compression import verified_body
from reverie.errors import Damaged
from reverie.store.codec import HASH_BYTES, decode_record, record_json
from reverie.store.env import translated_error, translated_errors
from reverie.store.keys import key_text, kind_prefix, prefix_end, record_name, space_prefix, split_key
from reverie.store.kinds import RULES, SYSTEM_SPACE, Kind, rule_by_code

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS_MAX = 4096  # collections of single threads that are known to be whole: half a megabyte
_KIND_BYTES = 2  # of a collection's prefix behind the space: its kind and, of versions, the kind that they are of
_BATCH = 4096  # keys looked up at a time while a collection is walked; keeps their list small


@dataclass(slots=True)
class CollectionChecksum:
    """The records of a collection: their number, the XOR of their checksums, and the last sequence number assigned.

    XOR, because a record is added or replaced without reading the others, in any order. A missing, extra or changed
    record changes it; two records cannot cancel out, since each checksum covers the record's own key.
    `last` stays 0 in collections that are not sequences.
    """

    count: int = 0
    digest: int = 0
    last: int = 0

    def copy(self) -> CollectionChecksum:
        """Return an independent copy of this collection checksum."""
        return CollectionChecksum(self.count, self.digest, self.last)

    def add(self, checksum: bytes) -> None:
        """Include one record, by its checksum."""
        self.count += 1
        self.digest ^= int.from_bytes(checksum, "big")

    def remove(self, checksum: bytes) -> None:
        """Exclude one record, by its checksum."""
        self.count -= 1
        self.digest ^= int.from_bytes(checksum, "big")

    def same_records(self, other: CollectionChecksum) -> bool:
        """Return True if the other checksum has the same count and XOR; the last sequence numbers are not compared."""
        return self.count == other.count and self.digest == other.digest

    def as_json(self) -> dict[str, Any]:
        """Return the collection checksum as JSON values, as it is stored."""
        return {"count": self.count, "digest": f"{self.digest:0{2 * HASH_BYTES}x}", "last": self.last}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> CollectionChecksum:
        """Return the checksum in its stored form. Raises Damaged."""
        try:
            return cls(int(value["count"]), int(value["digest"], 16), int(value["last"]))
        except (KeyError, TypeError, ValueError) as error:
            raise Damaged("a collection checksum is damaged: a field is missing", hint="run `reverie check`") from error


def collection_prefix(space: bytes, kind: Kind, rest: bytes) -> bytes:
    """Return the bytes that the keys of a record's collection begin with; `rest` is its key after the kind byte.

    A collection is all records of a kind in a space, or, for a kind with a scope, those with the same first part.
    Example: entries of thread `a` in space `s`: `02 s 00 | 03 | 02 a 00`. Raises Damaged for a key without first part.
    """
    scope = RULES[kind].scope
    if scope == 0:
        return kind_prefix(space, kind)
    if kind is Kind.VERSION:
        return kind_prefix(space, kind) + rest[:1]  # the first part is the versioned kind, one byte
    end = rest.find(0)
    if end < 0:
        raise Damaged(f"a key of kind {kind} has no end: {rest.hex()}", hint="run `reverie check`")
    return kind_prefix(space, kind) + rest[: end + 1]


def collection_kind(space: bytes, prefix: bytes) -> Kind:
    """Return the kind of the collection whose keys begin with `prefix`."""
    kind = rule_by_code(prefix[len(space)])
    assert kind is not None
    return kind


def collection_name(prefix: bytes) -> str:
    """Return a collection as people read it: `collection entry thread_a of space default`."""
    space, kind, rest = split_key(prefix)
    return f"collection {key_text(kind, rest)} of space {space}"


def checksum_key(space: bytes, prefix: bytes) -> bytes:
    """Return the key of the checksum of the collection whose keys begin with `prefix`."""
    return kind_prefix(space, Kind.CHECKSUM) + prefix[len(space) :]


def root_key(space: bytes) -> bytes:
    """Return the key of a space's root: the checksum over the space's collection checksums."""
    return kind_prefix(space, Kind.ROOT)


def header_key() -> bytes:
    """Return the key of the store's header, which has the checksum over the roots of all spaces."""
    return kind_prefix(space_prefix(SYSTEM_SPACE), Kind.HEADER)


def stored_checksum(txn: lmdb.Transaction[bytes], key: bytes) -> CollectionChecksum | None:
    """Return the checksum stored under `key` (of a collection, a root or the header), or None. Raises Damaged."""
    try:
        record = txn.get(key)
    except lmdb.Error as error:
        raise translated_error(error, f"reading {record_name(key)}") from error
    if record is None:
        return None
    body = verified_body(key, record)
    value = record_json(key, decode_record(key, record)) if body is None else orjson.loads(body)
    return CollectionChecksum.from_json(value)


class _View(Protocol):
    """A transaction of one space, with the checksums as it sees them."""

    txn: lmdb.Transaction[bytes]
    space: bytes

    def checksum(self, prefix: bytes) -> CollectionChecksum | None: ...
    def collections(self, prefix: bytes) -> list[bytes]: ...


class VerifiedCollections:
    """The collections of an open store that were verified, and the result of each, until the store is closed.

    Verifying once is enough: while the store is open, every change goes through it and updates the checksum. What this
    cannot see is a change of the file by another program after the collection was verified.

    Of the collections of single threads only those with records are kept, at most PARTS_MAX: threads come and go, and
    any name may be asked for. One that is not kept is verified again.
    """

    def __init__(self) -> None:
        self._whole: set[bytes] = set()
        self._parts: dict[bytes, None] = {}  # those of single threads that are whole, oldest first
        self._parts_lock = threading.Lock()
        self._damaged: dict[bytes, str] = {}

    def require(self, view: _View, prefix: bytes) -> None:
        """Verify the collection with this prefix. Raises Damaged naming it where records are missing from it."""
        if prefix in self._whole or prefix in self._parts:
            return
        self._raise_if_damaged(prefix)
        # A checksum that is missing, or was put there by damage, would make an incomplete collection look complete. So
        # the level above goes first: only then is "no checksum" known to mean "no records".
        self.require_space(view)
        expected = view.checksum(prefix) or CollectionChecksum()
        self._compare(prefix, expected, view.txn)
        if len(prefix) <= len(view.space) + _KIND_BYTES:
            self._whole.add(prefix)
        elif expected.count:
            self._keep_part(prefix)

    def emptied(self, prefix: bytes) -> None:
        """Drop the collection of a single thread, which has no records any more."""
        with self._parts_lock:
            self._parts.pop(prefix, None)

    def _keep_part(self, prefix: bytes) -> None:
        """Remember the collection of a single thread as verified; the oldest one is dropped where they are too many."""
        with self._parts_lock:
            self._parts[prefix] = None
            if len(self._parts) > PARTS_MAX:
                del self._parts[next(iter(self._parts))]

    def require_kind(self, view: _View, kind: Kind) -> None:
        """Verify every collection of a kind, and that no record of it is outside of them. Raises Damaged."""
        prefix = kind_prefix(view.space, kind)
        if prefix in self._whole:
            return
        self._raise_if_damaged(prefix)
        self.require_space(view)
        total = CollectionChecksum()
        for part in view.collections(prefix):
            self.require(view, part)
            checksum = view.checksum(part) or CollectionChecksum()
            total.count += checksum.count
            total.digest ^= checksum.digest
        self._compare(prefix, total, view.txn)
        self._whole.add(prefix)

    def require_space(self, view: _View) -> None:
        """Compare the collection checksums of a space with its root. Raises Damaged.

        A space without a root must be one that was never written to, which the header shows.
        """
        prefix = kind_prefix(view.space, Kind.CHECKSUM)
        if prefix in self._whole:
            return
        self._raise_if_damaged(prefix)
        root = stored_checksum(view.txn, root_key(view.space))
        if root is None:
            self._require_roots(view.txn)
        self._compare(prefix, root or CollectionChecksum(), view.txn)
        self._whole.add(prefix)

    def _require_roots(self, txn: lmdb.Transaction[bytes]) -> None:
        """Compare the roots of all spaces with the header. Raises Damaged."""
        prefix = header_key()
        if prefix in self._whole:
            return
        self._raise_if_damaged(prefix)
        header = stored_checksum(txn, prefix)
        checksum = CollectionChecksum()
        with translated_errors("reading the roots of spaces"):
            for space in spaces(txn):
                root = txn.get(root_key(space))
                if root is not None:
                    checksum.add(root[:HASH_BYTES])
        if header is None or not checksum.same_records(header):
            self._refuse(prefix, "the list of spaces does not fit the store's header")
        self._whole.add(prefix)

    def _compare(self, prefix: bytes, expected: CollectionChecksum, txn: lmdb.Transaction[bytes]) -> None:
        """Walk a collection and compare it with its checksum; remember damage. Raises Damaged."""
        collection = collection_name(prefix)
        try:
            actual = walk_collection(txn, prefix)
        except Damaged as error:
            self._refuse(prefix, f"{collection} cannot be walked: {error.message}")
        else:
            if not actual.same_records(expected):
                self._refuse(
                    prefix, f"{collection} is not whole: {expected.count} records counted, {actual.count} found"
                )

    def _raise_if_damaged(self, prefix: bytes) -> None:
        """Raise Damaged again where the collection was verified before and failed."""
        if prefix in self._damaged:
            self._refuse(prefix, self._damaged[prefix])

    def _refuse(self, prefix: bytes, problem: str) -> None:
        self._damaged[prefix] = problem
        raise Damaged(problem, hint="run `reverie check`, then `reverie restore` from a backup")


def walk_collection(txn: lmdb.Transaction[bytes], prefix: bytes) -> CollectionChecksum:
    """Return the checksum of the records that are really under `prefix`. Raises Damaged.

    Each record is found twice, in order and by its key: a B+ tree with a wrong branch page can still be walked from
    leaf to leaf while lookups end in the wrong leaf.
    """
    checksum = CollectionChecksum()
    keys: list[bytes] = []
    for key, record in records(txn, prefix):
        checksum.add(decode_record(key, record).checksum)  # a key that was changed no longer fits its record
        keys.append(key)
        if len(keys) == _BATCH:
            _look_up(txn, keys)
            keys.clear()
    _look_up(txn, keys)
    return checksum


def _look_up(txn: lmdb.Transaction[bytes], keys: list[bytes]) -> None:
    """Raise Damaged unless each key is found by lookup."""
    with translated_errors("looking up every key"):
        for key in keys:
            if txn.get(key) is None:
                raise Damaged("a key that is there is not found by lookup", hint="run `reverie check`")


def records(txn: lmdb.Transaction[bytes], prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield every key and record under `prefix`, keys strictly rising. Raises Damaged where the tree is broken."""
    end = prefix_end(prefix)
    previous = b""
    with translated_errors("walking a collection"):
        cursor = txn.cursor()
        if not cursor.set_range(prefix):
            return
        for key, record in cursor.iternext(keys=True, values=True):
            if key >= end:
                return
            if key <= previous:
                raise Damaged("keys are out of order", hint="run `reverie check`")
            previous = key
            yield key, record


def spaces(txn: lmdb.Transaction[bytes]) -> Iterator[bytes]:
    """Yield the encoded name of every space that has a record, by jumping from each to the first key after it."""
    with translated_errors("listing spaces"):
        cursor = txn.cursor()
        has_key = cursor.first()
        while has_key:
            key = cursor.key()
            prefix = key[: key.find(0) + 1]
            yield prefix
            has_key = cursor.set_range(prefix_end(prefix))
