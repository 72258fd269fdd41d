"""Finds records of one space in one transaction, each verified to be the one that was put there."""

from __future__ import annotations

from typing import Any, TypeVar

import lmdb
import orjson

from reverie.errors import Damaged
from reverie.store.codec import EXTERNAL, Record, Sealed, arrived, unbind, verified_body, whole_body
from reverie.store.collection_checksum import Tally, tally_key
from reverie.store.integrity import records, stored_tally
from reverie.store.keys import name, record_key
from reverie.store.lmdb_errors import translate
from reverie.store.records import StoredRecord, decoded
from reverie.store.schema import Kind

__all__ = ["Lookup"]

R = TypeVar("R", bound=StoredRecord)


class Lookup:
    """Records of one space by their whole keys. What LMDB raises comes out as an error of the design."""

    def __init__(self, txn: lmdb.Transaction[bytes], space: bytes) -> None:
        self.txn = txn
        self.space = space

    def find(self, raw: bytes) -> Record | None:
        """The record under a whole key, its place verified. Raises Damaged."""
        data = self.data(raw)
        return None if data is None else unbind(raw, data)

    def data(self, raw: bytes) -> bytes | None:
        """The bytes under a whole key, not verified. Raises Damaged where LMDB cannot find its way."""
        try:
            return self.txn.get(raw)
        except lmdb.Error as error:
            raise translate(error, f"reading {name(raw)}") from error

    def value(self, raw: bytes, data: bytes) -> dict[str, Any]:
        """Return the JSON object in the bytes under a whole key. Raises Damaged naming the record."""
        body = whole_body(raw, data)
        value: dict[str, Any] = orjson.loads(self.body(raw, unbind(raw, data)) if body is None else body)
        return value

    def load(self, record_type: type[R], raw: bytes, data: bytes) -> R:
        """Return the typed record in the bytes under a whole key. Raises Damaged naming the record."""
        body = whole_body(raw, data)
        return decoded(record_type, raw, self.body(raw, unbind(raw, data)) if body is None else body)

    def open(self, raw: bytes, record: Record) -> dict[str, Any]:
        """Return the JSON object of a record. Raises Damaged naming it."""
        value: dict[str, Any] = orjson.loads(self.body(raw, record))
        return value

    def body(self, raw: bytes, record: Record) -> bytes:
        """Return the verified JSON text of a record, fetched from its blob where it has one. Raises Damaged."""
        if record.form == EXTERNAL:
            raw, record = self._blob(raw, record)
        return verified_body(raw, record)

    def sealed(self, raw: bytes, record: Record) -> bytes:
        """The sealed bytes of a record, fetched from its blob where it has one; not verified. Raises Damaged."""
        return self._blob(raw, record)[1].data if record.form == EXTERNAL else record.data

    def again(self, raw: bytes, record: Record) -> Sealed:
        """What a record holds, to be written once more. Raises Damaged."""
        try:
            return arrived(self.sealed(raw, record))
        except Damaged as error:
            raise Damaged(f"{name(raw)} is damaged: {error.message}", hint=error.hint, record=name(raw)) from error

    def _blob(self, raw: bytes, record: Record) -> tuple[bytes, Record]:
        key = record_key(self.space, Kind.BLOB, (record.address, 1))
        blob = self.find(key)
        if blob is None:
            raise Damaged(f"{name(raw)} is damaged: its body is missing", hint="run `reverie check`", record=name(raw))
        return key, blob

    def tally(self, prefix: bytes) -> Tally | None:
        """The tally of the collection whose keys begin with `prefix`, or None where none was ever kept."""
        return stored_tally(self.txn, tally_key(self.space, prefix))

    def collections(self, prefix: bytes) -> list[bytes]:
        """The collections that have a tally and whose own prefix begins with `prefix`."""
        start = len(self.space) + 1
        return [self.space + key[start:] for key, _ in records(self.txn, tally_key(self.space, prefix))]
