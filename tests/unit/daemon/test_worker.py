"""The worker: one writer thread, group commit, agents' writes before bulk writes, failures and shutdown."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from reverie.errors import Busy, Conflict, DiskFull, ReverieError, StorageFailed
from reverie.redact import Redactor
from reverie.store import Done, Failed, Kind, Store, Write
from reveried.worker import INTERACTIVE_BATCH, Worker

AT = "2026-11-21T09:30:00.000Z"


class SlowStore:
    """A fake store whose commits take a while or fail like a disk; it records the writes of each commit."""

    def __init__(self, seconds: float = 0.0, failure: Exception | None = None) -> None:
        self.seconds = seconds
        self.failure = failure
        self.batches: list[list[str]] = []
        self.threads: set[int] = set()

    def commit(self, writes: Sequence[Write[Any]], *, at: str) -> list[Done[Any] | Failed]:
        """Record the `why` of every write after a delay."""
        assert at == AT
        self.threads.add(threading.get_ident())
        time.sleep(self.seconds)
        self.batches.append([write.why for write in writes])
        if self.failure is not None:
            raise self.failure
        return [Done(write.body(None), None) for write in writes]  # type: ignore[arg-type]


def write(why: str, space: str = "default") -> Write[Any]:
    return Write(space, "tester", why, lambda _: why)


def run(store: Any, work: Callable[[Worker], Awaitable[object]], queue_length: int = 1000) -> None:
    async def main() -> None:
        worker = Worker(store, clock=lambda: AT, queue_length=queue_length)
        worker.start()
        try:
            await work(worker)
        finally:
            await asyncio.to_thread(worker.stop)

    asyncio.run(main())


def test_real_store(tmp_path: Path) -> None:
    """Concurrent writers share commits of a real store; each gets its own answer, and one failure affects no other."""
    seen: list[int] = []
    queued = threading.Event()

    def body(number: int) -> Callable[[Any], int]:
        def put(writer: Any) -> int:
            if number % 10 == 3:
                raise Conflict("not this one", hint="no")
            writer.put(Kind.NOTE, ("t", f"n{number:03}"), {"number": number})
            return number

        return put

    async def work(worker: Worker) -> None:
        # The first commit is under way until all writes are queued, however fast the disk and slow the machine.
        first = asyncio.ensure_future(worker.submit(Write("default", "tester", "wait", lambda _: queued.wait(60))))
        writes = [Write("default", "tester", "note", body(number)) for number in range(100)]
        submits = [asyncio.ensure_future(worker.submit(write)) for write in writes]
        await asyncio.sleep(0)
        queued.set()
        answers = await asyncio.gather(*submits, return_exceptions=True)
        await first
        for number, answer in enumerate(answers):
            if number % 10 == 3:
                assert isinstance(answer, Conflict)
            else:
                assert isinstance(answer, Done)
                assert answer.value == number
        status = worker.status()
        assert status.writes == 101
        assert status.commits < 20
        assert not status.failed

    with Store.open(tmp_path / "store", redactor=Redactor()) as store:
        run(store, work)
        with store.reader("default") as reader:
            seen += [value["number"] for _, value in reader.scan(Kind.NOTE)]
    assert seen == [number for number in range(100) if number % 10 != 3]


def test_one_thread_and_shared_commits() -> None:
    """Writes that queue during a commit go into the next one, up to the batch size; all in one thread."""
    store = SlowStore(0.02)

    async def work(worker: Worker) -> None:
        await asyncio.gather(*(worker.submit(write(f"w{number}")) for number in range(600)))

    run(store, work)
    assert len(store.threads) == 1
    assert threading.get_ident() not in store.threads
    assert max(map(len, store.batches)) <= INTERACTIVE_BATCH
    assert len(store.batches) <= 5
    assert list(chain.from_iterable(store.batches)) == [f"w{number}" for number in range(600)]


def test_agents_go_before_bulk_work() -> None:
    """A commit with agents' writes has one bulk write at most, so an agent never waits for the whole bulk queue."""
    store = SlowStore(0.005)

    async def work(worker: Worker) -> None:
        bulk = [asyncio.ensure_future(worker.submit(write(f"b{number}"), bulk=True)) for number in range(100)]
        await asyncio.sleep(0.02)
        for number in range(10):
            before = len(store.batches)
            await worker.submit(write(f"a{number}"))
            # One commit may have been under way; the next one has it, however many pieces of bulk work wait.
            assert f"a{number}" in chain.from_iterable(store.batches[before : before + 2])
        await asyncio.gather(*bulk)

    run(store, work)
    for batch in store.batches:
        agents = [why for why in batch if why.startswith("a")]
        pieces = [why for why in batch if why.startswith("b")]
        assert len(pieces) <= (1 if agents else 4)
        assert batch == agents + pieces


