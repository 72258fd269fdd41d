"""Waiting for a state of another process, thread or task, with a time-out for busy machines."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["MOST_S", "PAUSE_S", "suspended", "wait_until"]

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
