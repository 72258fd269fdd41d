"""Access counts: counted at once, written in batches, each access once in every snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reverie.store import AccessCursor, AccessRecord, Done, Kind, Store, Write
from reverie.usecases import access_counts
from reverie.usecases.access_counts import AccessCounts
from support.stores import AT, SPACE, opened, put, write

LATER = "2026-11-21T10:00:00.000Z"


@contextmanager
def memories(path: Path) -> Iterator[Store]:
    """Open a store with the memories a, b and c."""
    with opened(path) as store:
        for name in "abc":
            put(store, Kind.MEMORY, (name,), {"id": name})
        yield store


def committed(store: Store, write: Write[int]) -> int:
    """Commit a write of access counts; return the batch's number."""
    [outcome] = store.commit([write], at=AT)
    done: Done[int] = outcome  # type: ignore[assignment]  # a failure has no `value`, and fails the test
    return done.value


def count_of(store: Store, counts: AccessCounts, memory_id: str) -> int:
    """Return the access count of a memory in a new snapshot."""
    with store.reader(SPACE) as reader:
        return counts.counted(reader, [memory_id])[0].count


def test_an_access_is_visible_before_and_after_it_is_written(tmp_path: Path) -> None:
    """An access is counted once in each snapshot, before its batch is committed, meanwhile and after."""
    counts = AccessCounts("run")
    with memories(tmp_path) as store:
        counts.count(SPACE, ["a", "b"], at=AT)
        counts.count(SPACE, ["a"], at=LATER)
        assert (count_of(store, counts, "a"), count_of(store, counts, "b"), count_of(store, counts, "c")) == (2, 1, 0)
        [write] = counts.writes(SPACE)
        counts.count(SPACE, ["a"], at=LATER)
        with store.reader(SPACE) as before:
            number = committed(store, write)
            assert counts.counted(before, ["a"])[0].count == 3
            assert count_of(store, counts, "a") == 3
            counts.committed(SPACE, number)
            assert counts.counted(before, ["a"])[0].count == 3
        assert count_of(store, counts, "a") == 3
        with store.reader(SPACE) as reader:
            assert reader.load(AccessRecord, ("a",)) == AccessRecord(count=2, at=LATER)


def test_a_batch_that_is_committed_twice_counts_once(tmp_path: Path) -> None:
    """A batch of access counts that is committed twice counts once."""
    counts = AccessCounts("run")
    with memories(tmp_path) as store:
        counts.count(SPACE, ["a"], at=AT)
        [write] = counts.writes(SPACE)
        committed(store, write)
        assert counts.spaces() == [SPACE]
        [write] = counts.writes(SPACE)
        counts.committed(SPACE, committed(store, write))
        assert count_of(store, counts, "a") == 1
        assert counts.spaces() == []
        assert counts.writes(SPACE) == []


def test_another_process_counts_on(tmp_path: Path) -> None:
    """A new process with batch numbers of its own adds to the access counts of an earlier one."""
    counts = AccessCounts("first")
    with memories(tmp_path) as store:
        counts.count(SPACE, ["a"], at=AT)
        committed(store, *counts.writes(SPACE))
        counts = AccessCounts("second")
        counts.count(SPACE, ["a"], at=AT)
        committed(store, *counts.writes(SPACE))
        assert count_of(store, counts, "a") == 2
        with store.reader(SPACE) as reader:
            assert reader.load(AccessCursor, AccessCursor.KEY) == AccessCursor(run="second", batch=1)


def test_a_purged_memory_is_counted_no_more(tmp_path: Path) -> None:
    """An access waiting to be written adds to a memory that an undo can restore, and not to one that was purged."""
    counts = AccessCounts("run")
    with memories(tmp_path) as store:
        counts.count(SPACE, ["a", "b", "c"], at=AT)
        write(store, lambda w: (w.delete(Kind.MEMORY, ("b",)), w.purge(Kind.MEMORY, ("c",), 1)))
        committed(store, *counts.writes(SPACE))
        with store.reader(SPACE) as reader:
            assert [key for key, _ in reader.records(AccessRecord)] == [("a",), ("b",)]


def test_what_waits_is_bounded() -> None:
    """Waiting access counts are written in at most BATCHES_MAX batches; more memories are not kept."""
    counts = AccessCounts("run")
    most = access_counts.BATCH_MEMORIES * access_counts.BATCHES_MAX
    counts.count(SPACE, [f"m{number}" for number in range(most + 10)], at=AT)
    assert len(counts.writes(SPACE)) == access_counts.BATCHES_MAX
