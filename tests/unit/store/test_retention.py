"""Retention: each kind is removed at its age, in small steps; a purge removes a whole thread."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import ValidationError
from reverie.store import Kind, Store, Version, Writer, seal
from reverie.store import versions as store_versions
from reverie.store.check import run_check
from reverie.store.codec import RawRecord, from_ms, to_ms, tombstone
from reverie.store.kinds import THREAD_KINDS
from reverie.store.versions import Rules, Step, expired, superseded
from support.stores import AT, DAY_MS, MASKING, SPACE, after, noise, put, write


def _prune(store: Store, days: float, rules: Rules | None = None) -> tuple[int, int]:
    """Run every step of one round, each in its own write; return the records removed and the number of steps."""
    removed, steps = 0, 0
    cursor: str | None = None
    while True:
        outcome = write(store, Writer.prune, rules or Rules(), cursor, at=after(days))
        step: Step = outcome.value
        assert outcome.operation is None
        removed, steps, cursor = removed + step.removed, steps + 1, step.cursor
        if cursor is None:
            return removed, steps


def _count(store: Store, kind: Kind) -> int:
    with store.reader(SPACE) as reader:
        return reader.count(kind)


@pytest.mark.parametrize(
    ("days", "left"),
    [
        (0, {"event": 3, "idempotency": 3, "versions": 3}),
        (6.9, {"event": 3, "idempotency": 3, "versions": 3}),
        (8.5, {"event": 3, "idempotency": 1, "versions": 3}),
        (91.5, {"event": 1, "idempotency": 0, "versions": 3}),
        (366.5, {"event": 0, "idempotency": 0, "versions": 2}),
        (368, {"event": 0, "idempotency": 0, "versions": 1}),
    ],
)
def test_each_kind_is_removed_at_its_age(store: Store, days: float, left: dict[str, int]) -> None:
    """Records of each kind on three days in a row; pruned `days` after the first."""
    for day in range(3):
        write(
            store,
            lambda w, day: (
                w.put(Kind.MEMORY, ("m",), {"n": day}),
                w.event("x", {}),
                w.append(Kind.ENTRY, ("t",), {}),
            ),
            day,
            at=after(day),
            idempotency=(f"k{day}", "h"),
        )
    _prune(store, days)
    with store.reader(SPACE) as reader:
        assert [version.value for version in reader.history(Kind.MEMORY, ("m",))][-1] == {"n": 2}
        assert {
            "event": reader.count(Kind.EVENT),
            "idempotency": reader.count(Kind.IDEMPOTENCY),
            "versions": len(reader.history(Kind.MEMORY, ("m",))),
        } == left
        assert (reader.count(Kind.OPERATION), reader.count(Kind.ENTRY, ("t",))) == (3, 3)
        assert reader.first_seq(Kind.EVENT) == 4 - left["event"]
        assert [key[0] for key, _ in reader.scan(Kind.EVENT)] == list(range(4 - left["event"], 4))
    assert write(store, lambda w: w.event("x", {})).value == 4
    store.close()
    assert run_check(store.path).ok


def test_a_tombstone_is_kept_as_long_as_a_version(store: Store) -> None:
    put(store, Kind.MEMORY, ("m",), {"n": 1})
    write(store, lambda w: w.delete(Kind.MEMORY, ("m",)), at=after(10))
    _prune(store, 374)
    with store.reader(SPACE) as reader:
        assert len(reader.history(Kind.MEMORY, ("m",))) == 2
    _prune(store, 375)
    with store.reader(SPACE) as reader:
        assert reader.history(Kind.MEMORY, ("m",)) == []


def test_access_counts_go_with_the_last_version_of_their_memory(store: Store) -> None:
    """The access count of a deleted memory is kept while an undo can restore the memory, and removed after that."""
    for name in ("m", "m1"):
        put(store, Kind.MEMORY, (name,), {"n": 1})
        put(store, Kind.ACCESS, (name,), {"count": 3})
    write(store, lambda w: w.delete(Kind.MEMORY, ("m",)), at=after(10))
    _prune(store, 374)
    assert _count(store, Kind.ACCESS) == 2
    _prune(store, 375)
    with store.reader(SPACE) as reader:
        assert [key for key, _ in reader.scan(Kind.ACCESS)] == [("m1",)]
    store.close()
    assert run_check(store.path).ok


def test_steps_are_bounded_and_a_round_is_complete(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_versions, "STEP_RECORDS", 7)
    for number in range(30):
        write(
            store,
            lambda w, n: (
                w.put(Kind.MEMORY, (f"m{n % 4}",), {"n": n}),
                w.event("x", {}),
            ),
            number,
            idempotency=(f"k{number}", "h"),
        )
    removed, steps = _prune(store, 400)
    assert removed == 30 + 30 + 26
    assert steps >= removed / 7
    assert [_count(store, kind) for kind in (Kind.EVENT, Kind.IDEMPOTENCY)] == [0, 0]
    with store.reader(SPACE) as reader:
        for name in range(4):
            assert len(reader.history(Kind.MEMORY, (f"m{name}",))) == 1


def test_a_clock_that_went_back_leaves_events_dense(store: Store) -> None:
    for day in (100, 0, 0, 200):
        write(store, lambda w: w.event("x", {}), at=after(day))
    _prune(store, 150)
    assert _count(store, Kind.EVENT) == 4
    _prune(store, 195)
    assert _count(store, Kind.EVENT) == 1
    with store.reader(SPACE) as reader:
        assert [key for key, _ in reader.scan(Kind.EVENT)] == [(4,)]


ms = st.integers(0, 10**13)


@given(ms, ms, st.integers(0, 1000))
def test_nothing_is_removed_too_early(at_ms: int, now_ms: int, days: int) -> None:
    assert expired(at_ms, now_ms, days) == (now_ms - at_ms >= days * DAY_MS)
    version = RawRecord(b"", 1, at_ms, seal({}, MASKING).data)
    grave = RawRecord(b"", 1, at_ms, tombstone().data)
    assert not superseded(version, None, now_ms, days), "the current one of its kind"
    assert superseded(grave, None, now_ms, days) == expired(at_ms, now_ms, days)
    later = RawRecord(b"", 2, at_ms + 5, seal({}, MASKING).data)
    assert superseded(version, later, now_ms, days) == expired(at_ms + 5, now_ms, days)


@given(st.integers(0, 253402300799999))
def test_times_convert_both_ways(at_ms: int) -> None:
    assert to_ms(from_ms(at_ms)) == at_ms
    assert len(from_ms(at_ms)) == len(AT)


def _thread(w: Writer, name: str) -> None:
    w.put(Kind.THREAD, (name,), {"title": name})
    for number in range(1, 21):
        w.append(Kind.ENTRY, (name,), {"n": number, "text": noise(100_000 if number == 5 else 10)})
        w.put(Kind.STATE, (name,), {"n": number})
        w.put(Kind.NOTE, (name, f"n{number}"), {"n": number})
    w.put(Kind.DIGEST, (name,), {"text": "d"})
    w.put(Kind.DISTILLATION, (name, 1), {"text": "s"})
    w.put(Kind.OUTLINE, (name, 0), {"first": 1})
    w.put(Kind.BRIEF, (name,), {"through": 20})


@pytest.mark.parametrize("limit", [3, 1000])
def test_a_purged_thread_leaves_only_the_operation(store: Store, limit: int) -> None:
    for name in ("t", "tt"):
        write(store, _thread, name)
        put(store, Kind.STATE, (name,), {"n": "later"})
    gone: list[int] = []
    while not gone or gone[-1]:
        gone.append(write(store, lambda w: w.purge_thread("t", limit)).value)
    assert max(gone) <= limit
    assert sum(gone) == 20 + 1 + 20 + 1 + 1 + 1 + 1 + 1
    with store.reader(SPACE) as reader:
        for kind in THREAD_KINDS:
            assert not list(reader.scan(kind, ("t",)))
            assert list(reader.scan(kind, ("tt",)))
        assert reader.history(Kind.STATE, ("t",)) == []
        assert [version.value for version in reader.history(Kind.STATE, ("tt",))] == [{"n": 20}, {"n": "later"}]
        assert len([1 for key, _ in reader.scan_sealed(Kind.BLOB) if key[1] == 1]) == 1
        assert isinstance(reader.history(Kind.STATE, ("tt",))[0], Version)
    assert write(store, lambda w: w.append(Kind.ENTRY, ("t",), {"n": "anew"})).value == 1
    store.close()
    assert run_check(store.path).problems == ()


def test_a_purge_is_listed_in_its_operation(store: Store) -> None:
    write(store, lambda w: _thread(w, "t"))
    number = write(store, lambda w: w.purge(Kind.ENTRY, ("t",), 100)).operation
    with store.reader(SPACE) as reader:
        operation: dict[str, Any] = reader.get(Kind.OPERATION, (number or 0,)) or {}
    assert operation["changes"] == [{"kind": "entry", "key": ["t"], "first": 1, "last": 20, "purged": True}]
    assert write(store, lambda w: w.purge(Kind.ENTRY, ("t",), 100)).operation is None
    assert write(store, lambda w: w.purge(Kind.ACCESS, (), 100)).operation is None
    with pytest.raises(ValidationError):
        write(store, lambda w: w.purge(Kind.OPERATION, (), 100))
