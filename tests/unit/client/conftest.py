"""Fixtures for tests of both clients: `ask` makes one call with the blocking or the asyncio client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reverie.client import AsyncClient, Client
from support.waiting import no_leaked_descriptors

Ask = Callable[..., Any]


@pytest.fixture(autouse=True)
def no_descriptor_is_left() -> Iterator[None]:
    """Fail a test after which more descriptors are open than before it."""
    with no_leaked_descriptors():
        yield


def _blocking(socket: Path, name: str, /, *args: Any, **kwargs: Any) -> Any:
    options = kwargs.pop("options", {})
    with Client(socket, **options) as client:
        return getattr(client, name)(*args, **kwargs)


def _awaited(socket: Path, name: str, /, *args: Any, **kwargs: Any) -> Any:
    options = kwargs.pop("options", {})

    async def run() -> Any:
        async with AsyncClient(socket, **options) as client:
            return await getattr(client, name)(*args, **kwargs)

    return asyncio.run(run())


@pytest.fixture(params=[_blocking, _awaited], ids=["blocking", "asyncio"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Return a function that makes one call with a client of its own and closes it."""
    chosen: Ask = request.param
    return chosen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of the socket."""
    return tmp_path / "r.sock"
