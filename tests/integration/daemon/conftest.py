"""Fixture of HTTP tests: one daemon with a small body limit per module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.daemon import Daemon, running_daemon
from support.http_checks import LIMITED


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """A daemon that must survive everything that the tests of a module send."""
    with running_daemon(**LIMITED) as running:
        yield running
