"""Fixtures of integration tests: one daemon per module, and a client of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from datetime import time as dt_time

import pytest

from reverie.client import Client
from support.daemon import Daemon, running_daemon
from support.daemon_folder import Tree, tree

DAY_END_S = 60.0  # before the end of a UTC day, in which no test begins that counts by day; most take a few seconds


def seconds_past_midnight(now: datetime) -> float:
    """Return the seconds to wait so that no UTC day ends soon: up to a little after midnight if it is near, else 0.

    The daemon counts the tokens of models by day, and dates what it writes. A test that compares two such values would
    fail if the day ended between them.
    """
    midnight = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), dt_time.min, UTC)
    left_s = (midnight - now).total_seconds()
    return left_s + 1.0 if left_s <= DAY_END_S else 0.0


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
