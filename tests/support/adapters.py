"""Stores of adapters, each with a space of its own in one daemon, and the frameworks that tests need."""

from __future__ import annotations

import importlib.util
import itertools

import pytest

from reverie.client import AsyncClient, Client
from support.daemon import Daemon


def needs(module: str, package: str) -> pytest.MarkDecorator:
    """Return the mark that skips a test where a framework is not installed, with the command that installs it."""
    try:
        missing = importlib.util.find_spec(module) is None
    except ModuleNotFoundError:  # a folder above it is missing
        missing = True
    return pytest.mark.skipif(missing, reason=f"not installed: pip install {package}")


class FreshSpaces:
    """Clients of a daemon, each of a new and empty space."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._numbers = itertools.count(1)

    def token(self) -> str:
        """Create a space; return a token for it."""
        with Client(self._daemon.socket) as owner:
            space = f"adapter{next(self._numbers)}"
            owner.create_space(space)
            token = owner.create_token(space).token
        assert token is not None
        return token

    def client(self) -> AsyncClient:
        """Return an asyncio client of a new space."""
        return AsyncClient(self._daemon.socket, token=self.token())

    def blocking(self) -> Client:
        """Return a blocking client of a new space."""
        return Client(self._daemon.socket, token=self.token())
