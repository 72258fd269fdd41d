"""Values made of records that are read again and again, each for as long as the store has its record unchanged."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from reverie.store.codec import HASH_BYTES
from reverie.store.keys import record_key
from reverie.store.records import StoredRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie.store.kinds import Key
    from reverie.store.reader import Reader
    from reverie.store.transactions import Snapshot

R = TypeVar("R", bound=StoredRecord)
V = TypeVar("V")

# Values of one cache: with the about 170 bytes of a memory of one line, a third of the limit of bytes. Of more records
# `values` caches none, since each would be dropped before it is needed again. Set by hand.
RECORDS_MAX: Final = 2_000
STORED_BYTES_MAX: Final = 1_000_000  # of all records together, as the store has them: packed, so several times less


class _Entry(NamedTuple, Generic[V]):
    """A value, the last snapshot in which its record was seen, and what the record was: its checksum and size."""

    snapshot: Snapshot
    checksum: bytes  # empty where there was no record
    value: V | None
    size: int


class RecordCache(Generic[R, V]):
    """LRU cache of the values that `make` returns for records of one type in one space. Not thread-safe.

    Nothing needs to tell it of changes. In the snapshot of its last read a value is returned as it is, in another one
    after a comparison of the record's checksum, which covers key, operation, time and content.
    """

    def __init__(self, record_type: type[R], make: Callable[[R], V]) -> None:
        """Create a cache without values; `make` returns the value of a record of `record_type`."""
        self._type = record_type
        self._make = make
        self._entries: OrderedDict[Key, _Entry[V]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        """Return the number of values that are kept."""
        return len(self._entries)

    def load(self, reader: Reader, key: Key) -> V | None:
        """Return the value made of the record under `key`, from the cache or anew; None without one. Raises Damaged.

        The writer of a commit is no reader for this: what it sees may be taken back.
        """
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
            if entry.snapshot == reader.snapshot:
                return entry.value
        return self._read(reader, key, entry)

    def values(self, reader: Reader) -> Iterator[V]:
        """Yield the values of all records of the type, by their keys; those of unchanged records are not made anew.

        They are cached only where there are few enough: of more, each would be dropped before it is needed again. What
        the store no longer has is dropped at the end.
        """
        assert reader.snapshot is not None
        if reader.count(self._type.KIND) > RECORDS_MAX:
            self.clear()
            yield from (self._make(record) for _, record in reader.records(self._type))
            return
        for raw, key, data in reader.stored(self._type.KIND):
            before, checksum = self._entries.get(key), data[:HASH_BYTES]
            if before is None or before.checksum != checksum or before.value is None:
                value = self._make(reader.transaction.load(self._type, raw, data))
                self._put(key, _Entry(reader.snapshot, checksum, value, len(data)), before)
            else:
                value = before.value
                self._entries[key] = before._replace(snapshot=reader.snapshot)
            yield value
        for key in [key for key, entry in self._entries.items() if entry.snapshot != reader.snapshot]:
            self.forget(key)

    def forget(self, key: Key) -> None:
        """Drop the value of a record that the store no longer has, if it is cached."""
        entry = self._entries.pop(key, None)
        self._bytes -= entry.size if entry is not None else 0

    def clear(self) -> None:
        """Drop every cached value."""
        self._entries.clear()
        self._bytes = 0

    def _read(self, reader: Reader, key: Key, before: _Entry[V] | None) -> V | None:
        """Return the value of the record in the snapshot, made anew if the record changed; None without one."""
        assert reader.snapshot is not None
        raw = record_key(reader.transaction.space, self._type.KIND, key)
        data = reader.transaction.data(raw)
        if data is None:
            reader.load(self._type, key)  # verifies that nothing is there
            self._put(key, _Entry(reader.snapshot, b"", None, 0), before)
            return None
        checksum = data[:HASH_BYTES]
        if before is not None and before.checksum == checksum:
            self._entries[key] = before._replace(snapshot=reader.snapshot)
            return before.value
        value = self._make(reader.transaction.load(self._type, raw, data))
        self._put(key, _Entry(reader.snapshot, checksum, value, len(data)), before)
        return value

    def _put(self, key: Key, entry: _Entry[V], before: _Entry[V] | None) -> None:
        """Cache a value in place of the previous one; drop the oldest ones beyond the limits of records and bytes."""
        self._bytes += entry.size - (before.size if before is not None else 0)
        self._entries[key] = entry
        while len(self._entries) > RECORDS_MAX or self._bytes > STORED_BYTES_MAX:
            _, oldest = self._entries.popitem(last=False)
            self._bytes -= oldest.size
