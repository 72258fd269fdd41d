"""Checks after each test of this folder that no file descriptor was left open."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.waiting import no_leaked_descriptors


@pytest.fixture(autouse=True)
def no_descriptor_is_left() -> Iterator[None]:
    """Fail a test after which more descriptors are open than before it."""
    with no_leaked_descriptors():
        yield
