"""The records of one write while it is being made: puts and removals with the tallies that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.errors import Damaged
from reverie.store.codec import EXTERNAL, HASH_BYTES, Record, Sealed, bind, pointer, seal_own
from reverie.store.collection_checksum import Tally, collection
from reverie.store.keys import name, number, record_key
from reverie.store.lookup import Lookup
from reverie.store.schema import BLOB_BYTES_MIN, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    import lmdb

__all__ = ["Draft"]


class Draft(Lookup):
    """Changes to records of one space inside one nested transaction.

    `tallies` are those changed by this write; `settled` those changed by earlier writes of the same commit.
    """

    def __init__(self, txn: lmdb.Transaction[bytes], space: bytes, at_ms: int, settled: dict[bytes, Tally]) -> None:
        super().__init__(txn, space)
        self.at_ms = at_ms
        self.tallies: dict[bytes, Tally] = {}
        self._settled = settled

    def tally(self, prefix: bytes) -> Tally | None:
        """The tally as this write sees it, or None where none was ever kept. Not to be changed by the caller."""
        return self.tallies.get(prefix) or self._settled.get(prefix) or super().tally(prefix)

    def collections(self, prefix: bytes) -> list[bytes]:
        """As stored, and those that this commit has begun."""
        begun = (part for part in (*self._settled, *self.tallies) if part.startswith(prefix))
        return sorted({*super().collections(prefix), *begun})

    def changing(self, prefix: bytes) -> Tally:
        """The tally as this write will leave it."""
        tally = self.tallies.get(prefix)
        if tally is None:
            known = self.tally(prefix)
            tally = self.tallies[prefix] = Tally() if known is None else known.copy()
        return tally

    def settle(self) -> None:
        """Hand the tallies of a write that succeeded to those that follow it in the same commit."""
        self._settled.update(self.tallies)

    def put(self, kind: Kind, raw: bytes, operation: int, sealed: Sealed, old: Record | None) -> None:
        """Write a record in the place of `old`. A long body goes to its blob; the blob of `old` is not touched."""
        self._write(kind, raw, bind(raw, operation, self.at_ms, self.placed(kind, sealed).data), old)

    def copy(self, kind: Kind, raw: bytes, record: Record) -> None:
        """Write what `record` holds, with its operation and time, under another key; its blob is not touched."""
        self._write(kind, raw, bind(raw, record.operation, record.at_ms, record.data), self.find(raw))

    def _write(self, kind: Kind, raw: bytes, record: bytes, old: Record | None) -> None:
        self.txn.put(raw, record)
        tally = self.changing(collection(self.space, kind, raw[len(self.space) + 1 :]))
        if old is not None:
            tally.remove(old.bound)
        tally.add(record[:HASH_BYTES])

    def extend(self, kind: Kind, prefix: bytes, operation: int, values: Sequence[Sealed]) -> tuple[int, int]:
        """Write new records at the end of the sequence under `prefix`; first and last number given.

        Raises Damaged where one of the numbers is taken already.
        """
        first = self.changing(prefix).last + 1
        items = []
        for seq, value in enumerate(values, first):
            key = prefix + number(seq)
            items.append((key, bind(key, operation, self.at_ms, self.placed(kind, value).data)))
        if items:
            _, added = self.txn.cursor().putmulti(items, overwrite=False)
            if added != len(items):
                raise Damaged(f"the numbers after {name(items[0][0])} are taken", hint="run `reverie check`")
        tally = self.changing(prefix)
        tally.last += len(items)
        for _, record in items:
            tally.add(record[:HASH_BYTES])
        return first, tally.last

    def remove(self, kind: Kind, raw: bytes, old: Record) -> None:
        """Take a record away. The blob of `old` is not touched."""
        if not self.txn.delete(raw):
            raise Damaged(f"{name(raw)} is there and cannot be deleted", hint="run `reverie check`")
        self.changing(collection(self.space, kind, raw[len(self.space) + 1 :])).remove(old.bound)

    def placed(self, kind: Kind, sealed: Sealed) -> Sealed:
        """What goes into the record: the value, or where it is long the address of the blob it now has."""
        if sealed.form == EXTERNAL or len(sealed.data) <= BLOB_BYTES_MIN or kind is Kind.BLOB:
            return sealed
        address = sealed.address
        raw = record_key(self.space, Kind.BLOB, (address, 1))
        uses = self._uses(address)
        if uses == 0:
            self.put(Kind.BLOB, raw, 0, sealed, self.find(raw))
        self._set_uses(address, uses + 1)
        return pointer(sealed)

    def let_go(self, record: Record) -> None:
        """Count one record less that needs the blob of `record`; the last one takes the blob along."""
        if record.form != EXTERNAL:
            return
        address = record.address
        uses = self._uses(address) - 1
        if uses > 0:
            self._set_uses(address, uses)
            return
        for part in (0, 1):
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
