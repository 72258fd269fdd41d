"""The runner of use cases: retries while stale, stored answers, answers without a commit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from reverie.errors import Conflict
from reverie.redact import Allow, Redactor
from reverie.store import NoteRecord, Reader, Store, Write, Writer
from reverie.usecases.by import By, Decided, writes
from reveried.execute import TRIES, execute, retry_while_stale
from reveried.worker import Worker

AT = "2026-11-21T09:30:00.000Z"
SPACE = "default"
KEY = ("key", "request")


class Job(msgspec.Struct):
    """A snapshot of the test's use case: the number of notes."""

    notes: int


class Plan(msgspec.Struct):
    """A plan of the test's use case: valid as long as the number of notes is `notes`."""

    notes: int


class Answer(msgspec.Struct):
    """The answer of the test's use case: the number of notes after its commit."""

    notes: int


class FakeCompute:
    """A fake of the compute process; in the first `overtakes` calls another writer adds a note meanwhile."""

    def __init__(self, overtakes: int = 0) -> None:
        self.decided = 0
        self.overtakes = overtakes
        self.submit: Any = None

    async def run(self, job: str, body: bytes, *, bulk: bool = False) -> bytes:
        """Return a plan for the job, after another writer has added a note if `overtakes` is not used up."""
        assert (job, bulk) == ("count", False)
        self.decided += 1
        if self.overtakes > 0:
            self.overtakes -= 1
            await self.submit(add_note(f"other{self.decided}"))
        return msgspec.msgpack.encode(Plan(msgspec.msgpack.decode(body, type=Job).notes))


def add_note(note_id: str) -> Write[None]:
    """Return a write that stores a note."""

    def body(writer: Writer) -> None:
        writer.save(NoteRecord(id=note_id, content=note_id, category="task", at=AT), ("t", note_id))

    return Write(SPACE, "test", "note", body)


def count(reader: Reader) -> int:
    return reader.count(NoteRecord.KIND, ("t",))


@writes("count", answers=Answer)
def commit(to: Writer, _: By, plan: Plan) -> Answer:
    """Store a note; raise a stale Conflict if the number of notes has changed."""
    if count(to) != plan.notes:
        raise Conflict("another writer was faster", stale=True)
    to.save(NoteRecord(id="mine", content="mine", category="task", at=AT), ("t", "mine"))
    return Answer(count(to))


DECIDED = Decided("count", Plan, commit)


@asynccontextmanager
async def services(tmp_path: Path, compute: FakeCompute) -> AsyncIterator[Any]:
    """Yield the services that the runner needs: a store, the worker's `submit`, and the fake compute process."""
    store = Store.open(tmp_path / "store", redactor=Redactor())
    worker = Worker(store, clock=lambda: AT, queue_length=100)
    worker.start()
    compute.submit = worker.submit
    try:
        yield SimpleNamespace(store=store, submit=worker.submit, redactor=Redactor(), compute=compute)
    finally:
        worker.stop()
        store.close()


async def run(parts: Any, **options: Any) -> Answer:
    """Run the use case "count" with an idempotency key."""
    return await execute(
        parts,
        By(SPACE, "test", key=KEY),
        DECIDED,
        lambda reader: Job(count(reader)),
        lock="notes",
        **options,
    )


def test_a_stale_plan_is_decided_again(tmp_path: Path) -> None:
    """Every try takes a new snapshot, and the last one's commit counts."""
    compute = FakeCompute(overtakes=2)

    async def main() -> None:
        async with services(tmp_path, compute) as parts:
            assert await run(parts) == Answer(3)
            assert compute.decided == 3

    asyncio.run(main())


def test_a_plan_from_before_a_change_of_what_is_allowed_is_decided_again(tmp_path: Path) -> None:
    """It may have a value that is no longer allowed to stay."""
    compute = FakeCompute()

    async def main() -> None:
        async with services(tmp_path, compute) as parts:

            async def changed(write: Write[Any], **given: Any) -> Any:
                if compute.decided == 1 and write.why == "count":
                    parts.redactor.allow(Allow())
                return await compute.submit(write, **given)

            parts.submit = changed
            assert await run(parts) == Answer(1)
            assert compute.decided == 2

    asyncio.run(main())


def test_a_plan_that_stays_stale_is_a_conflict(tmp_path: Path) -> None:
    """A plan that is stale in every try is a Conflict, after TRIES + 1 decisions."""
    compute = FakeCompute(overtakes=99)

    async def main() -> None:
        async with services(tmp_path, compute) as parts:
            with pytest.raises(Conflict, match="faster"):
                await run(parts)
            assert compute.decided == TRIES + 1

    asyncio.run(main())


def test_retries_run_one_after_the_other() -> None:
    """After a stale first try a caller retries under the lock; other callers wait until it is done."""
    order: list[str] = []
    lock = asyncio.Lock()

    async def main() -> None:
        retrying = asyncio.Event()

        async def slow() -> None:
            order.append("slow")
            if len(order) == 1:
                raise Conflict("stale", stale=True)
            retrying.set()
            await asyncio.sleep(0.01)
            order.append("slow done")

        async def quick() -> None:
            order.append("quick")

        first = asyncio.ensure_future(retry_while_stale(slow, lock))
        await retrying.wait()
        await retry_while_stale(quick, lock)
        await first

    asyncio.run(main())
    assert order == ["slow", "slow", "slow done", "quick"]


def test_other_conflicts_are_raised_at_once() -> None:
    """A Conflict that is not marked as stale is raised at once, without another try."""
    tries: list[int] = []

    async def attempt() -> None:
        tries.append(1)
        raise Conflict("taken")

    async def main() -> None:
        with pytest.raises(Conflict, match="taken"):
            await retry_while_stale(attempt, asyncio.Lock())

    asyncio.run(main())
    assert len(tries) == 1


@pytest.mark.parametrize("is_written", [True, False])
def test_the_key_keeps_every_answer(tmp_path: Path, *, is_written: bool) -> None:
    """A repeated call is answered without deciding, also where the first one committed nothing."""
    compute = FakeCompute()
    unwritten = Answer(99)

    async def main() -> None:
        async with services(tmp_path, compute) as parts:
            options: dict[str, Any] = {} if is_written else {"unwritten": lambda _: unwritten}
            first = await run(parts, **options)
            assert first == (Answer(1) if is_written else unwritten)
            assert await run(parts, **options) == first
            assert compute.decided == 1

    asyncio.run(main())


def test_what_learns_is_decided_with_what_people_saved(tmp_path: Path) -> None:
    """The folder is read before the snapshot: a plan of a start, before the first scan, would be of old text."""

    async def main() -> None:
        async with services(tmp_path, compute := FakeCompute()) as parts:

            async def read_saves(space: str, paths: None) -> None:
                assert (space, paths) == (SPACE, None)
                await parts.submit(add_note("saved"))

            async def write_all(space: str) -> None:
                assert space == SPACE

            parts.sync_service = SimpleNamespace(read_saves=read_saves, write_all=write_all)
            parts.models, parts.accesses = None, SimpleNamespace(spaces=list)
            learning = replace(DECIDED, learns=True)
            by = By(SPACE, "test", key=KEY)
            assert await execute(parts, by, learning, lambda reader: Job(count(reader))) == Answer(2)
            assert compute.decided == 1

    asyncio.run(main())
