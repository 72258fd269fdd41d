"""The sync loop: after any failure it continues, loses no event, and does not spin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from reverie.errors import DiskFull, ReverieError
from reverie.places import Layout
from reveried.config import Sync, load
from reveried.sync import loop as loop_module
from reveried.sync import state
from reveried.sync.folder import Folder
from reveried.sync.loop import SyncLoop
from reveried.sync.service import SyncService
from support.waiting import MOST_S


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
    """A sync service whose steps fail a number of times."""

    root: Path
    fails: dict[str, int] = field(default_factory=dict)
    scans: list[tuple[set[str], bool]] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    late: Late = field(default_factory=Late)
    unwritten: int = 0
    growing: set[str] = field(default_factory=set)
    problem: ReverieError | None = None
    adopts: int = 1  # documents that each scan stores

    def _fail(self, step: str) -> None:
        if self.fails.get(step, 0) > 0:
            self.fails[step] -= 1
            raise DiskFull(f"no room for {step}", hint="make room")
        self.done.append(step)

    @property
    def rescan_due(self) -> int | None:
        self._fail("due")
        return None

    @property
    def index(self) -> Failing:
        return self

    def folder(self, _: str) -> Folder:
        return cast("Folder", self)

    def root_of(self, _: str) -> Path:
        return self.root

    async def sync(self, _: str, paths: set[str] | None, *, whole: bool = False) -> Any:
        self.scans.append((set(paths or ()), whole))
        self._fail("sync")
        return Looked(self.adopts)

    async def save_baselines(self, _: str) -> None:
        self._fail("record")

    async def update_projections(self, _: str) -> ReverieError | None:
        if self.unwritten > 0:
            self.unwritten -= 1
            return DiskFull("no room for an index", hint="make room")
        self._fail("project")
        return None


def config_of(tmp_path: Path) -> Sync:
    env = {"REVERIE_HOME": str(tmp_path / "home"), "REVERIE_SYNC_DEBOUNCE_MS": "10"}
    return load(Layout.from_env(env, tmp_path, 0), env, home=tmp_path).sync


async def until(done: Callable[[], object]) -> None:
    for _ in range(int(MOST_S / 0.01)):
        if done():
            return
        await asyncio.sleep(0.01)


@asynccontextmanager
async def attending(folders: Failing, tmp_path: Path) -> AsyncIterator[SyncLoop]:
    kept = SyncLoop(cast("SyncService", folders), "default", config_of(tmp_path), now_ms=lambda: 0)
    task = asyncio.create_task(kept.run())
    yield kept
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("step", ["due", "sync", "record", "project"])
def test_failing_steps_are_retried_and_no_event_is_lost(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each failing step is retried after a pause, and no event is lost."""
    monkeypatch.setattr(state, "RETRY_S", 0.05)
    folders = Failing(tmp_path / "no-folder", fails={step: 3})

    async def run() -> None:
        async with attending(folders, tmp_path) as kept:
            kept.handle_event("facts/a.md", asyncio.get_running_loop().time())
            await until(lambda: {"sync", "record", "project"} <= set(folders.done))

    asyncio.run(run())

    assert folders.fails == {step: 0}
    assert {"sync", "record", "project"} <= set(folders.done)
    hinted = [number for number, (paths, _) in enumerate(folders.scans) if "facts/a.md" in paths]
    assert len(hinted) == (4 if step == "sync" else 1)  # until it was looked at, and no more
    assert len(folders.scans) <= 8


@pytest.mark.parametrize("step", ["record", "project"])
def test_failing_upkeep_delays_no_scan(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a failure upkeep waits for its own retry, and scans of changed files are not delayed."""
    monkeypatch.setattr(state, "RETRY_S", 600.0)
    monkeypatch.setattr(loop_module, "SETTLED_S", 0.05)
    folders = Failing(tmp_path / "no-folder", fails={step: 1})

    async def run() -> None:
        async with attending(folders, tmp_path) as kept:
            await until(lambda: not folders.fails[step])
            for number in range(3):
                before = len(folders.scans)
                kept.handle_event(f"{number}.md", asyncio.get_running_loop().time())
                await until(partial(lambda before: len(folders.scans) > before, before))

    asyncio.run(run())

    assert [paths for paths, whole in folders.scans if not whole] == [{"0.md"}, {"1.md"}, {"2.md"}]
    assert step not in folders.done


def test_a_failed_projection_is_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A projection that could not be written is written by a later try."""
    monkeypatch.setattr(state, "RETRY_S", 0.05)
    monkeypatch.setattr(loop_module, "SETTLED_S", 0.05)
    folders = Failing(tmp_path / "no-folder", unwritten=2)

    async def run() -> None:
        async with attending(folders, tmp_path):
            await until(lambda: "project" in folders.done)

    asyncio.run(run())

    assert folders.unwritten == 0
    assert "project" in folders.done


def test_an_event_ends_the_back_off_but_not_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events end the back-off, but scans keep their minimal distance."""
    monkeypatch.setattr(state, "RETRY_S", 600.0)
    monkeypatch.setattr(loop_module, "NEWS_S", 0.1)
    folders = Failing(tmp_path / "no-folder", fails={"sync": 1_000})

    async def run() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with attending(folders, tmp_path) as kept:
            for _ in range(3_000):
                kept.handle_event("facts/a.md", loop.time())
                await asyncio.sleep(0.005)
                if len(folders.scans) >= 4:
                    break
        return loop.time() - began

    took = asyncio.run(run())

    assert len(folders.scans) >= 4
    assert took >= (len(folders.scans) - 1) * 0.1


def test_a_failed_scan_of_another_caller_is_retried_with_a_back_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan that failed for another caller is made again at once, and then with a back-off that no caller shortens."""
    monkeypatch.setattr(loop_module, "UNWATCHED_S", 600.0)
    monkeypatch.setattr(loop_module, "NEWS_S", 0.05)
    monkeypatch.setattr(state, "RETRY_S", 600.0)
    folders = Failing(tmp_path / "no-folder")

    async def run() -> None:
        async with attending(folders, tmp_path) as kept:
            await until(lambda: "project" in folders.done)
            scans = len(folders.scans)
            folders.problem, folders.fails = DiskFull("no room"), {"sync": 1_000}
            kept.retry_failed_scan()
            await until(lambda: len(folders.scans) > scans)
            for _ in range(20):
                kept.retry_failed_scan()
                await asyncio.sleep(0.01)
            assert folders.scans[scans:] == [(set(), True)]

    asyncio.run(run())


def test_a_growing_file_is_scanned_again_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is being written is scanned again alone, without the whole folder."""
    monkeypatch.setattr(loop_module, "UNWATCHED_S", 600.0)
    monkeypatch.setattr(loop_module, "AGAIN_S", 0.05)
    folders = Failing(tmp_path / "no-folder", growing={"notes.md"})

    async def run() -> None:
        async with attending(folders, tmp_path):
            await until(lambda: len(folders.scans) >= 5)

    asyncio.run(run())

    assert [whole for _, whole in folders.scans[:5]] == [True] + 4 * [False]
    assert all(paths == {"notes.md"} for paths, _ in folders.scans[:5])
