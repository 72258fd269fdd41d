"""The runner of use cases: retries while stale, stored answers, answers without a commit."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from reverie.errors import Conflict
from reverie.redact import Redactor
from reverie.store import NoteRecord, Store, Write
from reveried.commit_worker import Worker
from reveried.snapshot_decide_and_commit import TRIES, answer_once, execute, retry_while_stale, stored_answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from reverie.store import Reader, Writer

AT = "2026-11-21T09:30:00.000Z"
SPACE = "default"
KEY = ("key", "request")


class Job(msgspec.Struct):
    """A snapshot: how many notes there are."""

    notes: int


class Plan(msgspec.Struct):
    """A plan that holds while there are `notes` notes."""

    notes: int


class Answer(msgspec.Struct):
    """The number of notes after the commit."""

    notes: int


class FakeCompute:
    """A compute process in this process; other writers commit `overtakes` notes while it decides."""

    def __init__(self, overtakes: int = 0) -> None:
        self.decided = 0
        self.overtakes = overtakes
        self.submit: Any = None

    async def run(self, job: str, body: bytes, *, bulk: bool = False) -> bytes:
        """Decide, after another writer has committed if one is due."""
        assert (job, bulk) == ("count", False)
        self.decided += 1
        if self.overtakes > 0:
            self.overtakes -= 1
            await self.submit(add_note(f"other{self.decided}"))
        return msgspec.msgpack.encode(Plan(msgspec.msgpack.decode(body, type=Job).notes))


def add_note(note_id: str) -> Write[None]:
    """Return the write of a note."""

    def body(writer: Writer) -> None:
        writer.save(NoteRecord(id=note_id, content=note_id, category="task", at=AT), ("t", note_id))

    return Write(SPACE, "test", "note", body)


def count(reader: Reader) -> int:
    return reader.count(NoteRecord.KIND, ("t",))


def commit(plan: Plan) -> Write[Answer]:
    """Return a write that is stale where the number of notes has changed since the plan."""

    def body(writer: Writer) -> Answer:
        if count(writer) != plan.notes:
            raise Conflict("another writer was faster", stale=True)
        writer.save(NoteRecord(id="mine", content="mine", category="task", at=AT), ("t", "mine"))
        return Answer(count(writer))

    return Write(SPACE, "test", "count", body, idempotency=KEY, answers=Answer)


@asynccontextmanager
async def services(tmp_path: Path, compute: FakeCompute) -> AsyncIterator[Any]:
    """Yield what the runner needs of the daemon: a store, a worker, and a fake compute process."""
    store = Store.open(tmp_path / "store", redactor=Redactor())
    worker = Worker(store, clock=lambda: AT, queue_length=100)
    worker.start()
    compute.submit = worker.submit
    try:
        yield SimpleNamespace(store=store, submit=worker.submit, compute=compute)
    finally:
        worker.stop()
        store.close()


async def run(parts: Any, **options: Any) -> Answer:
    """Run the use case "count" with an idempotency key."""
    return await execute(
        parts,
        SPACE,
        snapshot=lambda reader: Job(count(reader)),
        job="count",
        plan=Plan,
        **{"commit": commit, **options},
        answers=Answer,
        lock="notes",
        idempotency=KEY,
    )


def test_a_stale_plan_is_decided_again(tmp_path: Path) -> None:
    """Every try takes a new snapshot, and the last one's commit counts."""
    compute = FakeCompute(overtakes=2)

    async def main() -> None:
        async with services(tmp_path, compute) as parts:
            assert await run(parts) == Answer(3)
            assert compute.decided == 3

    asyncio.run(main())


def test_a_plan_that_stays_stale_is_a_conflict(tmp_path: Path) -> None:
    """After one try without the lock and TRIES with it, the caller gets the conflict."""
    compute = FakeCompute(overtakes=99)

    async def main() -> None:
        async with services(tmp_path, compute) as parts:
            with pytest.raises(Conflict, match="faster"):
                await run(parts)
            assert compute.decided == TRIES + 1

    asyncio.run(main())


def test_a_repeated_call_gets_the_stored_answer(tmp_path: Path) -> None:
    """It has the type of the first answer, and nothing is decided again."""
    compute = FakeCompute()

    async def main() -> None:
        async with services(tmp_path, compute) as parts:
            assert await stored_answer(parts, SPACE, KEY, Answer) is None
            assert await run(parts) == Answer(1)
            await parts.submit(add_note("later"))
            assert await run(parts) == Answer(1)
            assert await stored_answer(parts, SPACE, KEY) == {"notes": 1}
            assert compute.decided == 1
            with pytest.raises(Conflict, match="another request"):
                await stored_answer(parts, SPACE, ("key", "other"), Answer)

    asyncio.run(main())


def test_an_answer_without_a_commit(tmp_path: Path) -> None:
    """`skip` answers without deciding, and `commit` may answer without writing; neither answer is stored."""
    compute = FakeCompute()

    async def main() -> None:
        async with services(tmp_path, compute) as parts:
            assert await run(parts, skip=lambda job: Answer(job.notes - 1)) == Answer(-1)
            assert compute.decided == 0
            assert await run(parts, commit=lambda plan: Answer(plan.notes + 7)) == Answer(7)
            assert await stored_answer(parts, SPACE, KEY, Answer) is None

    asyncio.run(main())


def test_work_of_several_writes_is_answered_once(tmp_path: Path) -> None:
    """The first answer is stored for its key; without a key the work runs each time."""
    ran: list[int] = []

    async def work() -> Answer:
        ran.append(1)
        return Answer(len(ran))

    async def main() -> None:
        async with services(tmp_path, FakeCompute()) as parts:
            for _ in range(2):
                assert await answer_once(parts, SPACE, KEY, work, Answer) == Answer(1)
            assert await answer_once(parts, SPACE, None, work, Answer) == Answer(2)

    asyncio.run(main())


def test_retries_run_one_after_the_other() -> None:
    """A caller whose first try was stale holds the lock, and later callers wait for it."""
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
    """Only a conflict that is marked as stale is retried."""
    tries: list[int] = []

    async def attempt() -> None:
        tries.append(1)
        raise Conflict("taken")

    async def main() -> None:
        with pytest.raises(Conflict, match="taken"):
            await retry_while_stale(attempt, asyncio.Lock())

    asyncio.run(main())
    assert len(tries) == 1
