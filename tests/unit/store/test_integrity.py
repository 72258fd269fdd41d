"""Damaged records are named and never returned, missing ones are noticed, and all others can still be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import lmdb
import pytest

from reverie.errors import Damaged
from reverie.store import Kind, Reader, Store, Writer, checksums, seal
from reverie.store.checksums import CollectionChecksum, checksum_key, header_key, root_key, walk_collection
from reverie.store.codec import HASH_BYTES, encode_record, seal_own
from reverie.store.keys import encode_key, kind_prefix, space_prefix
from support.stores import MASKING, SPACE, noise, opened, put, raw, raw_key, write

SPACE_BYTES = space_prefix(SPACE)
M2 = raw_key(Kind.MEMORY, ("m2",))
MEMORIES = kind_prefix(SPACE_BYTES, Kind.MEMORY)


def _filled(path: Path) -> None:
    def body(w: Writer) -> None:
        for number in range(1, 5):
            w.put(Kind.MEMORY, (f"m{number}",), {"n": number})
            w.append(Kind.ENTRY, ("t",), {"n": number})
            w.append(Kind.ENTRY, ("u",), {"n": number})
            w.event("x", {"n": number})
        w.put(Kind.DOCUMENT, ("long.md",), {"text": noise(100_000)})

    with opened(path) as store:
        write(store, body)
        put(store, Kind.MEMORY, ("m1",), {"n": 11})


@pytest.fixture
def filled(path: Path) -> Path:
    _filled(path)
    return path


def _check_read(path: Path, read: Callable[[Reader], Any], says: str | None) -> None:
    """Assert that `read` raises Damaged with `says` in its text, twice; or, without `says`, that it does not."""
    with opened(path) as store, store.reader(SPACE) as reader:
        for _ in range(2):
            if says is None:
                read(reader)
                continue
            with pytest.raises(Damaged, match=says) as caught:
                read(reader)
            assert caught.value.hint


def _flip(txn: lmdb.Transaction[bytes], key: bytes, at: int) -> None:
    data = bytearray(txn.get(key) or b"")
    data[at] ^= 1
    txn.put(key, data)


@pytest.mark.parametrize("at", [0, 20, 30, 40, 48, 49, -1])
def test_a_damaged_record_is_named_and_others_can_be_read(filled: Path, at: int) -> None:
    with raw(filled) as txn:
        _flip(txn, M2, at)
    _check_read(filled, lambda r: r.get(Kind.MEMORY, ("m2",)), "memory m2 of space default is damaged")
    _check_read(filled, lambda r: r.get(Kind.MEMORY, ("m1",)), None)
    _check_read(filled, lambda r: r.get_many(Kind.MEMORY, [("m1",), ("m2",)]), "memory m2 of space default is damaged")
    _check_read(filled, lambda r: r.get_many(Kind.MEMORY, [("m1",), ("m3",)]), None)
    _check_read(filled, lambda r: list(r.scan(Kind.MEMORY)), "memory")
    _check_read(filled, lambda r: list(r.scan(Kind.ENTRY, ("t",))), None)


def test_a_damaged_record_cannot_be_replaced(filled: Path) -> None:
    with raw(filled) as txn:
        _flip(txn, M2, 20)
    with opened(filled) as store:
        with pytest.raises(Damaged, match="memory m2"):
            put(store, Kind.MEMORY, ("m2",), {"n": 0})
        put(store, Kind.MEMORY, ("m3",), {"n": 0})


def test_a_missing_record_is_not_read_as_absent(filled: Path) -> None:
    with raw(filled) as txn:
        txn.delete(M2)
    whole = "collection memory of space default is not whole: 4 records counted, 3 found"
    _check_read(filled, lambda r: r.get(Kind.MEMORY, ("m2",)), whole)
    _check_read(filled, lambda r: r.get(Kind.MEMORY, ("m9",)), whole)
    _check_read(filled, lambda r: r.version(Kind.MEMORY, ("m9",)), whole)
    _check_read(filled, lambda r: list(r.scan(Kind.MEMORY)), whole)
    _check_read(filled, lambda r: r.history(Kind.MEMORY, ("m2",)), whole)
    _check_read(filled, lambda r: r.get(Kind.MEMORY, ("m1",)), None)
    _check_read(filled, lambda r: r.get(Kind.NOTE, ("t", "n")), None)
    with opened(filled) as store, pytest.raises(Damaged, match="not whole"):
        put(store, Kind.MEMORY, ("m2",), {"n": 0})


def test_an_old_record_put_back_is_noticed(filled: Path) -> None:
    """The old record is valid in itself and in its place: only the collection checksum differs."""
    with opened(filled) as store:
        put(store, Kind.MEMORY, ("m2",), {"n": 22})
    with raw(filled) as txn:
        old = txn.get(kind_prefix(SPACE_BYTES, Kind.VERSION) + M2[len(SPACE_BYTES) :] + encode_key((1,)))
        assert old
        txn.put(M2, encode_record(M2, 1, 0, old[32:]))
    _check_read(filled, lambda r: list(r.scan(Kind.MEMORY)), "not whole")


def test_a_record_under_another_key_is_noticed(filled: Path) -> None:
    with raw(filled) as txn:
        txn.put(M2, txn.get(raw_key(Kind.MEMORY, ("m3",))) or b"")
    _check_read(filled, lambda r: r.get(Kind.MEMORY, ("m2",)), "memory m2 of space default is damaged")


@pytest.mark.parametrize("lost", [1, 2, 4])
def test_a_gap_in_a_sequence_is_named(filled: Path, lost: int) -> None:
    with raw(filled) as txn:
        txn.delete(raw_key(Kind.ENTRY, ("t", lost)))
    says = f"entry t/{lost} of space default is missing"
    _check_read(filled, lambda r: list(r.scan(Kind.ENTRY, ("t",))), says)
    _check_read(filled, lambda r: list(r.scan(Kind.ENTRY, ("t",), reverse=True)), says)
    _check_read(filled, lambda r: list(r.scan(Kind.ENTRY, ("t",), after=("t", lost - 1), limit=1)), says)
    _check_read(filled, lambda r: r.get(Kind.ENTRY, ("t", lost)), says)
    _check_read(filled, lambda r: r.get_many(Kind.ENTRY, [("t", 5), ("t", lost)]), says)
    _check_read(filled, lambda r: r.get(Kind.ENTRY, ("t", 5)), None)
    _check_read(filled, lambda r: list(r.scan(Kind.ENTRY, ("u",))), None)
    _check_read(filled, lambda r: list(r.scan(Kind.ENTRY)), "entry t of space default is not whole")


def test_an_extra_record_in_a_sequence_is_noticed(filled: Path) -> None:
    key = raw_key(Kind.ENTRY, ("t", 5))
    with raw(filled) as txn:
        txn.put(key, encode_record(key, 1, 0, seal({}, MASKING).data))
    _check_read(filled, lambda r: list(r.scan(Kind.ENTRY, ("t",))), "entry t/5")
    with opened(filled) as store, pytest.raises(Damaged, match="are taken"):
        write(store, lambda w: w.append(Kind.ENTRY, ("t",), {}))


def test_a_record_outside_of_every_collection_is_noticed(filled: Path) -> None:
    key = raw_key(Kind.ENTRY, ("v", 1))
    with raw(filled) as txn:
        txn.put(key, encode_record(key, 1, 0, seal({}, MASKING).data))
    _check_read(filled, lambda r: list(r.scan(Kind.ENTRY)), "collection entry of space default is not whole")
    _check_read(filled, lambda r: list(r.scan(Kind.ENTRY, ("v",))), "entry v/1")


def test_a_missing_body_is_noticed(filled: Path) -> None:
    with raw(filled) as txn:
        cursor = txn.cursor()
        prefix = kind_prefix(SPACE_BYTES, Kind.BLOB)
        assert cursor.set_range(prefix)
        for key in [key for key, _ in cursor.iternext() if key.startswith(prefix)]:
            txn.delete(key)
    _check_read(filled, lambda r: r.get(Kind.DOCUMENT, ("long.md",)), "document .* its body is missing")
    _check_read(filled, lambda r: r.at_version(Kind.DOCUMENT, ("long.md",), 1), "its body is missing")


def test_a_damaged_body_is_named(filled: Path) -> None:
    with raw(filled) as txn:
        cursor = txn.cursor()
        prefix = kind_prefix(SPACE_BYTES, Kind.BLOB)
        assert cursor.set_range(prefix)
        (body,) = [key for key, data in cursor.iternext() if key.startswith(prefix) and len(data) > 1000]
        _flip(txn, body, -1)
    _check_read(filled, lambda r: r.get(Kind.DOCUMENT, ("long.md",)), "blob .* is damaged")
    _check_read(filled, lambda r: r.at_version(Kind.DOCUMENT, ("long.md",), 1), "document .* is damaged")


def _checksum_gone(txn: lmdb.Transaction[bytes]) -> None:
    txn.delete(checksum_key(SPACE_BYTES, MEMORIES))


def _checksum_bad(txn: lmdb.Transaction[bytes]) -> None:
    _flip(txn, checksum_key(SPACE_BYTES, MEMORIES), -1)


def _collection_gone(txn: lmdb.Transaction[bytes]) -> None:
    """Delete a collection and its checksum: only the space's root still covers it."""
    _checksum_gone(txn)
    for number in range(1, 5):
        txn.delete(raw_key(Kind.MEMORY, (f"m{number}",)))


