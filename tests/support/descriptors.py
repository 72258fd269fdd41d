"""Counts the open file descriptors of this process, to see that none is left behind."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["descriptors", "none_left"]


def descriptors() -> int:
    """Return how many file descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@contextmanager
def none_left() -> Iterator[None]:
    """Fail if more descriptors are open after the block than before."""
    before = descriptors()
    yield
    assert descriptors() <= before
