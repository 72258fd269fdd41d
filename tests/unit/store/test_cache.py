"""A cached record is what the snapshot of its reader has, whatever was written, taken back or compacted meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.store import AccessRecord, Kind, Reader, RecordCache, Store, Writer
from reverie.store import cache as store_cache
from support.soak import count
from support.stores import AT, SPACE, opened, write

IDS = [f"m{number}" for number in range(6)]


def a_cache() -> RecordCache[AccessRecord, int]:
    """Return a cache of the number in a record."""
    return RecordCache(AccessRecord, lambda record: record.count)


def saves(memory_id: str, number: int) -> Callable[[Writer], object]:
    """Return the body of a write."""
    return lambda writer: writer.save(AccessRecord(count=number, at=AT), (memory_id,))


def test_what_is_cached_is_what_the_snapshot_has(tmp_path: Path) -> None:
    """A cached record equals the snapshot's after any writes, deletions, rewrites and compactions, for every reader."""
    pick = random.Random(5)
    cache = a_cache()

    def refused(writer: Writer) -> None:
        saves(pick.choice(IDS), -1)(writer)
        raise ValueError

    def change(store: Store) -> None:
        match pick.randrange(6):
            case 0 | 1:
                write(store, saves(pick.choice(IDS), pick.randrange(100)))
            case 2:
                write(store, lambda writer: writer.delete(Kind.ACCESS, (pick.choice(IDS),)))
            case 3:
                number = pick.randrange(100)
                write(
                    store, lambda writer: writer.rewrite(Kind.ACCESS, (pick.choice(IDS),), lambda _: {"count": number})
                )
            case 4:
                with pytest.raises(ValueError, match=r"^$"):
                    write(store, refused)
            case _:
                store.compact()

    with opened(tmp_path) as store:
        for _ in range(count(40, 5_000)):
            with store.reader(SPACE) as old:
                for memory_id in pick.sample(IDS, 3):
                    assert cache.load(old, (memory_id,)) == number_of(old, memory_id)
                for _ in range(pick.randrange(3)):
                    write(store, saves(pick.choice(IDS), pick.randrange(100)))
                    with store.reader(SPACE) as new:
                        for reader in (old, new, old):
                            memory_id = pick.choice(IDS)
                            assert cache.load(reader, (memory_id,)) == number_of(reader, memory_id)
            change(store)


def test_all_values_are_those_of_the_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The values of all records are the store's after any writes and deletions; unchanged records are not opened."""
    pick = random.Random(7)
    made: list[int] = []

    def make(record: AccessRecord) -> int:
        made.append(record.count)
        return record.count

    cache = RecordCache(AccessRecord, make)
    with opened(tmp_path) as store:
        for turn in range(count(30, 2_000)):
            monkeypatch.setattr(store_cache, "RECORDS_MAX", 3 if turn % 10 == 9 else 2_000)
            memory_id = pick.choice(IDS)
            if pick.randrange(3):
                write(store, saves(memory_id, turn))
            else:
                write(store, lambda writer: writer.delete(Kind.ACCESS, (memory_id,)))  # noqa: B023 - called at once
            with store.reader(SPACE) as reader:
                stored = [record.count for _, record in reader.records(AccessRecord)]
                assert list(cache.values(reader)) == stored
                if turn % 10 != 9:
                    assert len(cache) == len(stored)
                    made.clear()
                    assert list(cache.values(reader)) == stored
                    assert made == []


def number_of(reader: Reader, memory_id: str) -> int | None:
    """Return the number in a record, read from the store."""
    record = reader.load(AccessRecord, (memory_id,))
    return None if record is None else record.count


def test_a_record_is_read_again_only_after_a_change(tmp_path: Path) -> None:
    """A record of another snapshot is decoded again only if its checksum changed."""
    made: list[int] = []

    def make(record: AccessRecord) -> int:
        made.append(record.count)
        return record.count

    cache = RecordCache(AccessRecord, make)
    with opened(tmp_path) as store:
        for number, expected in ((1, [1]), (1, [1]), (2, [1, 2])):
            write(store, saves("m0", number))
            write(store, saves("other", number))
            for _ in range(2):
                with store.reader(SPACE) as reader:
                    assert cache.load(reader, ("m0",)) == number
            assert made == expected
        cache.clear()
        with store.reader(SPACE) as reader:
            assert cache.load(reader, ("m0",)) == 2
        assert made == [1, 2, 2]


def test_what_is_kept_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache is bounded by its number of records, missing ones included, and by bytes; the oldest are dropped."""
    monkeypatch.setattr(store_cache, "RECORDS_MAX", 4)
    cache = a_cache()
    with opened(tmp_path) as store:
        write(store, lambda writer: [saves(memory_id, 1)(writer) for memory_id in IDS])
        with store.reader(SPACE) as reader:
            assert [cache.load(reader, (memory_id,)) for memory_id in [*IDS, "none"]] == [1] * len(IDS) + [None]
            assert len(cache) == 4
            monkeypatch.setattr(store_cache, "STORED_BYTES_MAX", 1)
            assert cache.load(reader, ("m0",)) == 1
            assert len(cache) == 0
            assert cache.load(reader, ("m0",)) == 1


def test_a_value_that_is_forgotten_leaves_nothing(tmp_path: Path) -> None:
    """A forgotten value leaves neither entry nor bytes in the cache, and is read from the store again when needed."""
    cache = a_cache()
    with opened(tmp_path) as store:
        write(store, saves("m1", 7))
        with store.reader(SPACE) as reader:
            assert cache.load(reader, ("m1",)) == 7
            cache.forget(("m1",))
            cache.forget(("m1",))
            assert (len(cache), cache._bytes) == (0, 0)
            assert cache.load(reader, ("m1",)) == 7
