"""Tests of the retention rules, applied by a worker to a real store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reverie.errors import StorageFailed
from reverie.redact import Redactor
from reverie.store import Kind, Store, Write, Writer
from reveried.actions.undo import prune, prune_daily
from reveried.worker import Worker

OLD, NOW = "2026-01-01T00:00:00.000Z", "2026-11-21T09:30:00.000Z"
DAYS = SimpleNamespace(version_days=365, event_days=90, key_days=7, failure_days=7)


def announce(count: int) -> Write[None]:
    """Return a write that emits `count` events."""

    def body(writer: Writer) -> None:
        writer.put(Kind.CURSOR, ("x",), {"count": count})
        for _ in range(count):
            writer.event("memory.written", {"memoryId": "m"})

    return Write(space="default", who="test", why="test", body=body)


def services(store: Store, worker: Worker) -> Any:
    """Return the components of the daemon that retention uses."""
    return SimpleNamespace(
        store=store,
        submit=worker.submit,
        redactor=Redactor(),
        config=SimpleNamespace(retention=DAYS),
        clock=lambda: NOW,
    )


def events(store: Store) -> int:
    """Return the number of stored events."""
    with store.reader("default") as reader:
        return reader.count(Kind.EVENT)


def test_a_failure_is_tried_again(tmp_path: Path) -> None:
    """If pruning fails once, the next daily run prunes the old events."""
    store = Store.open(tmp_path / "store", redactor=Redactor())
    store.commit([announce(3)], at=OLD)
    worker = Worker(store, clock=lambda: NOW, queue_length=10)
    worker.start()
    given = services(store, worker)
    real, failures = given.submit, [StorageFailed("no")]

    async def submit(write: Write[Any], *, bulk: bool = False) -> Any:
        if failures:
            raise failures.pop()
        return await real(write, bulk=bulk)

    given.submit = submit

    async def until_pruned() -> None:
        task = asyncio.create_task(prune_daily(given, first_after_s=0, every_s=0.01))
        while await asyncio.to_thread(events, store):  # noqa: ASYNC110 - the store has no event to wait for
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    try:
        asyncio.run(asyncio.wait_for(until_pruned(), 120))
    finally:
        worker.stop()
        store.close()

    assert failures == []


def test_failed_dreams_go_and_others_stay(tmp_path: Path) -> None:
    """The record of a failed dream is removed after `failure_days`; a dream that succeeded and a young failure stay."""

    def dream(name: str, failure: dict[str, str] | None) -> Write[None]:
        value = {"id": name} | ({} if failure is None else {"failure": failure})

        def body(writer: Writer) -> None:
            writer.put(Kind.DREAM, (name,), value)

        return Write("default", "test", "test", body)

    store = Store.open(tmp_path / "store", redactor=Redactor())
    store.commit([dream("old-failed", {"code": "busy"}), dream("old", None)], at=OLD)
    store.commit([dream("failed", {"code": "busy"})], at=NOW)
    worker = Worker(store, clock=lambda: NOW, queue_length=10)
    worker.start()
    try:
        asyncio.run(prune(services(store, worker)))
    finally:
        worker.stop()
    with store.reader("default") as reader:
        assert [key for key, _ in reader.scan(Kind.DREAM)] == [("failed",), ("old",)]
    store.close()
