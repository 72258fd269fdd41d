"""Wait for a state that another process, thread or task brings about, for as long as a busy machine may take."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["stopped", "until"]

MOST_S = 120.0  # far above what a machine with much else to do needs, and below the limit of one test (300 s)
PAUSE_S = 0.02


def until(state: Callable[[], object], what: str = "the expected state", most_s: float = MOST_S) -> None:
    """Return once `state()` is true; fail, naming `what` was waited for, when it is not within `most_s` seconds."""
    deadline = time.monotonic() + most_s
    while not state():
        assert time.monotonic() < deadline, f"{what} did not come within {most_s:g} s"
        time.sleep(PAUSE_S)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Stop a process meanwhile (SIGSTOP), so that several changes are one moment to it."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
