"""Fixtures: a daemon whose distiller is a program that the test controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie.client import Client
from support.daemon import Daemon, running_daemon
from support.fake_model import FakeModel

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def model(tmp_path_factory: pytest.TempPathFactory) -> FakeModel:
    """A model that proposes nothing until the test says otherwise."""
    return FakeModel.at(tmp_path_factory.mktemp("model"))


@pytest.fixture
def daemon(model: FakeModel) -> Iterator[Daemon]:
    """A daemon that asks this model."""
    with running_daemon(None, **model.settings()) as running:
        yield running


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    """A client of that daemon."""
    with Client(daemon.socket) as opened:
        yield opened
