"""Fixtures: a daemon whose distiller is a program that the test controls, and a space of it for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reverie.client import Client
from support.daemon import Daemon, running_daemon
from support.fake_model import FakeModel
from support.model_server import ModelServer


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> FakeModel:
    """The program of a module's model."""
    return FakeModel.at(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True)
def model(program: FakeModel) -> FakeModel:
    """The module's fake model, reset for each test: no requests recorded, and no proposals until the test sets some."""
    program.reset()
    return program


@pytest.fixture(scope="module")
def daemon(program: FakeModel) -> Iterator[Daemon]:
    """A daemon whose strong model is this program; without a cheap model it makes no requests for working states."""
    with running_daemon(None, **program.settings()) as running:
        yield running


@pytest.fixture
def space(daemon: Daemon) -> str:
    """A new space for each test."""
    with Client(daemon.socket) as owner:
        return owner.create_space(f"space-{len(owner.spaces().items)}").id


@pytest.fixture
def token(daemon: Daemon, space: str) -> str:
    """The token of a person for that space."""
    with Client(daemon.socket) as owner:
        return str(owner.create_token(space).token)


@pytest.fixture
def client(daemon: Daemon, token: str) -> Iterator[Client]:
    """A person's client of that space."""
    with Client(daemon.socket, token=token) as opened:
        yield opened


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """The provider of all tests of a module."""
    with ModelServer() as running:
        yield running
