"""A compute process with fake jobs, and the check after each test that none of its children is left."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path

import pytest

from reveried.compute import Compute

TESTS = Path(__file__).resolve().parents[1]


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
