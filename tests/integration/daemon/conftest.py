"""Fixture: one daemon with a small body limit per module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.daemon import Daemon, running_daemon
from support.http_checks import LIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """Yield a daemon that must survive everything that a module's tests send to it."""
    with running_daemon(**LIMITED) as running:
        yield running
