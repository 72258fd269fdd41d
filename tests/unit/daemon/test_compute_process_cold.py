"""Jobs while there is no compute process: which of them run in the daemon, and when a child is started."""

from __future__ import annotations

import os

import pytest

from reverie.errors import ReverieError, ValidationError
from reveried.compute import Compute
from support import fake_jobs
from support.compute import jobs_on_the_path, run

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
