"""Fixtures of integration tests: one daemon per module, and a client of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from reverie.client import Client
from support.daemon import Daemon, running_daemon
from support.daemon_folder import Tree, tree
from support.waiting import seconds_past_midnight


@pytest.fixture(autouse=True)
def _within_one_day() -> None:
    """Begin no test just before the end of a UTC day."""
    time.sleep(seconds_past_midnight(datetime.now(UTC)))


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """A daemon shared by all tests of a module; each test uses its own threads."""
    with running_daemon() as running:
        yield running


@pytest.fixture(scope="module")
def client(daemon: Daemon) -> Iterator[Client]:
    """A client of that daemon."""
    with Client(daemon.socket) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder() -> Iterator[Tree]:
    """A daemon with its folder, which the tests of a module edit as people do."""
    with tree() as running:
        yield running
