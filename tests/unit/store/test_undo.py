"""An undo is refused where the thread of its records was deleted since."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.errors import Conflict, NotFound
from reverie.store import RULES, Kind, Store, Writer
from reverie.store.check import run_check
from reverie.store.versions import Rules
from reverie.usecases.undo import undo_operation
from support.stores import SPACE, after, put, write


def _undo(store: Store, operation: int) -> int | None:
    return write(store, lambda w: undo_operation(w, operation)).operation


def _state(store: Store) -> dict[str, Any]:
    with store.reader(SPACE) as reader:
        memories = {str(key[0]): value["n"] for key, value in reader.scan(Kind.MEMORY)}
        return memories | {str(key[0]): value["text"] for key, value in reader.scan(Kind.DOCUMENT)}


def test_undoing_every_operation_restores_each_earlier_state(store: Store) -> None:
    put(store, Kind.MEMORY, ("kept",), {"n": 0})
    put(store, Kind.DOCUMENT, ("a.md",), {"text": "x" * 90_000})
    put(store, Kind.MEMORY, ("old",), {"n": 1})
    before = _state(store)

    def body(w: Writer) -> None:
        w.put(Kind.MEMORY, ("old",), {"n": 2})
        w.put(Kind.MEMORY, ("new",), {"n": 3})
        w.delete(Kind.DOCUMENT, ("a.md",))
        w.put(Kind.DOCUMENT, ("b.md",), {"text": "y"})
        w.put(Kind.DREAM, ("r",), {"n": 1})
        w.append(Kind.LEDGER, (), {"tokens": 5})

    operation = write(store, body).operation
    assert operation == 4
    changed = _state(store)
    undone = _undo(store, operation)
    assert _state(store) == before
    assert undone == 5
    _undo(store, undone)
    assert _state(store) == changed
    with store.reader(SPACE) as reader:
        assert reader.get(Kind.DREAM, ("r",)) == {"n": 1}, "left as it is"
        assert reader.count(Kind.LEDGER) == 1


def test_a_later_change_is_a_conflict_that_names_it(store: Store) -> None:
    write(store, lambda w: [w.put(Kind.MEMORY, (name,), {"n": 1}) for name in "abc"])
    put(store, Kind.MEMORY, ("b",), {"n": 2})
    write(store, lambda w: w.delete(Kind.MEMORY, ("c",)))
    with pytest.raises(Conflict, match="2 of its records changed since") as caught:
        _undo(store, 1)
    assert caught.value.details["keys"] == [{"kind": "memory", "key": ["b"]}, {"kind": "memory", "key": ["c"]}]
    assert _state(store) == {"a": 1, "b": 2}


@pytest.mark.parametrize("kind", [kind for kind, rule in RULES.items() if rule.undo == "refuse"])
def test_appended_messages_are_not_taken_back(store: Store, kind: Kind) -> None:
    write(store, lambda w: (w.append(kind, ("t",), {}), w.put(Kind.MEMORY, ("m",), {"n": 1})))
    with pytest.raises(Conflict, match="cannot be undone: it appended"):
        _undo(store, 1)


def test_an_operation_without_restorable_changes_is_a_conflict(store: Store) -> None:
    put(store, Kind.DREAM, ("r",), {})
    put(store, Kind.MEMORY, ("m",), {"n": 1})
    write(store, lambda w: w.purge(Kind.MEMORY, (), 10))
    for operation, error, words in (
        (1, Conflict, r"operation 1 \(\w+\) cannot be undone$"),
        (3, Conflict, "gone for good"),
        (9, NotFound, "no operation 9"),
    ):
        with pytest.raises(error, match=words) as caught:
            _undo(store, operation)
        assert caught.value.hint


@pytest.mark.parametrize("anew", [False, True])
def test_a_deleted_thread_does_not_come_back_by_an_undo(store: Store, anew: bool) -> None:  # noqa: FBT001
    """An undo restores no record deleted with a thread, also not under a new thread of the same id."""
    write(store, lambda w: (w.put(Kind.THREAD, ("t",), {}), w.put(Kind.NOTE, ("t", "n"), {"n": 1})))
    deleted = write(store, lambda w: w.delete(Kind.NOTE, ("t", "n"))).operation or 0
    state = put(store, Kind.STATE, ("t",), {"n": 1}) or 0
    undone = _undo(store, state) or 0
    gone = write(store, lambda w: w.purge_thread("t")).value
    assert gone == 3
    if anew:
        put(store, Kind.THREAD, ("t",), {"anew": True})
    for operation in (deleted, state, undone):
        with pytest.raises(Conflict, match="changed since" if anew else "which is deleted") as caught:
            _undo(store, operation)
        assert caught.value.hint
    with store.reader(SPACE) as reader:
        assert reader.history(Kind.NOTE, ("t", "n")) == reader.history(Kind.STATE, ("t",)) == []


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_a_purge_removes_versions_of_deleted_records(store: Store, limit: int) -> None:
    for name in ("a", "b", "c"):
        put(store, Kind.DOCUMENT, (name,), {"text": name * 100_000})
    write(store, lambda w: [w.delete(Kind.DOCUMENT, (name,)) for name in "ab"])
    put(store, Kind.MEMORY, ("a",), {"n": 1})
    gone: list[int] = []
    while not gone or gone[-1]:
        gone.append(write(store, lambda w: w.purge(Kind.DOCUMENT, (), limit)).value)
    assert sum(gone) == 3
    assert max(gone) <= limit
    with store.reader(SPACE) as reader:
        assert reader.history(Kind.DOCUMENT, ("a",)) == []
        assert reader.count(Kind.BLOB) == 0
        assert reader.get(Kind.MEMORY, ("a",)) == {"n": 1}
    store.close()
    assert run_check(store.path).problems == ()


def test_a_pruned_version_cannot_be_restored(store: Store) -> None:
    put(store, Kind.MEMORY, ("m",), {"n": 1})
    put(store, Kind.MEMORY, ("m",), {"n": 2})
    cursor = "2:"
    assert write(store, lambda w: w.prune(Rules(), cursor), at=after(400)).value.removed == 1
    with pytest.raises(NotFound, match="version 1 of memory m"):
        _undo(store, 2)
