"""Jobs while there is no compute process: which of them run in the daemon, and when a child is started."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from reverie.errors import ReverieError, ValidationError
from reveried import compute
from support import fake_jobs
from support.compute import jobs_on_the_path, run

if TYPE_CHECKING:
    from pathlib import Path

    from reveried.compute import Compute

__all__ = ["jobs_on_the_path"]


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


def test_a_middling_job_does_not_wait_for_the_child_that_it_starts() -> None:
    async def work(made: Compute) -> None:
        body = b"x" * (compute.SMALL_BYTES + 1)
        assert await made.run("echo", body) == body
        while not made.pids():  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.01)
        assert made.started == 1
        assert await made.run("pid", b"") == str(made.pids()[0]).encode()

    run(work, small_jobs={"echo"})


def test_a_middling_job_is_done_before_its_child_starts(tmp_path: Path) -> None:
    """A child process is started only after a job of middle size has ended in the daemon's own process."""

    async def work(made: Compute) -> None:
        gate = tmp_path / "gate"
        body = bytes(gate) + b" " * compute.SMALL_BYTES
        waiting = asyncio.ensure_future(made.run("wait", body))
        while not made._in_thread.locked():  # noqa: ASYNC110 - it has begun
            await asyncio.sleep(0)
        assert not made._warming
        assert made.pids() == []
        gate.touch()
        await waiting
        while not made.pids():  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.01)
        assert made.started == 1

    run(work, small_jobs={"wait"})


def test_a_child_that_is_made_ready() -> None:
    """A child that `prepare` started takes the next job, and a second `prepare` keeps it alive for longer."""

    async def work(made: Compute) -> None:
        made.prepare()
        made.prepare()
        while not made.pids():  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.01)
        assert await made.run("pid", b"") == str(made.pids()[0]).encode()
        lane = made._lanes[False]
        assert lane.child is not None
        before = lane.child.idle
        made.prepare()
        assert before is not None
        assert before.cancelled()
        assert lane.child.idle is not before
        assert made.started == 1
        await made.close()
        made.prepare()
        assert made.pids() == []

    run(work, small_jobs={"pid"})
