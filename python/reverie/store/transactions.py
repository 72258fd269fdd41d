"""One LMDB transaction seen by one space: records read and verified, and written with all that follows from a write.

`ReadTransaction` verifies what it reads. `WriteTransaction` also keeps collection checksums and the use counts of
blobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import lmdb
import orjson

from reverie.compression import verified_bodies, verified_body
from reverie.errors import Damaged
from reverie.store.checksums import CollectionChecksum, checksum_key, collection_prefix, records, stored_checksum
from reverie.store.codec import (
    EDIT,
    HASH_BYTES,
    IN_BLOB,
    RawRecord,
    Sealed,
    blob_reference,
    decode_record,
    edit_head,
    edited_text,
    encode_record,
    record_body,
    seal_own,
    sealed_text,
    verified_sealed,
)
from reverie.store.env import translated_error
from reverie.store.keys import encode_number, record_key, record_name
from reverie.store.kinds import BLOB_BYTES_MIN, Kind
from reverie.store.records import StoredRecord, decoded

if TYPE_CHECKING:
    from collections.abc import Sequence

R = TypeVar("R", bound=StoredRecord)

_KEPT_BYTES_MIN = 2048  # of a text that is kept after it was opened: a write reads the document that it changes again

Snapshot: TypeAlias = tuple[int, int]
"""Which opening of the file, and which of its transactions: in one process the same for those who see the same."""


class ReadTransaction:
    """The records of one space by their whole keys. LMDB's errors are raised as errors of `reverie.errors`.

    `snapshot` is None for the transaction of a write, as that may be taken back.
    """

    def __init__(self, txn: lmdb.Transaction[bytes], space: bytes, snapshot: Snapshot | None = None) -> None:
        self.txn = txn
        self.space = space  # encoded
        self.snapshot = snapshot
        self._opened: tuple[bytes, bytes] | None = None  # checksum and text of the last long record that was opened
        self._rebuilt: tuple[bytes, bytes] | None = None  # key and text of the last version that was made of edits

    def close(self) -> None:
        """Drop the LMDB transaction, which its owner ends; every later read is a defect and raises AttributeError."""
        del self.txn

    def find(self, raw: bytes) -> RawRecord | None:
        """Return the record under a whole key, its own checksum verified, or None. Raises Damaged."""
        data = self.data(raw)
        return None if data is None else decode_record(raw, data)

    def data(self, raw: bytes) -> bytes | None:
        """Return the bytes under a whole key, not verified, or None. Raises Damaged where the tree is broken."""
        try:
            return self.txn.get(raw)
        except lmdb.Error as error:
            raise translated_error(error, f"reading {record_name(raw)}") from error

    def bodies(self, raws: Sequence[bytes]) -> list[bytes | None]:
        """Return the verified JSON texts under whole keys, in order, None where nothing is there. Raises Damaged."""
        try:
            rows = list(self.txn.cursor().getmulti(raws))
        except lmdb.Error as error:
            raise translated_error(error, "reading several records") from error
        texts = {
            raw: self.body(raw, decode_record(raw, data)) if body is None else body
            for (raw, data), body in zip(rows, verified_bodies(rows), strict=True)
        }
        return [texts.get(raw) for raw in raws]

    def value(self, raw: bytes, data: bytes) -> dict[str, Any]:
        """Return the JSON object in the bytes under a whole key. Raises Damaged naming the record."""
        value: dict[str, Any] = orjson.loads(self._text(raw, data))
        return value

    def load(self, record_type: type[R], raw: bytes, data: bytes) -> R:
        """Return the typed record in the bytes under a whole key. Raises Damaged naming the record."""
        return decoded(record_type, raw, self._text(raw, data))

    def _text(self, raw: bytes, data: bytes) -> bytes:
        """Return the verified JSON text in the bytes under a whole key. Raises Damaged naming the record."""
        body = verified_body(raw, data)
        if body is None:
            return self.body(raw, decode_record(raw, data))
        if len(body) >= _KEPT_BYTES_MIN:
            self._opened = data[:HASH_BYTES], body
        return body

    def open(self, raw: bytes, record: RawRecord) -> dict[str, Any]:
        """Return the JSON object of a record. Raises Damaged naming it."""
        value: dict[str, Any] = orjson.loads(self.body(raw, record))
        return value

    def body(self, raw: bytes, record: RawRecord) -> bytes:
        """Return the verified JSON text of a record, read from its blob where it has one. Raises Damaged."""
        if record.form == EDIT:
            return self._edited(raw, record)
        if self._opened is not None and self._opened[0] == record.checksum:
            return self._opened[1]
        if record.form == IN_BLOB:
            raw, record = self._blob(raw, record)
        body = record_body(raw, record)
        if len(body) >= _KEPT_BYTES_MIN:
            self._opened = record.checksum, body
        return body

    def _edited(self, raw: bytes, record: RawRecord) -> bytes:
        """Return the JSON text of a version that is an edit of the next one. Raises Damaged naming it.

        The text of the last version that was rebuilt is kept: whoever reads versions from the newest to the oldest
        applies one edit for each.
        """
        edits: list[tuple[bytes, RawRecord]] = []
        while record.form == EDIT and (self._rebuilt is None or self._rebuilt[0] != raw):
            edits.append((raw, record))
            raw, record = self._base(raw, record)
        rebuilt = self._rebuilt
        text = rebuilt[1] if rebuilt is not None and rebuilt[0] == raw else self.body(raw, record)
        for version_raw, edit in reversed(edits):
            made = edited_text(edit.data, text)
            if made is None:
                raise Damaged(
                    f"{record_name(version_raw)} is damaged: its edit does not fit the version after it",
                    hint="run `reverie check`",
                    record=record_name(version_raw),
                )
            text = made
        if edits:
            self._rebuilt = (edits[0][0], text)
        return text

    def _base(self, raw: bytes, record: RawRecord) -> tuple[bytes, RawRecord]:
        """Return key and record of what a version is an edit of: another version, or the current record."""
        prefix = raw[: len(raw) - len(encode_number(record.operation))]
        operation = edit_head(record.data).base
        try:
            for key in (prefix + encode_number(operation), self.space + prefix[len(self.space) + 1 :]):
                base = self.find(key)
                if base is not None and base.operation == operation:
                    return key, base
        except Damaged as error:
            raise self._unreadable(raw, error.message) from error
        raise self._unreadable(raw, f"what operation {operation} wrote is missing")

    def _unreadable(self, raw: bytes, why: str) -> Damaged:
        """Return the error for a version whose text cannot be made because another record is damaged."""
        return Damaged(
            f"{record_name(raw)} cannot be read, because it is an edit of a later version: {why}",
            hint="run `reverie check`",
            record=record_name(raw),
        )

    def sealed_bytes(self, raw: bytes, record: RawRecord) -> bytes:
        """Return the sealed bytes of a record, read from its blob where it has one; not verified. Raises Damaged."""
        return self._blob(raw, record)[1].data if record.form == IN_BLOB else record.data

    def sealed_copy(self, raw: bytes, record: RawRecord) -> Sealed:
        """Return the verified value of a record, to be written again without another redaction. Raises Damaged."""
        if record.form == EDIT:
            return sealed_text(self.body(raw, record))
        try:
            return verified_sealed(self.sealed_bytes(raw, record))
        except Damaged as error:
            raise Damaged(
                f"{record_name(raw)} is damaged: {error.message}", hint=error.hint, record=record_name(raw)
            ) from error

    def _blob(self, raw: bytes, record: RawRecord) -> tuple[bytes, RawRecord]:
        """Return the key and record of the blob that a record refers to. Raises Damaged where it is missing."""
        key = record_key(self.space, Kind.BLOB, (record.address, 1))
        blob = self.find(key)
        if blob is None:
            raise Damaged(
                f"{record_name(raw)} is damaged: its body is missing",
                hint="run `reverie check`",
                record=record_name(raw),
            )
        return key, blob

    def checksum(self, prefix: bytes) -> CollectionChecksum | None:
        """Return the checksum of the collection whose keys begin with `prefix`, or None where it never had one."""
        return stored_checksum(self.txn, checksum_key(self.space, prefix))

    def collections(self, prefix: bytes) -> list[bytes]:
        """Return the key prefixes, of those beginning with `prefix`, of the collections that have a checksum."""
        start = len(self.space) + 1
        return [self.space + key[start:] for key, _ in records(self.txn, checksum_key(self.space, prefix))]


class WriteTransaction(ReadTransaction):
    """The changes of one write to one space, inside one nested LMDB transaction.

    Collection checksums are kept in memory and stored once, by the commit: a hundred writes to one collection then cost
    one record. `checksums` are those that this write has changed; `committed` those changed by earlier writes of the
    same commit, which this write sees. A write that fails takes its own along and leaves `committed` as it was.
    """

    def __init__(
        self, txn: lmdb.Transaction[bytes], space: bytes, at_ms: int, committed: dict[bytes, CollectionChecksum]
    ) -> None:
        super().__init__(txn, space)
        self.at_ms = at_ms
        self.checksums: dict[bytes, CollectionChecksum] = {}
        self._committed = committed

    def checksum(self, prefix: bytes) -> CollectionChecksum | None:
        """Return the checksum as this write sees it, or None where it never had one. The caller must not change it."""
        return self.checksums.get(prefix) or self._committed.get(prefix) or super().checksum(prefix)

    def collections(self, prefix: bytes) -> list[bytes]:
        """Return the stored collections and those that this commit has begun."""
        begun = (part for part in (*self._committed, *self.checksums) if part.startswith(prefix))
        return sorted({*super().collections(prefix), *begun})

    def changing_checksum(self, prefix: bytes) -> CollectionChecksum:
        """Return this write's own copy of a checksum, to be changed."""
        checksum = self.checksums.get(prefix)
        if checksum is None:
            current = self.checksum(prefix)
            checksum = self.checksums[prefix] = CollectionChecksum() if current is None else current.copy()
        return checksum

    def merge_checksums(self) -> None:
        """Let the following writes of the commit see this write's checksums. Call it once the write has succeeded."""
        self._committed.update(self.checksums)

    def put(self, kind: Kind, raw: bytes, operation: int, sealed: Sealed, old: RawRecord | None) -> None:
        """Store a record in place of `old`, a long body in a blob. The blob of `old` is not released here."""
        data = self._inline_or_blob(kind, sealed).data
        self._write(kind, raw, encode_record(raw, operation, self.at_ms, data), old)

    def rewrite(self, kind: Kind, raw: bytes, record: RawRecord, sealed: Sealed) -> None:
        """Replace the value of the record under the key `raw`, but keep the operation and time of `record`.

        The blob of the record is not released here.
        """
        data = self._inline_or_blob(kind, sealed).data
        self._write(kind, raw, encode_record(raw, record.operation, record.at_ms, data), self.find(raw))

    def copy(self, kind: Kind, raw: bytes, record: RawRecord) -> None:
        """Store a record's value, operation and time under another key; the use of its blob passes to the copy."""
        self._write(kind, raw, encode_record(raw, record.operation, record.at_ms, record.data), self.find(raw))

    def _write(self, kind: Kind, raw: bytes, record: bytes, old: RawRecord | None) -> None:
        self._rebuilt = None
        self.txn.put(raw, record)
        checksum = self.changing_checksum(collection_prefix(self.space, kind, raw[len(self.space) + 1 :]))
        if old is not None:
            checksum.remove(old.checksum)
        checksum.add(record[:HASH_BYTES])

    def append(self, kind: Kind, prefix: bytes, operation: int, values: Sequence[Sealed]) -> tuple[int, int]:
        """Store new records at the end of the sequence under `prefix`; return the first and last number.

        Raises Damaged where one of the numbers is in use: then the checksum does not describe the sequence, and writing
        would destroy a record.
        """
        first = self.changing_checksum(prefix).last + 1
        items = []
        for seq, value in enumerate(values, first):
            key = prefix + encode_number(seq)
            data = self._inline_or_blob(kind, value).data
            items.append((key, encode_record(key, operation, self.at_ms, data)))
        if items:
            _, added = self.txn.cursor().putmulti(items, overwrite=False)
            if added != len(items):
                raise Damaged(f"the numbers after {record_name(items[0][0])} are taken", hint="run `reverie check`")
        checksum = self.changing_checksum(prefix)
        checksum.last += len(items)
        for _, record in items:
            checksum.add(record[:HASH_BYTES])
        return first, checksum.last

    def remove(self, kind: Kind, raw: bytes, old: RawRecord) -> None:
        """Delete a record. The blob of `old` is not released here."""
        self._rebuilt = None
        if not self.txn.delete(raw):
            raise Damaged(f"{record_name(raw)} is there and cannot be deleted", hint="run `reverie check`")
        prefix = collection_prefix(self.space, kind, raw[len(self.space) + 1 :])
        self.changing_checksum(prefix).remove(old.checksum)

    def _inline_or_blob(self, kind: Kind, sealed: Sealed) -> Sealed:
        """Return what the record gets: the value, or if it is long a reference to its blob, and count that use.

        A blob is addressed by its content, so records and versions with equal bodies share it.
        """
        if sealed.form == IN_BLOB or len(sealed.data) <= BLOB_BYTES_MIN or kind is Kind.BLOB:
            return sealed
        address = sealed.address
        raw = record_key(self.space, Kind.BLOB, (address, 1))
        uses = self._uses(address)
        if uses == 0:
            self.put(Kind.BLOB, raw, 0, sealed, self.find(raw))
        self._set_uses(address, uses + 1)
        return blob_reference(sealed)

    def release_blob(self, record: RawRecord) -> None:
        """Count one use less of the blob of a record that goes away, if it has one; at 0 the blob is deleted."""
        if record.form != IN_BLOB:
            return
        address = record.address
        uses = self._uses(address) - 1
        if uses > 0:
            self._set_uses(address, uses)
            return
        for part in (0, 1):  # the use count and the body
            raw = record_key(self.space, Kind.BLOB, (address, part))
            old = self.find(raw)
            if old is not None:
                self.remove(Kind.BLOB, raw, old)

    def _uses(self, address: str) -> int:
        raw = record_key(self.space, Kind.BLOB, (address, 0))
        record = self.find(raw)
        return 0 if record is None else int(self.open(raw, record)["uses"])

    def _set_uses(self, address: str, uses: int) -> None:
        raw = record_key(self.space, Kind.BLOB, (address, 0))
        self.put(Kind.BLOB, raw, 0, seal_own({"uses": uses}), self.find(raw))
