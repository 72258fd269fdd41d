"""An operation is undone by another one, unless something changed since or it cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.errors import Conflict, NotFound
from reverie.store import RULES, Kind, Store, Writer
from reverie.store.retention import Rules, prune
from reverie.store.undo import restore
from support.stores import SPACE, after, put, write


def _undo(store: Store, operation: int) -> int | None:
    return write(store, lambda w: restore(w, operation)).operation


def _state(store: Store) -> dict[str, Any]:
    with store.reader(SPACE) as reader:
        memories = {str(key[0]): value["n"] for key, value in reader.scan(Kind.MEMORY)}
        return memories | {str(key[0]): value["text"] for key, value in reader.scan(Kind.DOCUMENT)}


def test_every_operation_undone_gives_the_state_before_it(store: Store) -> None:
    put(store, Kind.MEMORY, ("kept",), {"n": 0})
    put(store, Kind.DOCUMENT, ("a.md",), {"text": "x" * 90_000})
    put(store, Kind.MEMORY, ("old",), {"n": 1})
    before = _state(store)

    def body(w: Writer) -> None:
        w.put(Kind.MEMORY, ("old",), {"n": 2})
        w.put(Kind.MEMORY, ("new",), {"n": 3})
        w.delete(Kind.DOCUMENT, ("a.md",))
        w.put(Kind.DOCUMENT, ("b.md",), {"text": "y"})
        w.put(Kind.RUN, ("r",), {"n": 1})
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
        assert reader.get(Kind.RUN, ("r",)) == {"n": 1}, "left as it is"
        assert reader.count(Kind.LEDGER) == 1


def test_a_later_change_is_named(store: Store) -> None:
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
    with pytest.raises(Conflict, match="never taken back"):
        _undo(store, 1)


def test_what_cannot_be_put_back_says_so(store: Store) -> None:
    put(store, Kind.RUN, ("r",), {})
    put(store, Kind.MEMORY, ("m",), {"n": 1})
    write(store, lambda w: w.purge(Kind.MEMORY, (), 10))
    for operation, error, words in (
        (1, Conflict, "nothing that can be put back"),
        (3, Conflict, "gone for good"),
        (9, NotFound, "no operation 9"),
    ):
        with pytest.raises(error, match=words) as caught:
            _undo(store, operation)
        assert caught.value.hint


def test_a_version_that_was_pruned_is_missed(store: Store) -> None:
    put(store, Kind.MEMORY, ("m",), {"n": 1})
    put(store, Kind.MEMORY, ("m",), {"n": 2})
    cursor = "3:"
    assert write(store, lambda w: prune(w, Rules(), cursor), at=after(400)).value.removed == 1
    with pytest.raises(NotFound, match="version 1 of memory m"):
        _undo(store, 2)
