"""The loop that keeps one folder: whatever fails, it goes on, forgets no hint, and does not spin."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest

from reverie.errors import DiskFull
from reverie.paths import Layout
from reveried.config import load
from reveried.folders import attendant
from reveried.folders.attendant import Attendant

if TYPE_CHECKING:
    from pathlib import Path

    from reveried.folders.folder import Folder


@dataclass
class Late:
    due: int | None = None


@dataclass
class Looked:
    adopted: int = 1
    written: int = 0
    deleted: int = 0


@dataclass
class Failing:
    """Folders whose steps fail so many times."""

    root: Path
    fails: dict[str, int] = field(default_factory=dict)
    looks: list[tuple[set[str], bool]] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    late: Late = field(default_factory=Late)

    def _fail(self, step: str) -> None:
        if self.fails.get(step, 0) > 0:
            self.fails[step] -= 1
            raise DiskFull(f"no room for {step}", hint="make room")
        self.done.append(step)

    @property
    def due(self) -> int | None:
        self._fail("due")
        return None

    def of(self, _: str) -> Folder:
        return cast("Folder", self)

    def root_of(self, _: str) -> Path:
        return self.root

    async def sync(self, _: str, paths: set[str] | None, *, whole: bool = False) -> Any:
        self.looks.append((set(paths or ()), whole))
        self._fail("sync")
        return Looked()

    async def record(self, _: str) -> None:
        self._fail("record")

    async def project(self, _: str) -> None:
        self._fail("project")


@pytest.mark.parametrize("step", ["due", "sync", "record", "project"])
def test_whatever_fails_is_tried_again_and_no_hint_is_forgotten(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what fails while it waits; and between two tries it sleeps."""
    monkeypatch.setattr(attendant, "RETRY_S", 0.05)
    env = {"REVERIE_HOME": str(tmp_path / "home"), "REVERIE_SYNC_DEBOUNCE_MS": "10"}
    config = load(Layout.from_env(env, tmp_path, 0), env, home=tmp_path).sync
    folders = Failing(tmp_path / "no-folder", fails={step: 3})

    async def run() -> None:
        kept = Attendant(folders, "default", config, now_ms=lambda: 0)
        kept.hear("facts/a.md", asyncio.get_running_loop().time())
        task = asyncio.create_task(kept.run())
        for _ in range(1_500):
            await asyncio.sleep(0.01)
            if {"sync", "record", "project"} <= set(folders.done):
                break
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(run())

    assert folders.fails == {step: 0}
    assert {"sync", "record", "project"} <= set(folders.done)
    hinted = [number for number, (paths, _) in enumerate(folders.looks) if "facts/a.md" in paths]
    assert len(hinted) == (4 if step == "sync" else 1)  # until it was looked at, and no more
    assert len(folders.looks) <= 8
