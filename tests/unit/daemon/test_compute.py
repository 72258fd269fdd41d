"""The compute process: requests and responses, lanes, crashes, time limits, idling and shutdown."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path

import pytest

from reverie.errors import Busy, ReverieError, TokenBudgetExceeded, ValidationError
from reveried import compute
from reveried.compute import Compute, ComputeFailed
from support import fake_jobs
from support.waiting import descriptor_count, wait_until

TESTS = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def jobs_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let child processes import the fake jobs of the tests."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]))


def run(
    work: Callable[[Compute], Awaitable[object]],
    *,
    idle_s: float = 30,
    timeout_s: float = 30,
    small_jobs: Collection[str] = (),
) -> None:
    """Run `work` with a Compute over the fake jobs, and assert that no child is left afterwards."""

    async def main() -> None:
        made = Compute(idle_s=idle_s, timeout_s=timeout_s, jobs_module="support.fake_jobs", small_jobs=small_jobs)
        try:
            await work(made)
        finally:
            pids = made.pids()
            await made.close()
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    asyncio.run(main())


def test_answers_in_another_process() -> None:
    """Any bytes come back unchanged, large ones too; later calls use the same child."""

    async def work(made: Compute) -> None:
        assert made.pids() == []
        for body in (b"", b"\x00\xff" * 10, os.urandom(9 << 20)):
            assert await made.run("echo", body) == body
        first, second = await made.run("pid", b""), await made.run("pid", b"")
        assert first == second != str(os.getpid()).encode()
        assert made.started == 1

    run(work)


def test_errors_keep_class_and_details() -> None:
    """A ReverieError keeps its class and details; any other error arrives as internal_error without its text."""

    async def work(made: Compute) -> None:
        with pytest.raises(ValidationError) as refused:
            await made.run("refuse", b"here")
        assert refused.value.details == {"hint": "do better", "where": "here"}
        with pytest.raises(TokenBudgetExceeded) as budget:
            await made.run("budget", b"42")
        assert budget.value.minimum_required == 42
        for job in ("defect", "no such job"):
            with pytest.raises(ReverieError) as defect:
                await made.run(job, b"zebra")
            assert defect.value.code == "internal_error"
            assert "zebra" not in f"{defect.value.message}{defect.value.details}"
        assert await made.run("echo", b"still") == b"still"
        assert made.started == 1

    run(work)


def test_a_crash_fails_the_job_and_no_other() -> None:
    """A job whose child crashes fails with ComputeFailed; the next job gets a new child."""

    async def work(made: Compute) -> None:
        await made.run("echo", b"")
        with pytest.raises(ComputeFailed) as crash:
            await made.run("crash", b"9")
        assert crash.value.details["exitStatus"] == 9
        assert await made.run("echo", b"again") == b"again"
        (pid,) = made.pids()
        (process,) = [lane.child.process for lane in made._lanes.values() if lane.child is not None]
        os.kill(pid, signal.SIGKILL)
        await _until_gone(pid)
        await process.wait()  # until asyncio knows of it too: a call before that would be the one that fails
        assert await made.run("echo", b"again") == b"again"
        assert made.started == 3

    run(work)


def test_a_crash_in_the_middle_of_a_large_body() -> None:
    """If the child dies while a large request is written to it, the call fails with ComputeFailed."""

    async def work(made: Compute) -> None:
        await made.run("echo", b"")
        (pid,) = made.pids()
        os.kill(pid, signal.SIGSTOP)
        asking = asyncio.ensure_future(made.run("echo", b"x" * (32 << 20)))
        await asyncio.sleep(0.1)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ComputeFailed):
            await asking

    run(work)


@pytest.mark.timeout(60)
def test_a_job_beyond_the_time_limit() -> None:
    """A job beyond the time limit fails at the limit, and its child is ended."""

    async def work(made: Compute) -> None:
        with pytest.raises(ComputeFailed, match="longer than"):
            await made.run("sleep", b"600", timeout_s=0.3)
        assert made.pids() == []
        assert await made.run("echo", b"x") == b"x"

    run(work)


def test_a_cancelled_call_ends_its_child() -> None:
    """Cancelling a call ends its child, and the next call starts another."""

    async def work(made: Compute) -> None:
        asking = asyncio.ensure_future(made.run("sleep", b"30"))
        while not made.pids():  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await made.run("echo", b"x") == b"x"
        assert made.started == 2

    run(work)


def test_an_idle_child_ends() -> None:
    """An idle child ends by itself after a while, and the next call starts another."""

    async def work(made: Compute) -> None:
        (pid,) = [int(await made.run("pid", b""))]
        await _until_gone(pid)
        assert await made.run("echo", b"x") == b"x"
        assert made.started == 2

    run(work, idle_s=0.2)


def test_closing_leaves_no_child_timer_or_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    """After `close` the children are reaped, their pipes closed, and the event loop waits for no idle limit."""
    monkeypatch.setattr(compute, "after_work", lambda _: None)  # its timer is the daemon's

    async def main() -> None:
        before = descriptor_count()
        made = Compute(idle_s=3600, timeout_s=30, jobs_module="support.fake_jobs")
        await asyncio.gather(made.run("echo", b"x"), made.run("echo", b"y", bulk=True))
        assert descriptor_count() > before
        await made.close()
        await asyncio.sleep(0)
        assert made.pids() == []
        assert descriptor_count() == before
        timers = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]
        assert [timer for timer in timers if not timer.cancelled()] == []

    asyncio.run(main())


def test_a_child_at_work_is_ended_by_a_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing ends a child in the middle of its job by SIGTERM, before the time after which it is killed."""
    monkeypatch.setattr(compute, "STOP_GRACE_S", 25.0)

    async def work(made: Compute) -> None:
        await made.run("echo", b"")
        asking = asyncio.ensure_future(made.run("sleep", b"60"))
        await asyncio.sleep(0.2)
        await asyncio.wait_for(made.close(), 60)
        with pytest.raises(ReverieError):
            await asking

    run(work)


