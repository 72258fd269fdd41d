"""Fixture of HTTP tests: one daemon with a small body limit per module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.daemon import LIMITED, Daemon, running_daemon


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """A daemon that must survive everything that the tests of a module send."""
    with running_daemon(**LIMITED) as running:
        yield running
