"""Jobs (result, progress, cancelling, isolation of spaces), and the wake-ups of the event stream."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable

import pytest

from reverie.errors import Busy, ReverieError, ValidationError
from reveried import jobs
from reveried.jobs import Jobs
from reveried.wakeups import Events

AT = "2026-11-21T09:30:00.000Z"


def run(work: Callable[[Jobs], Awaitable[object]]) -> None:
    async def main() -> None:
        made = Jobs(clock=lambda: AT, now_ms=lambda: 1_795_253_400_000, random=os.urandom)
        await work(made)
        await made.close(0.1)
        assert made.running == 0

    asyncio.run(main())


async def quick() -> dict[str, int]:
    await asyncio.sleep(0)
    return {"answer": 42}


async def endless() -> None:
    await asyncio.sleep(60)


async def refused() -> None:
    raise ValidationError("no good", hint="do better")


async def defect() -> None:
    raise KeyError("zebra")


async def panicking() -> None:
    raise BaseExceptionGroup("no Exception, as a panic is none", [GeneratorExit()])


def test_failures() -> None:
    """A ReverieError becomes the job's error; any other exception becomes internal_error without its text."""

    async def work(made: Jobs) -> None:
        job = made.start("blue", "dream", refused)
        with pytest.raises(ValidationError, match="no good"):
            await made.wait(job)
        assert job.answer().error == {
            "error": "validation_error",
            "message": "no good",
            "details": {"hint": "do better"},
        }
        broken = made.start("blue", "dream", defect)
        with pytest.raises(ReverieError) as caught:
            await made.wait(broken)
        assert caught.value.code == "internal_error"
        assert "zebra" not in str(broken.answer())
        panicked = made.start("blue", "dream", panicking)
        with pytest.raises(ReverieError):
            await made.wait(panicked)
        assert panicked.state == "failed"

    run(work)


def test_cancelling() -> None:
    """A cancelled job has that state and fails its waiters; cancelling is idempotent."""

    async def work(made: Jobs) -> None:
        job = made.start("blue", "dream", endless)
        waiting = asyncio.ensure_future(made.wait(job))
        await asyncio.sleep(0.01)
        assert (await made.cancel("blue", job.id)).state == "cancelled"
        with pytest.raises(Busy, match="cancelled"):
            await waiting
        assert (await made.cancel("blue", job.id)).state == "cancelled"

    run(work)


def test_a_cancelled_waiter_does_not_end_the_job() -> None:
    """A job continues when the caller that waits for it is cancelled."""

    async def work(made: Jobs) -> None:
        async def slow() -> str:
            await asyncio.sleep(0.05)
            return "there"

        job = made.start("blue", "dream", slow)
        waiting = asyncio.ensure_future(made.wait(job))
        await asyncio.sleep(0.01)
        waiting.cancel()
        assert await made.wait(job) == "there"

    run(work)


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many running jobs are Busy; only the newest finished ones are kept; close cancels running ones."""
    monkeypatch.setattr(jobs, "RUNNING_MAX", 3)
    monkeypatch.setattr(jobs, "REMEMBERED_MAX", 5)

    async def work(made: Jobs) -> None:
        running = [made.start("blue", "dream", endless) for _ in range(3)]
        with pytest.raises(Busy):
            made.start("blue", "dream", quick)
        await made.cancel("blue", running[0].id)
        for _ in range(20):
            await made.wait(made.start("blue", "dream", quick))
        assert len(made.list("blue")) <= 2 + 5 + 1
        await made.close(0.01)
        assert running[1].state == "cancelled"

    run(work)


def test_subscriptions_are_woken() -> None:
    """A commit wakes every subscription, a wait times out, a closed slot is free again, `end` wakes all."""

    async def main() -> None:
        events = Events(asyncio.get_running_loop(), subscribers=2)
        first, second = events.subscribe(), events.subscribe()
        with pytest.raises(Busy):
            events.subscribe()
        assert events.readers == 2
        assert not await first.wait(0.01)
        await asyncio.to_thread(events.notify)
        assert await first.wait(60)
        assert await second.wait(60)
        assert not await first.wait(0.01)
        second.close()
        second.close()
        third = events.subscribe()
        events.end()
        assert await third.wait(60)
        assert third.ended

    asyncio.run(main())


def test_notify_after_the_loop_was_closed() -> None:
    """`notify` after the loop was closed does nothing."""
    loop = asyncio.new_event_loop()
    events = Events(loop)
    loop.close()

    events.notify()
