"""Count of this process's open file descriptors, for tests against descriptor leaks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.waiting import wait_until

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
