"""Slots of LMDB's table of readers are given back at the end of every snapshot, errors included."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from reverie.errors import Conflict
from reverie.store import Kind, Reader, Store
from reverie.store.env import READERS_MAX


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Run without the garbage collector, which frees the slots of forgotten objects sooner or later."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def slots(store: Store) -> int:
    """Return how many slots of the table of readers are taken."""
    table: str = store._env._env.readers()
    return table.count("\n") - 1


def stale(reader: Reader) -> None:
    """Read, then raise Conflict, as a use case with a stale plan does."""
    seen = list(reader.scan(Kind.THREAD))
    raise Conflict(f"{len(seen)} are not enough", hint="try again")


def refused(store: Store) -> Conflict:
    """Return an error that was raised inside a snapshot; its traceback refers to every frame that it passed."""
    try:
        with store.reader("default") as reader:
            stale(reader)
    except Conflict as error:
        return error
    raise AssertionError


@pytest.mark.usefixtures("no_collector")
def test_errors_keep_no_slot(store: Store) -> None:
    """Errors that are still referred to, tracebacks and all, hold none of the table's slots."""
    before = slots(store)
    errors = [refused(store) for _ in range(2 * READERS_MAX)]

    assert len(errors) == 2 * READERS_MAX
    assert slots(store) <= before + 1  # one spare transaction is kept for the next snapshot


@pytest.mark.usefixtures("no_collector")
def test_slots_of_garbage_are_collected_before_a_read_is_refused(store: Store) -> None:
    """Transactions in reference cycles take every slot; the next snapshot frees them instead of failing."""
    while slots(store) < READERS_MAX:
        cycle: list[object] = [store._env._env.begin()]
        cycle[0].abort()  # type: ignore[attr-defined]
        cycle.append(cycle)
    assert slots(store) == READERS_MAX

    with store.reader("default") as reader:
        assert reader.operation() == 0