def test_full_queue_is_busy() -> None:
    """The two queues have separate limits: a full bulk queue does not refuse an agent."""
    store = SlowStore(0.2)

    async def work(worker: Worker) -> None:
        tasks = [asyncio.ensure_future(worker.submit(write("x"), bulk=True)) for _ in range(30)]
        await asyncio.sleep(0.02)
        refused = [task for task in tasks if task.done() and isinstance(task.exception(), Busy)]
        assert 20 <= len(refused) < 30
        error = refused[0].exception()
        assert isinstance(error, Busy)
        assert error.details["retryAfter"] >= 1
        await worker.submit(write("agent"))
        await asyncio.gather(*tasks, return_exceptions=True)

    run(store, work, queue_length=5)


def test_stop_commits_queued_writes() -> None:
    """Writes queued before `stop` are committed; later ones get Busy."""
    store = SlowStore(0.02)

    async def work(worker: Worker) -> None:
        tasks = [asyncio.ensure_future(worker.submit(write(f"{number}"))) for number in range(10)]
        tasks += [asyncio.ensure_future(worker.submit(write(f"b{number}"), bulk=True)) for number in range(10)]
        await asyncio.sleep(0)
        await asyncio.to_thread(worker.stop)
        answers = await asyncio.gather(*tasks)
        assert len(answers) == 20
        with pytest.raises(Busy, match="stopping"):
            await worker.submit(write("late"))

    run(store, work)


def test_a_cancelled_callers_write_is_committed() -> None:
    """A cancelled caller's write is committed all the same."""
    store = SlowStore(0.05)

    async def work(worker: Worker) -> None:
        leaving = asyncio.ensure_future(worker.submit(write("left")))
        await asyncio.sleep(0.01)
        leaving.cancel()
        await worker.submit(write("after"))

    run(store, work)
    assert list(chain.from_iterable(store.batches)) == ["left", "after"]


@pytest.mark.parametrize("failure", [StorageFailed("EIO", hint="disk"), OSError(5, "Input/output error")])
def test_a_failed_flush_refuses_later_writes(failure: Exception) -> None:
    """After a failed flush every later write is refused: no answer may depend on bytes that were lost."""
    store = SlowStore(failure=failure)

    async def work(worker: Worker) -> None:
        with pytest.raises(StorageFailed):
            await worker.submit(write("first"))
        store.failure = None
        with pytest.raises(StorageFailed, match="no more writes"):
            await worker.submit(write("second"))
        assert worker.status().failed

    run(store, work)
    assert store.batches == [["first"]]


def test_a_failed_flush_refuses_queued_writes() -> None:
    """Writes that were queued behind a failed commit get the same error and are not tried."""
    store = SlowStore(0.05, StorageFailed("EIO", hint="disk"))

    async def work(worker: Worker) -> None:
        tasks = [asyncio.ensure_future(worker.submit(write(f"{number}"))) for number in range(INTERACTIVE_BATCH * 2)]
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(answer, StorageFailed) for answer in answers)

    run(store, work)
    assert len(store.batches) == 1


def test_writes_work_again_after_a_full_disk() -> None:
    """A write on a full disk fails; the next one works once there is room, without a restart."""
    store = SlowStore(failure=DiskFull("full", hint="make room"))

    async def work(worker: Worker) -> None:
        with pytest.raises(DiskFull):
            await worker.submit(write("first"))
        store.failure = None
        done = await worker.submit(write("second"))
        assert done.value == "second"
        assert not worker.status().failed

    run(store, work)


class ForgetfulStore(SlowStore):
    """A fake store that loses the outcome of the last write of each commit."""

    def commit(self, writes: Sequence[Write[Any]], *, at: str) -> list[Done[Any] | Failed]:
        """Return one outcome too few."""
        return super().commit(writes, at=at)[:-1]


