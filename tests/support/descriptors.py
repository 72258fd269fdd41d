"""Counts the open file descriptors of this process, to see that none is left behind."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["descriptors", "none_left"]

CLOSED_WITHIN_S = 20.0


def descriptors() -> int:
    """Return how many file descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@contextmanager
def none_left() -> Iterator[None]:
    """Fail if more descriptors are open after the block than before.

    Threads of a server in this process may close theirs a moment after the block.
    """
    before = descriptors()
    yield
    until(lambda: descriptors() <= before, "the close of all descriptors", CLOSED_WITHIN_S)
