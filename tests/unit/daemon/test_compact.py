"""A small store whose pages are half empty is compacted by itself once nothing is being written."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reverie.redact import Redactor
from reverie.store import SYSTEM_SPACE, CompactionCursor, Kind, Store, Write, Writer
from reverie.usecases.by import By
from reverie.usecases.purge_steps import needs_compaction
from reveried.actions.compact import compact, compact_when_quiet
from reveried.worker import Worker

NOW = "2026-11-21T09:30:00.000Z"
PURGE = By(SYSTEM_SPACE, "purge")
RECORDS = 3_000  # about 2 MB when inserted one after another


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Any]:
    """The components that a compaction uses, with a store whose records were inserted in a random order."""
    with_store = Store.open(tmp_path / "store", redactor=Redactor())
    chance = random.Random(1)
    for _ in range(RECORDS // 50):
        with_store.commit([put(f"mem_{chance.random()}", chance) for _ in range(50)], at=NOW)
    worker = Worker(with_store, clock=lambda: NOW, queue_length=10)
    worker.start()
    yield SimpleNamespace(store=with_store, submit=worker.submit, redactor=Redactor(), worker=worker)
    worker.stop()
    with_store.close()


def put(name: str, chance: random.Random) -> Write[None]:
    """Return the write of one record of about 200 bytes that cannot be packed much."""

    def body(writer: Writer) -> None:
        writer.put(Kind.MEMORY, (name,), {"text": chance.randbytes(80).hex()})

    return Write("default", "test", "test", body)


async def in_background(services: Any, until: Any) -> None:
    """Run the task that compacts a quiet store until a condition is true, then cancel it."""
    task = asyncio.create_task(compact_when_quiet(services, quiet_s=0.02))
    while not await until():  # noqa: ASYNC110 - the file has no event to wait for
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_half_empty_pages_are_filled(running: Any) -> None:
    """The file shrinks by a quarter at least, every record is there, and writing continues."""
    data = running.store.path / "data.mdb"
    before = data.stat().st_size
    assert running.store.filled_share < 0.75

    async def shrunk() -> bool:
        return bool(data.stat().st_size < 0.75 * before)

    asyncio.run(asyncio.wait_for(in_background(running, shrunk), 60))

    assert running.store.filled_share > 0.85
    with running.store.reader("default") as reader:
        assert reader.count(Kind.MEMORY) == RECORDS
    running.store.commit([put("mem_more", random.Random(2))], at=NOW)


def test_a_file_is_not_copied_twice_for_nothing(running: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a compaction the file is left alone until it has grown by a quarter."""
    copies: list[int] = []
    looks = 0
    compact = running.store.compact

    def counted() -> int:
        copies.append(1)
        return int(compact())

    monkeypatch.setattr(running.store, "compact", counted)

    async def many_looks() -> bool:
        nonlocal looks
        looks += bool(copies)
        return looks > 30

    asyncio.run(asyncio.wait_for(in_background(running, many_looks), 60))

    assert copies == [1]


def test_a_store_in_use_is_left_alone(running: Any) -> None:
    """While something is written between any two looks, no compaction is made."""
    data = running.store.path / "data.mdb"
    before, written = data.stat().st_size, 0

    async def enough() -> bool:
        nonlocal written
        for _ in range(5):
            written += 1
            await running.submit(put(f"mem_new{written}", random.Random(written)))
        return written >= 100

    async def in_use() -> None:
        task = asyncio.create_task(compact_when_quiet(running, quiet_s=0.5))
        while not await enough():  # noqa: ASYNC110 - a pause between two bursts of writes
            await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(asyncio.wait_for(in_use(), 60))
    assert data.stat().st_size >= before


@pytest.mark.parametrize("later", [False, True])
def test_a_compaction_is_due_for_a_purge_that_came_after_the_copy(running: Any, *, later: bool) -> None:
    """What a purge deleted while the compaction before it was being noted is still in the file."""
    run_alone = running.worker.run_alone

    async def copied(work: Any) -> Any:
        saved = await run_alone(work)
        if later:
            await running.submit(needs_compaction.write(PURGE, "2026-11-21T09:30:01.000Z"))
        return saved

    services: Any = SimpleNamespace(
        store=running.store, submit=running.submit, redactor=running.redactor, worker=SimpleNamespace(run_alone=copied)
    )

    async def purged() -> None:
        await running.submit(needs_compaction.write(PURGE, NOW))
        await compact(services)

    asyncio.run(asyncio.wait_for(purged(), 60))
    with running.store.reader(SYSTEM_SPACE) as reader:
        assert (reader.load(CompactionCursor, CompactionCursor.KEY) is not None) == later