def test_a_defect_beside_the_commit_is_answered_and_ends_all_writing() -> None:
    """If the store returns no outcome for a write its caller gets StorageFailed, and so does every later write."""
    store = ForgetfulStore()

    async def work(worker: Worker) -> None:
        async with asyncio.timeout(20):
            with pytest.raises(StorageFailed):
                await worker.submit(write("first"))
            with pytest.raises(StorageFailed, match="no more writes"):
                await worker.submit(write("second"))
        assert worker.status().failed

    run(store, work)
    assert store.batches == [["first"]]


def test_a_write_of_a_closed_loop_is_committed() -> None:
    """A write whose caller's event loop is closed is committed, and its answer dropped."""
    store = SlowStore(0.1)
    worker = Worker(store, clock=lambda: AT, queue_length=5)
    worker.start()

    async def ask() -> None:
        asyncio.ensure_future(worker.submit(write("x")))  # noqa: RUF006 - it is left on purpose
        await asyncio.sleep(0.01)

    asyncio.run(ask())
    worker.stop()
    assert store.batches == [["x"]]


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_an_exception_that_ends_threads_does_not_end_the_writer(error: BaseException, tmp_path: Path) -> None:
    """A write whose body raises more than an Exception fails alone; its neighbours and later writes succeed."""

    def ends(writer: Any) -> None:
        del writer
        raise error

    async def work(worker: Worker) -> None:
        outcomes = await asyncio.gather(
            worker.submit(write("before")),
            worker.submit(Write("default", "tester", "ends", ends)),
            worker.submit(write("after")),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [Done, ReverieError, Done]
        assert (await worker.submit(write("later"))).value == "later"
        assert worker.failure is None

    with Store.open(tmp_path / "store", redactor=Redactor()) as store:
        run(store, work)


def test_a_writer_that_breaks_outside_of_a_commit_refuses_its_callers() -> None:
    """If the worker's clock raises SystemExit the waiting caller gets StorageFailed, and so does every later one."""

    def broken() -> str:
        raise SystemExit

    async def main() -> None:
        worker = Worker(SlowStore(), clock=broken, queue_length=10)
        worker.start()
        for _ in range(2):
            with pytest.raises(StorageFailed):
                await asyncio.wait_for(worker.submit(write("one")), 30)
        assert worker.failure is not None
        await asyncio.to_thread(worker.stop)

    asyncio.run(main())


def test_the_writer_does_not_outlive_its_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """`stop` returns once the thread has ended, however long the last commit takes: the store is closed next."""
    monkeypatch.setattr("reveried.worker.STOP_SAID_S", 0.01)
    monkeypatch.setattr("reveried.worker.STOP_TIMEOUT_S", 0.01, raising=False)
    store = SlowStore(seconds=0.3)

    async def work() -> None:
        worker = Worker(store, clock=lambda: AT, queue_length=8)
        worker.start()
        written = asyncio.ensure_future(worker.submit(write("last")))
        await asyncio.sleep(0.05)
        await asyncio.to_thread(worker.stop)
        assert not worker._thread.is_alive()
        assert (await written).value is not None or store.batches == [["last"]]

    asyncio.run(work())


def test_what_is_committed_is_answered_as_committed() -> None:
    """A failure of what follows a commit is no error of its writes, which a retry would write once more."""
    store = SlowStore()

    def noted() -> None:
        raise KeyError("after the commit")

    async def work() -> None:
        worker = Worker(
            store,
            clock=lambda: AT,
            queue_length=8,
            on_commit=noted,
            beside=lambda: (write("fingerprints"), noted),
        )
        worker.start()
        await worker.submit(write("kept"))
        await asyncio.to_thread(worker.stop)
        assert store.batches == [["kept", "fingerprints"]]

    asyncio.run(work())


def test_commits_are_announced() -> None:
    """`on_commit` is called after each commit, not before."""
    announced: list[int] = []
    store = SlowStore()

    async def main() -> None:
        worker = Worker(store, clock=lambda: AT, queue_length=5, on_commit=lambda: announced.append(len(store.batches)))
        worker.start()
        await worker.submit(write("x"))
        await asyncio.to_thread(worker.stop)

    asyncio.run(main())
    assert announced == [1]
