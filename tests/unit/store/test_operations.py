"""Every change makes a numbered operation with its events; bookkeeping does not."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.errors import ValidationError
from reverie.store import Done, Kind, Reader, Store, Version, Write, Writer
from reverie.store.kinds import EVENTS_MAX
from support.stores import AT, SPACE, after, put, write


def _operations(store: Store, space: str = SPACE) -> list[dict[str, Any]]:
    with store.reader(space) as reader:
        return [value for _, value in reader.scan(Kind.OPERATION)]


def test_an_operation_says_who_why_when_and_what(store: Store) -> None:
    def body(w: Writer) -> None:
        w.put(Kind.MEMORY, ("m",), {"n": 1})
        assert w.event("memory.written", {"memoryId": "m"}) == 1
        assert w.event("memory.written", {"memoryId": "m"}) == 2

    assert store.commit([Write(SPACE, "ann", "to learn", body, parent=0)], at=AT) == [Done(None, 1)]
    change = {"kind": "memory", "key": ["m"], "before": None, "after": 1}
    assert _operations(store) == [
        {
            "seq": 1,
            "who": "ann",
            "why": "to learn",
            "at": AT,
            "parent": 0,
            "changes": [change],
            "events": [1, 2],
        }
    ]
    with store.reader(SPACE) as reader:
        events = [value for _, value in reader.scan(Kind.EVENT)]
    assert events[0] == {"seq": 1, "type": "memory.written", "at": AT, "operation": 1, "data": {"memoryId": "m"}}


@pytest.mark.parametrize(
    ("kind", "key"),
    [(Kind.ACCESS, ("m",)), (Kind.CURSOR, ("x",)), (Kind.IMPORT, ("s",)), (Kind.BASELINE, ("p",))],
)
def test_bookkeeping_makes_no_operation(store: Store, kind: Kind, key: tuple[str]) -> None:
    assert put(store, kind, key, {"n": 1}) is None
    assert put(store, kind, key, {"n": 2}) is None
    with store.reader(SPACE) as reader:
        value = reader.get(kind, key)
        assert value is not None
        assert (value["n"], reader.operation(), reader.version(kind, key)) == (2, 0, 0)
    assert write(store, lambda w: w.delete(kind, key)).operation is None
    assert not write(store, lambda w: w.delete(kind, key)).value


def test_an_event_alone_makes_no_operation(store: Store) -> None:
    assert write(store, lambda w: w.event("conflict.opened", {})).operation is None
    with store.reader(SPACE) as reader:
        assert [value["operation"] for _, value in reader.scan(Kind.EVENT)] == [None]


def test_putting_an_equal_value_changes_nothing(store: Store) -> None:
    assert put(store, Kind.MEMORY, ("m",), {"n": 1}) == 1
    commits = store.commits
    assert not write(store, lambda w: w.put(Kind.MEMORY, ("m",), {"n": 1})).value
    assert (store.commits, len(_operations(store))) == (commits, 1)


def test_operations_and_events_are_dense_per_space(store: Store) -> None:
    for number in range(6):
        space = "ab"[number % 2]
        write(store, lambda w, n: (w.put(Kind.MEMORY, ("m",), {"n": n}), w.event("x", {})), number, space=space)
    for space in "ab":
        assert [operation["seq"] for operation in _operations(store, space)] == [1, 2, 3]
        with store.reader(space) as reader:
            assert [key for key, _ in reader.scan(Kind.EVENT)] == [(1,), (2,), (3,)]
            assert [value["parent"] for _, value in reader.scan(Kind.OPERATION)] == [0, 1, 2]


def test_one_write_lists_each_key_once(store: Store) -> None:
    put(store, Kind.MEMORY, ("old",), {"n": 0})

    def body(w: Writer) -> None:
        for number in range(3):
            w.put(Kind.MEMORY, ("m",), {"n": number})
        w.put(Kind.MEMORY, ("gone",), {"n": 0})
        w.delete(Kind.MEMORY, ("gone",))
        w.delete(Kind.MEMORY, ("old",))
        w.put(Kind.MEMORY, ("old",), {"n": 9})
        w.put(Kind.ACCESS, ("j",), {"n": 0})

    write(store, body)
    assert _operations(store)[1]["changes"] == [
        {"kind": "memory", "key": ["m"], "before": None, "after": 2},
        {"kind": "memory", "key": ["old"], "before": 1, "after": 2},
    ]
    with store.reader(SPACE) as reader:
        assert _values(reader, "m") == [(2, {"n": 2})]
        assert _values(reader, "old") == [(1, {"n": 0}), (2, {"n": 9})]
        assert _values(reader, "gone") == []


def _values(reader: Reader, memory: str) -> list[tuple[int, dict[str, Any] | None]]:
    return [(version.operation, version.value) for version in reader.history(Kind.MEMORY, (memory,))]


def test_history_has_every_version_and_deletion(store: Store) -> None:
    put(store, Kind.MEMORY, ("m",), {"n": 1})
    put(store, Kind.MEMORY, ("m",), {"n": 2}, at=after(1))
    write(store, lambda w: w.delete(Kind.MEMORY, ("m",)), at=after(2))
    put(store, Kind.MEMORY, ("m",), {"n": 3}, at=after(3))
    put(store, Kind.MEMORY, ("m2",), {"n": 4}, at=after(3))
    with store.reader(SPACE) as reader:
        assert reader.history(Kind.MEMORY, ("m",)) == [
            Version(1, AT, {"n": 1}),
            Version(2, after(1), {"n": 2}),
            Version(3, after(2), None),
            Version(4, after(3), {"n": 3}),
        ]
        assert reader.history(Kind.MEMORY, ("nobody",)) == []
        assert reader.at_version(Kind.MEMORY, ("m",), 2).json() == {"n": 2}
        assert reader.at_version(Kind.MEMORY, ("m",), 4).json() == {"n": 3}


def test_a_write_can_delete_what_it_made_in_any_order(store: Store) -> None:
    """Deletes and puts of one record in one write have the effect of the last: here of one delete."""
    put(store, Kind.MEMORY, ("m",), {"n": 1})

    def body(w: Writer) -> None:
        for number in range(4):
            w.delete(Kind.MEMORY, ("m",))
            w.put(Kind.MEMORY, ("m",), {"n": number + 10})
        w.delete(Kind.MEMORY, ("m",))

    write(store, body)
    with store.reader(SPACE) as reader:
        assert _values(reader, "m") == [(1, {"n": 1}), (2, None)]
    assert _operations(store)[1]["changes"] == [{"kind": "memory", "key": ["m"], "before": 1, "after": None}]


def test_an_operation_with_many_changes_is_stored_in_a_blob(store: Store) -> None:
    """An operation with 2,000 changes, which is stored as a blob, is read with all of them."""

    def body(w: Writer) -> None:
        for number in range(2000):
            w.put(Kind.MEMORY, (f"memory_{number:06}",), {"n": number})

    write(store, body)
    (operation,) = _operations(store)
    assert len(operation["changes"]) == 2000


def test_the_events_of_one_write_are_bounded(store: Store) -> None:
    with pytest.raises(ValidationError, match="at most"):
        write(store, lambda w: [w.event("x", {}) for _ in range(EVENTS_MAX + 1)])


@pytest.mark.parametrize("at", ["yesterday", "2026-11-21T09:30:00", ""])
def test_a_commit_needs_a_time_with_a_zone(store: Store, at: str) -> None:
    with pytest.raises(ValidationError, match="is not a time"):
        put(store, Kind.MEMORY, ("m",), {}, at=at)
