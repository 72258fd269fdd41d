"""The lock that keeps the store's map at its address: taken to release its pages, and to move the map."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from reverie.store import env
from reverie.store.env import MAPS_LOCK, Environment
from reveried import ram

if TYPE_CHECKING:
    from pathlib import Path


def test_memory_is_given_back_while_no_map_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of the store's map are released under the lock of the maps, memory of the heap without it."""
    done = threading.Event()
    held: list[tuple[str, bool]] = []

    def release(name: str = "") -> None:
        held.append((name, MAPS_LOCK.locked()))
        if name:
            done.set()

    async def large() -> None:
        ram.after_work(ram.LARGE_BYTES)
        assert await asyncio.to_thread(done.wait, 60)

    monkeypatch.setattr(ram, "QUIET_S", 0.0)
    monkeypatch.setattr(ram, "release_memory", release)
    monkeypatch.setattr(ram, "release_pages", release)
    asyncio.run(large())

    assert held == [("", False), ("data.mdb", True)]


@pytest.mark.parametrize("size", [1, ram.LARGE_BYTES])
def test_memory_is_given_back_regularly(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """After steady work, small or large, memory is released once, though the process was never idle."""
    done = threading.Event()
    released: list[str] = []

    def release(name: str = "") -> None:
        released.append(name)
        if name:
            done.set()

    async def work() -> None:
        for _ in range(100):
            ram.after_work(size)
        assert await asyncio.to_thread(done.wait, 60)
        await asyncio.sleep(0)

    monkeypatch.setattr(ram, "QUIET_S", 3600.0)
    monkeypatch.setattr(ram, "REGULAR_S", 0.01)
    monkeypatch.setattr(ram, "release_memory", release)
    monkeypatch.setattr(ram, "release_pages", release)
    asyncio.run(work())

    assert released == ["", "data.mdb"]


def test_a_map_moves_while_nobody_uses_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Growing, compacting and closing an environment each take and release the lock of the maps."""
    environment = Environment(tmp_path, map_bytes=1 << 20)
    taken: list[str] = []

    class Lock:
        def __enter__(self) -> None:
            taken.append("taken")

        def __exit__(self, *_: object) -> None:
            taken.append("released")

    monkeypatch.setattr(env, "MAPS_LOCK", Lock())
    environment.grow()
    environment.compact()
    environment.close()

    assert taken == ["taken", "released"] * 3
