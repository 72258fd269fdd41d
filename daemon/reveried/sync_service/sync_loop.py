"""Keeps one space's folder and its store in agreement: after hints, at times that are due, and every now and then."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from reverie.errors import ReverieError
from reveried.keyed_lock import finish_before_cancel
from reveried.log import logger
from reveried.sync_service.timers import Pause, Upkeep

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from reveried.config import Sync
    from reveried.sync_service.folder import Folder
    from reveried.watcher import Watcher

__all__ = ["Attendant"]

DEBOUNCE_MOST = 10  # times the quiet period, while changes go on and on
UNWATCHED_S = 2.0  # between two looks where the system tells of no changes
WAKE_S = 0.001  # a sleep ends up to so much late: the event loop waits for whole milliseconds
AGAIN_S = 0.5  # before a file that was being written is looked at again
NEWS_S = 1.0  # before news makes a look that failed be tried again


class Attended(Protocol):
    """The folders, as far as one who keeps them has to know."""

    def of(self, space: str) -> Folder:
        """A space's folder."""
        ...

    def root_of(self, space: str) -> Path:
        """Where it is."""
        ...

    async def sync(self, space: str, paths: set[str] | None, *, whole: bool = False) -> Any:
        """Takes in and writes until folder and store agree; how many documents and files that changed."""
        ...

    async def record(self, space: str) -> None:
        """Keeps what is agreed on."""
        ...

    async def project(self, space: str) -> ReverieError | None:
        """Brings up what only Reverie writes; why a file of it could not be written."""
        ...