def test_a_child_that_ignores_sigterm_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped child that ignores SIGTERM is killed after the grace period."""
    monkeypatch.setattr(compute, "STOP_GRACE_S", 0.2)

    async def work(made: Compute) -> None:
        (pid,) = [int(await made.run("pid", b""))]
        os.kill(pid, signal.SIGSTOP)
        await asyncio.wait_for(made.close(), 60)
        assert not _alive(pid)

    run(work)


def test_a_full_queue_is_busy() -> None:
    """A full queue and a closed Compute answer Busy."""

    async def work(made: Compute) -> None:
        waiting = [asyncio.ensure_future(made.run("sleep", b"0.3")) for _ in range(compute.BULK_QUEUE)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await made.run("echo", b"x")
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await made.close()
        with pytest.raises(Busy):
            await made.run("echo", b"x")

    run(work)


def test_bulk_work_yields_the_processor() -> None:
    """The child for bulk jobs has a higher niceness than the daemon, the child for agents the same."""

    async def work(made: Compute) -> None:
        ours = os.getpriority(os.PRIO_PROCESS, 0)
        one, bulk = [int(await made.run("pid", b"", bulk=bulk)) for bulk in (False, True)]
        assert os.getpriority(os.PRIO_PROCESS, one) == ours
        assert os.getpriority(os.PRIO_PROCESS, bulk) == min(ours + compute.BULK_NICENESS, 19)

    run(work)


def test_the_child_gives_memory_back_once_no_job_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child frees its memory once after two large jobs, when no further job waits."""
    to_child, from_us = os.pipe()
    to_us, from_child = os.pipe()
    released: list[bytes] = []

    def release() -> None:
        released.append(os.read(to_us, 1 << 16))
        os.close(from_us)

    monkeypatch.setattr(compute, "LARGE_BYTES", 1)
    monkeypatch.setattr(compute, "QUIET_S", 0)
    monkeypatch.setattr(compute, "release_memory", release)
    before = signal.getsignal(signal.SIGINT)
    try:
        os.write(from_us, (compute.HEAD.pack(4, 1) + b"echo" + b"x") * 2)
        assert compute.main(["support.fake_jobs", "0", "0"], source=to_child, target=from_child) == 0
    finally:
        signal.signal(signal.SIGINT, before)
        for end in (to_child, to_us, from_child):
            os.close(end)
    assert released == [(compute.HEAD.pack(2, 1) + b"okx") * 2]


def test_children_die_with_the_daemon() -> None:
    """A child ends in the middle of its job when its parent is killed with SIGKILL."""
    code = (
        "import asyncio\n"
        "from reveried.compute import Compute\n"
        "async def main():\n"
        "    made = Compute(idle_s=60, timeout_s=60, jobs_module='support.fake_jobs')\n"
        "    print((await made.run('pid', b'')).decode(), flush=True)\n"
        "    await made.run('sleep', b'60')\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
    wait_until(lambda: not _alive(pid), "the end of the child")


async def _until_gone(pid: int) -> None:
    """Wait until a process has ended; the event loop runs meanwhile."""
    while _alive(pid):  # noqa: ASYNC110 - another process has no event to wait for
        await asyncio.sleep(0.01)


def _alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text("ascii")
    except OSError:
        return False


def test_a_small_job_needs_no_child() -> None:
    """Without a child a small job runs in the daemon's process, clears its caches, and raises the same errors."""

    async def work(made: Compute) -> None:
        before = len(fake_jobs.CLEARED)
        assert await made.run("pid", b"") == str(os.getpid()).encode()
        assert await made.run("pid", b"", bulk=True) == str(os.getpid()).encode()
        with pytest.raises(ValidationError, match="no good") as refused:
            await made.run("refuse", b"here")
        assert refused.value.details == {"hint": "do better", "where": "here"}
        with pytest.raises(ReverieError, match="defect failed unexpectedly"):
            await made.run("defect", b"words of a person")
        assert len(fake_jobs.CLEARED) - before == 4
        assert (made.pids(), made.started) == ([], 0)
        assert await made.run("echo", b"x") == b"x", "no small job: it starts a child"
        assert await made.run("pid", b"") == str(made.pids()[0]).encode(), "which then takes the small ones too"

    run(work, small_jobs={"pid", "refuse", "defect"})
