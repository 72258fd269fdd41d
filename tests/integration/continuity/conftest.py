"""Fixtures of continuity tests: one daemon per module, and a client of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie.client import Client
from support.daemon import Daemon, running_daemon

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """A daemon that all tests of a module share; each uses threads of its own."""
    with running_daemon() as running:
        yield running


@pytest.fixture(scope="module")
def client(daemon: Daemon) -> Iterator[Client]:
    """A client of that daemon."""
    with Client(daemon.socket) as opened:
        yield opened
