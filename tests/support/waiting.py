"""Waiting for a state of another process, thread or task, with a time-out for busy machines."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_S = 120.0  # far above what a machine with much else to do needs, and below the limit of one test (300 s)
PAUSE_S = 0.02  # between two looks at a state


def wait_until(state: Callable[[], object], what: str = "the expected state", most_s: float = MOST_S) -> None:
    """Return once `state()` is true; fail with `what` if it is not within `most_s` seconds."""
    deadline = time.monotonic() + most_s
    while not state():
        assert time.monotonic() < deadline, f"{what} did not come within {most_s:g} s"
        time.sleep(PAUSE_S)


@contextmanager
def suspended(pid: int) -> Iterator[None]:
    """Suspend a process (SIGSTOP) during the block, so that it sees several changes at once."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


CLOSED_WITHIN_S = 20.0


def descriptor_count() -> int:
    """Return how many file descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@contextmanager
def no_leaked_descriptors() -> Iterator[None]:
    """Fail if more descriptors are open after the block than before.

    Threads of a server in this process may close theirs a moment after the block.
    """
    before = descriptor_count()
    yield
    wait_until(lambda: descriptor_count() <= before, "the close of all descriptors", CLOSED_WITHIN_S)