def _root_gone(txn: lmdb.Transaction[bytes]) -> None:
    txn.delete(root_key(SPACE_BYTES))


def _space_gone(txn: lmdb.Transaction[bytes]) -> None:
    cursor = txn.cursor()
    assert cursor.set_range(SPACE_BYTES)
    for key in [key for key, _ in cursor.iternext() if key.startswith(SPACE_BYTES)]:
        txn.delete(key)


def _checksum_short(txn: lmdb.Transaction[bytes]) -> None:
    key = checksum_key(SPACE_BYTES, MEMORIES)
    txn.put(key, encode_record(key, 0, 0, seal_own({"count": 4}).data))


@pytest.mark.parametrize(
    "damage", [_checksum_gone, _checksum_bad, _checksum_short, _collection_gone, _root_gone, _space_gone]
)
def test_damage_to_checksums_roots_and_header_is_noticed(
    filled: Path, damage: Callable[[lmdb.Transaction[bytes]], None]
) -> None:
    with raw(filled) as txn:
        damage(txn)
    _check_read(filled, lambda r: r.get(Kind.MEMORY, ("nobody",)), "checksum|space")
    with opened(filled) as store, store.reader("elsewhere") as reader:
        if damage in (_checksum_gone, _checksum_bad, _checksum_short, _collection_gone):
            assert reader.get(Kind.MEMORY, ("m",)) is None