class Attendant:
    """One space's loop. `hint` may be called from any thread."""

    def __init__(self, folders: Attended, space: str, config: Sync, *, now_ms: Callable[[], int]) -> None:
        self._folders = folders
        self._space = space
        self._config = config
        self._now_ms = now_ms
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._paths: set[str] = set()
        self._whole = True  # the first look is at everything
        self._watcher: Watcher | None = None
        self._watched = False
        self._anew = False
        self._ended = False
        self._touched_at = 0.0
        self._scanned_at = 0.0
        self._grown_at = 0.0
        self._pause = Pause()
        self._failed: dict[str, str] = {}
        self._upkeep = Upkeep()

    def hint(self, path: str | None, at: float) -> None:
        """Something may have changed at `path`, or anywhere; `at` is a time of the loop's clock, `time.monotonic`."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.hear, path, at)

    def hear(self, path: str | None, at: float) -> None:
        """As `hint`, within the loop."""
        if path is None:
            self._whole = True
        else:
            self._paths.add(path)
        self._touched_at = max(self._touched_at, at)
        self._news.set()

    def begin_anew(self) -> None:
        """Another folder is in the place of the one before: it is watched, and all of it looked at."""
        self._anew = self._whole = True
        self._news.set()

    def written(self) -> None:
        """Something was written: records and projections are due."""
        self._upkeep.written(self._loop.time())
        self._news.set()

    @property
    def watching(self) -> str:
        """How changes are noticed: by events, or by looking again and again."""
        return "events" if self._watched else "polling"

    async def run(self) -> None:
        """Until it is cancelled."""
        self._news.set()
        try:
            while not self._ended:
                await self._attend()
        finally:
            await self.stop()

    async def stop(self) -> None:
        """No more hints, and no more looks."""
        self._ended = True
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            await asyncio.to_thread(watcher.stop)

    async def _wait(self) -> None:
        """Until there is news that has become quiet, or something is due."""
        try:
            # `wait_for` would swallow a cancellation that comes together with news.
            async with asyncio.timeout(self._rest()):
                await self._news.wait()
        except TimeoutError:
            return
        self._news.clear()
        quiet = self._config.debounce_ms / 1000
        most = self._loop.time() + DEBOUNCE_MOST * quiet
        while self._paths or self._whole:
            rest = min(self._touched_at + quiet, most) - self._loop.time() - WAKE_S
            if rest <= 0:
                return
            await asyncio.sleep(rest)

    def _rest(self) -> float:
        """Seconds until the next thing is due."""
        now, now_ms = self._loop.time(), self._now_ms()
        folder = self._folders.of(self._space)
        dues = [self._scanned_at + (self._config.rescan_seconds if self._watched else UNWATCHED_S) - now]
        dues += [(due - now_ms) / 1000 for due in (folder.due, folder.late.due) if due is not None]
        if folder.growing:
            dues.append(self._grown_at + AGAIN_S - now)
        if self._upkeep.due is not None:
            dues.append(self._upkeep.due - now)
        if self._paths or self._whole:
            dues.append(0.0)
        return max(0.0, min(dues))

    async def _attend(self) -> None:
        """One turn: only a look that failed makes looks wait, and records and projections with them."""
        if await self._tried("look", self._turn()):
            self._pause.over()
            await self._keep()
        else:
            self._upkeep.written(self._loop.time())
            await self._recover()

    async def _turn(self) -> None:
        await self._wait()
        await self._look()

    async def _keep(self) -> None:
        """Records and projections, where they are due."""
        began = self._loop.time()
        if self._upkeep.records(began):
            if await self._tried("records", self._folders.record(self._space)):
                self._upkeep.kept()
            else:
                self._upkeep.records_failed(self._loop.time())
        began = self._loop.time()
        if self._upkeep.settles(began):
            done = await self._tried("projections", self._project())
            now = self._loop.time()
            (self._upkeep.took if done else self._upkeep.settles_failed)(now - began, now)

    async def _project(self) -> None:
        failed = await self._folders.project(self._space)
        if failed is not None:
            raise failed

    async def _recover(self) -> None:
        """A pause after a look that failed, which news ends early."""
        pause = self._pause.longer()
        await asyncio.sleep(min(pause, NEWS_S))
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, pause - NEWS_S)):
                await self._news.wait()

    async def _tried(self, what: str, work: Awaitable[None]) -> bool:
        """Whether it worked. What is wrong is logged, once for as long as it stays so."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - whatever goes wrong, the next try may find it mended
            code = error.code if isinstance(error, ReverieError) else type(error).__name__
            if self._failed.get(what) != f"{code}: {error}":
                self._failed[what] = f"{code}: {error}"
                said = logger("reveried.sync_service")
                said.error("a folder cannot be kept", space=self._space, what=what, code=code, why=str(error))
            return False
        self._failed.pop(what, None)
        return True

    async def _look(self) -> None:
        """Looks at what was hinted at, at what is due, or at everything where that is long ago."""
        folder = self._folders.of(self._space)
        now_ms = self._now_ms()
        if folder.late.due is not None and folder.late.due <= now_ms:
            self._paths |= await finish_before_cancel(asyncio.to_thread(folder.late.settle, now_ms))
        now = self._loop.time()
        if now >= self._grown_at + AGAIN_S and (growing := folder.growing):
            self._grown_at = now
            self._paths |= growing
        due = folder.due is not None and folder.due <= now_ms
        every = self._config.rescan_seconds if self._watched else UNWATCHED_S
        whole = self._whole or due or self._unwatched() or now >= self._scanned_at + every
        paths, self._paths, self._whole = self._paths, set(), False
        if not whole and not paths:
            return
        try:
            if whole:
                self._scanned_at = self._loop.time()
                await self._watch()
            outcome = await self._folders.sync(self._space, paths, whole=whole)
        except BaseException:
            self._paths |= paths
            self._whole |= whole
            raise
        if outcome.adopted or outcome.written or outcome.deleted:
            self.written()
        elif whole and self._upkeep.due is None:  # what only Reverie writes may have been changed or removed
            self._upkeep.checks(self._loop.time())

    def _unwatched(self) -> bool:
        """Whether the folder is there and nobody has begun to watch it."""
        return self._watcher is None and self._folders.root_of(self._space).is_dir()

    async def _watch(self) -> None:
        """Begins to watch once the folder is there, and another one in its place."""
        if self._anew:
            self._anew, self._watched = False, False
            watcher, self._watcher = self._watcher, None
            if watcher is not None:
                await asyncio.to_thread(watcher.stop)
        if self._unwatched():
            from reveried.watcher import Watcher  # noqa: PLC0415 - a start without a folder does without it

            watcher = Watcher(self._folders.root_of(self._space).resolve(), self.hint)
            self._watched = await asyncio.to_thread(watcher.start)
            self._watcher = watcher