def test_a_lost_operation_log_does_not_begin_again(filled: Path) -> None:
    """A write raises Damaged if the checksum of the operation log is gone; else its numbers would begin at 1 again."""
    with raw(filled) as txn:
        txn.delete(checksum_key(SPACE_BYTES, kind_prefix(SPACE_BYTES, Kind.OPERATION)))
    with opened(filled) as store, pytest.raises(Damaged, match="tally"):
        put(store, Kind.MEMORY, ("m2",), {"n": 0})


def test_a_damaged_header_is_refused(filled: Path) -> None:
    with raw(filled) as txn:
        _flip(txn, header_key(), 60)
    with pytest.raises(Damaged, match="header"):
        opened(filled)


def test_a_collection_is_verified_once_and_stays_verified_after_writes(store: Store) -> None:
    for number in range(20):
        put(store, Kind.MEMORY, (f"m{number % 7}",), {"n": number})
        with store.reader(SPACE) as reader:
            assert reader.get(Kind.MEMORY, ("nobody",)) is None
            assert reader.count(Kind.MEMORY) == len(list(reader.scan(Kind.MEMORY)))
    whole = set(store._verified._whole)
    assert MEMORIES in whole


def test_what_is_known_of_single_threads_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of verified threads drops threads without an outline, and keeps at most the limit of the others."""
    monkeypatch.setattr(checksums, "PARTS_MAX", 3)
    kept = store._verified._parts

    def parts_of(thread: str) -> int:
        with store.reader(SPACE) as reader:
            return len(list(reader.scan(Kind.OUTLINE, (thread,))))

    for number in range(20):
        assert parts_of(f"nobody-{number}") == 0
        put(store, Kind.OUTLINE, (f"t{number}", 1), {"n": number})
        assert parts_of(f"t{number}") == 1
        write(store, lambda w, number=number: w.delete(Kind.OUTLINE, (f"t{number}", 1)))
        assert not kept
    for number in range(5):
        put(store, Kind.OUTLINE, (f"t{number}", 1), {"n": number})
        assert parts_of(f"t{number}") == 1
    assert len(kept) == 3
    assert parts_of("t0") == 1


def test_the_checksum_equals_that_of_a_walk(store: Store) -> None:
    """After puts, replacements, deletions and appends, collection checksums equal those computed from all records."""

    def body(w: Writer) -> None:
        for number in range(50):
            w.put(Kind.MEMORY, (f"m{number % 9}",), {"n": number})
            w.append(Kind.ENTRY, (f"t{number % 3}",), {"n": number})
            if number % 4 == 0:
                w.delete(Kind.MEMORY, (f"m{number % 9}",))

    for _ in range(3):
        write(store, body)
    with store.reader(SPACE) as reader:
        collections = reader.transaction.collections(SPACE_BYTES)
        assert len(collections) >= 6
        for prefix in collections:
            checksum = reader.transaction.checksum(prefix)
            assert checksum is not None
            assert walk_collection(reader.transaction.txn, prefix).same_records(checksum)


class _Astray:
    """A transaction in which some keys are found by walking but not by lookup."""

    def __init__(self, txn: lmdb.Transaction[bytes]) -> None:
        self._txn = txn

    def cursor(self) -> lmdb.Cursor[bytes]:
        return self._txn.cursor()

    def get(self, key: bytes) -> bytes | None:
        return None if key == M2 else self._txn.get(key)


def test_a_tree_that_misleads_lookups_is_noticed(filled: Path) -> None:
    with opened(filled) as store, store.reader(SPACE) as reader:
        with pytest.raises(Damaged, match="not found by lookup"):
            walk_collection(_Astray(reader.transaction.txn), MEMORIES)  # type: ignore[arg-type] # stands in for a damaged file
        assert walk_collection(reader.transaction.txn, MEMORIES).count == 4


class _Failing:
    """A transaction whose every call finds a bad page."""

    def __init__(self, error: lmdb.Error) -> None:
        self._error = error

    def cursor(self) -> None:
        raise self._error

    def get(self, _: bytes) -> None:
        raise self._error


def test_a_bad_page_raises_damaged_with_the_record_named(store: Store) -> None:
    put(store, Kind.MEMORY, ("m",), {})
    with store.reader(SPACE) as reader:
        reader.transaction.txn = _Failing(lmdb.CorruptedError("bad page"))  # type: ignore[assignment] # stands in for damage
        with pytest.raises(Damaged, match="memory m of space default"):
            reader.get(Kind.MEMORY, ("m",))
    with store.reader(SPACE) as reader:
        list(reader.scan(Kind.MEMORY))
        reader.transaction.txn = _Failing(lmdb.CorruptedError("bad page"))  # type: ignore[assignment] # stands in for damage
        with pytest.raises(Damaged, match="reading from memory"):
            list(reader.scan(Kind.MEMORY))


class _Disorder(_Failing):
    def __init__(self) -> None:
        self.items = [(MEMORIES + b"\x02b\x00", b""), (MEMORIES + b"\x02a\x00", b"")]

    def cursor(self) -> Any:
        return self

    def set_range(self, _: bytes) -> bool:
        return True

    def iternext(self, **_: bool) -> Any:
        return iter(self.items)


def test_keys_out_of_order_are_damage() -> None:
    with pytest.raises(Damaged, match=r"out of order|does not fit"):
        walk_collection(_Disorder(), MEMORIES)  # type: ignore[arg-type] # stands in for damage


def test_removing_what_was_added_gives_the_empty_checksum() -> None:
    checksum = CollectionChecksum()
    for number in range(9):
        checksum.add(bytes((number,)) * HASH_BYTES)
    for number in range(9):
        checksum.remove(bytes((number,)) * HASH_BYTES)
    assert checksum == CollectionChecksum()
