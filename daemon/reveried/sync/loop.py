"""When the folder of a space is synced, and its upkeep done: a loop for each space.

A loop syncs after file events, at deadlines, and by a periodic rescan. Events are hints and may be lost, so nothing
relies on them but the delay until a change is noticed. Also here: the timers of a loop's upkeep (saving baselines,
updating projections) and the back-off after errors.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from reverie.errors import ReverieError, failure_of
from reveried.locks import finish_before_cancel
from reveried.log import logger
from reveried.sync.state import Backoff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from reveried.config import Sync
    from reveried.sync.folder import Folder
    from reveried.sync.state import SyncOutcome
    from reveried.watcher import Watcher

# The loop; all times in seconds.
DEBOUNCE_MOST: Final = 10  # the debounce ends after so many times its length, while changes go on and on
UNWATCHED_S: Final = 2.0  # period of full scans where the file system reports no events
WAKE_S: Final = 0.001  # a sleep ends up to so much late: the event loop waits for whole milliseconds
AGAIN_S: Final = 0.5  # before a file that was being written is scanned again
NEWS_S: Final = 1.0  # before an event ends the back-off of a failed scan

# Upkeep; all times in seconds.
SETTLED_S: Final = 1.0  # after the last change, baselines are saved and projections updated
MOST_S: Final = 60.0  # after the first change, projections are updated even if changes go on and on
REST_TIMES: Final = 20  # no update for so many times as long as the last one took: at most 5 % of a CPU
RECORD_S: Final = 2.0  # after the first change, baselines are saved even if changes go on and on


class _Timer:
    """When a kind of upkeep is due next, in seconds of a clock; what failed is tried again with a back-off."""

    def __init__(self) -> None:
        self.due: float | None = None
        self.not_before = 0.0
        self._backoff = Backoff()

    def finished(self, now: float, *, is_done: bool, rest_s: float = 0.0) -> None:
        """Note the end of a try, after which there is none for `rest_s`."""
        if is_done:
            self.not_before = now + rest_s
            self._backoff.reset()
        else:
            self.due = self.not_before = now + max(rest_s, self._backoff.next_delay())


class UpkeepTimers:
    """The times, in seconds of a clock, at which baselines have to be saved and projections updated next.

    Baselines are saved at most `RECORD_S` after a change, so that a crash forgets no more than that. Projections are
    files that people watch, and the more expensive the larger the store: they wait until changes have settled. What
    fails delays nothing else.
    """

    def __init__(self) -> None:
        self.baselines, self.projections = _Timer(), _Timer()
        self._changed_at: float | None = None  # the first change since the last update of the projections

    def note_change(self, now: float) -> None:
        """Schedule saving baselines and updating projections after a change of folder or store."""
        if self._changed_at is None:
            self._changed_at = now
        self.projections.due = max(min(now + SETTLED_S, self._changed_at + MOST_S), self.projections.not_before)
        if self.baselines.due is None:
            self.baselines.due = max(now + RECORD_S, self.baselines.not_before)

    def schedule_check(self, now: float) -> None:
        """Schedule an update of the projections as soon as possible: one may have been changed or removed."""
        if self.projections.due is None:
            self._changed_at, self.projections.due = now, max(now, self.projections.not_before)

    @property
    def due(self) -> float | None:
        """Time (seconds of the loop's clock) at which baselines or projections have to be written next, or None."""
        times = (self.projections.due, self.baselines.due)
        return min((time for time in times if time is not None), default=None)

    def take_baselines_due(self, now: float) -> bool:
        """Return True, once, if baselines have to be saved now: at their own deadline or that of the projections."""
        if self.due is None or now < max(self.due, self.baselines.not_before):
            return False
        self.baselines.due = None
        return True

    def take_projections_due(self, now: float) -> bool:
        """Return True, once, if changes have settled and the projections have to be updated now."""
        if self.projections.due is None or now < self.projections.due:
            return False
        self.projections.due = self._changed_at = None
        return True


class _Service(Protocol):
    """The folders of all spaces, and the work that loops have done."""

    def folder(self, space: str) -> Folder: ...
    def root_of(self, space: str) -> Path: ...
    async def sync(self, space: str, paths: set[str] | None, *, whole: bool = False) -> SyncOutcome: ...
    async def save_baselines(self, space: str) -> None: ...
    async def update_projections(self, space: str) -> ReverieError | None: ...


class SyncLoop:
    """Sync loop of one space: events, deadlines, periodic rescan. `post_event` may be called from any thread."""

    def __init__(self, service: _Service, space: str, config: Sync, *, now_ms: Callable[[], int]) -> None:
        self._service = service
        self._space = space
        self._config = config
        self._now_ms = now_ms
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._paths: set[str] = set()
        self._whole = True  # the first scan is a full one
        self._watcher: Watcher | None = None
        self._is_new_root = False
        self._is_waiting = False
        self._ended = False
        # Times of the loop's clock, in seconds:
        self._touched_at = 0.0
        self._scanned_at = 0.0
        self._grown_at = 0.0
        self._backoff = Backoff()
        self._logged: dict[str, str] = {}  # by kind of work, the error that was logged last
        self._upkeep = UpkeepTimers()

    def post_event(self, path: str | None, at: float) -> None:
        """Post a change of `path`, or of anything (None), at a time of the loop's clock (`time.monotonic`)."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.handle_event, path, at)

    def handle_event(self, path: str | None, at: float) -> None:
        """Note a change and wake the loop, within the event loop; `post_event` is for other threads."""
        if path is None:
            self._whole = True
        else:
            self._paths.add(path)
        self._touched_at = max(self._touched_at, at)
        self._news.set()

    def restart(self) -> None:
        """Watch and scan the root again: another folder is at its path."""
        self._is_new_root = self._whole = True
        self._news.set()

    def retry_failed_scan(self) -> None:
        """Scan at once, and then with a back-off, because a scan for another caller failed.

        A folder that is moved away and back reports no event, so that nothing else would find it there again. A scan of
        the loop's own that failed has its back-off already, which the failures of others must not shorten.
        """
        if self._is_waiting:
            self._news.set()

    def schedule_upkeep(self) -> None:
        """Schedule saving baselines and updating projections after a change."""
        self._upkeep.note_change(self._loop.time())
        self._news.set()

    @property
    def watch_mode(self) -> tuple[str, str | None]:
        """How changes are noticed, `events` or `scans`; and how to raise the limit that the system has on events."""
        watcher = self._watcher
        return ("events", None) if self._is_watched else ("scans", watcher.hint if watcher is not None else None)

    @property
    def _is_watched(self) -> bool:
        """True if every change below the root is an event."""
        return self._watcher is not None and self._watcher.is_complete

    async def run(self) -> None:
        """Run the loop until it is cancelled."""
        self._news.set()
        try:
            while not self._ended:
                await self._turn()
        finally:
            await self.stop()

    async def stop(self) -> None:
        """Stop watching, and end the loop after its current turn."""
        self._ended = True
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            await asyncio.to_thread(watcher.stop)

    async def _wait(self) -> None:
        """Wait for events and their debounce, or until something is due."""
        try:
            # `wait_for` would swallow a cancellation that comes together with news.
            async with asyncio.timeout(self._seconds_until_due()):
                self._is_waiting = True
                await self._news.wait()
        except TimeoutError:
            return
        finally:
            self._is_waiting = False
        self._news.clear()
        # Debounce: an editor's save is several events, and half of them may describe an unfinished file.
        quiet = self._config.debounce_ms / 1000
        most = self._loop.time() + DEBOUNCE_MOST * quiet
        while self._paths or self._whole:
            rest = min(self._touched_at + quiet, most) - self._loop.time() - WAKE_S
            if rest <= 0:
                return
            await asyncio.sleep(rest)

    def _seconds_until_due(self) -> float:
        """Return the seconds until the next deadline."""
        now, now_ms = self._loop.time(), self._now_ms()
        folder = self._service.folder(self._space)
        seconds = [self._scanned_at + self._rescan_period() - now]
        seconds += [(due - now_ms) / 1000 for due in (folder.rescan_due, folder.late.due) if due is not None]
        if folder.index.growing:
            seconds.append(self._grown_at + AGAIN_S - now)
        if self._upkeep.due is not None:
            seconds.append(self._upkeep.due - now)
        if self._paths or self._whole or folder.problem is not None:
            seconds.append(0.0)
        return max(0.0, min(seconds))

    def _rescan_period(self) -> float:
        return self._config.rescan_seconds if self._is_watched else UNWATCHED_S

    async def _turn(self) -> None:
        """Wait, scan, and do the upkeep that is due; after a failed scan wait by the back-off and skip the upkeep."""
        if await self._succeeds("scan", self._wait_and_scan()):
            self._backoff.reset()
            await self._do_upkeep()
        else:
            self._upkeep.note_change(self._loop.time())
            await self._back_off()

    async def _wait_and_scan(self) -> None:
        await self._wait()
        await self._scan()

    async def _do_upkeep(self) -> None:
        """Save baselines and update projections if they are due."""
        if self._upkeep.take_baselines_due(self._loop.time()):
            is_done = await self._succeeds("records", self._service.save_baselines(self._space))
            self._upkeep.baselines.finished(self._loop.time(), is_done=is_done)
        started = self._loop.time()
        if self._upkeep.take_projections_due(started):
            is_done = await self._succeeds("projections", self._update_projections())
            now = self._loop.time()
            # The larger the store, the rarer the updates.
            self._upkeep.projections.finished(now, is_done=is_done, rest_s=REST_TIMES * (now - started))

    async def _update_projections(self) -> None:
        """Update the projections. Raises the error of a file that could not be written."""
        failed = await self._service.update_projections(self._space)
        if failed is not None:
            raise failed

    async def _back_off(self) -> None:
        """Wait after a failed scan; an event ends the wait after `NEWS_S`."""
        delay = self._backoff.next_delay()
        await asyncio.sleep(min(delay, NEWS_S))
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, delay - NEWS_S)):
                await self._news.wait()

    async def _succeeds(self, what: str, work: Awaitable[None]) -> bool:
        """Await the work and return False if it fails. An error is logged once for as long as it stays the same."""
        try:
            await work
        except BaseException as error:  # noqa: BLE001 - whatever goes wrong, the next try may succeed
            failure_of(error)
            code = error.code if isinstance(error, ReverieError) else type(error).__name__
            if self._logged.get(what) != f"{code}: {error}":
                self._logged[what] = f"{code}: {error}"
                unsynced = logger("reveried.sync")
                unsynced.error("a folder could not be synced", space=self._space, what=what, code=code, why=str(error))
            return False
        self._logged.pop(what, None)
        return True

    async def _scan(self) -> None:
        """Sync the paths of events and deadlines, or everything if a full scan is due."""
        folder = self._service.folder(self._space)
        now_ms = self._now_ms()
        if folder.late.due is not None and folder.late.due <= now_ms:
            self._paths |= await finish_before_cancel(asyncio.to_thread(folder.late.settle, now_ms))
        now = self._loop.time()
        if now >= self._grown_at + AGAIN_S and (growing := folder.index.growing):
            self._grown_at = now
            self._paths |= growing
        is_due = folder.rescan_due is not None and folder.rescan_due <= now_ms
        is_due = is_due or folder.problem is not None or now >= self._scanned_at + self._rescan_period()
        whole = self._whole or is_due or self._can_watch()
        # Taken before the scan: an event during it belongs to the next one. After an error they are due again.
        paths, self._paths, self._whole = self._paths, set(), False
        if not whole and not paths:
            return
        try:
            if whole:
                self._scanned_at = self._loop.time()
                await self._watch()
            outcome = await self._service.sync(self._space, paths, whole=whole)
        except BaseException:
            self._paths |= paths
            self._whole |= whole
            raise
        if outcome.adopted or outcome.written or outcome.deleted:
            self.schedule_upkeep()
        elif whole and self._upkeep.due is None and self._exists():  # a projection may have been changed or removed
            self._upkeep.schedule_check(self._loop.time())

    def _exists(self) -> bool:
        return self._service.root_of(self._space).is_dir()

    def _can_watch(self) -> bool:
        return self._watcher is None and self._exists()

    async def _watch(self) -> None:
        """Start watching once the folder exists, and again after another one took its place."""
        if self._is_new_root:
            self._is_new_root = False
            watcher, self._watcher = self._watcher, None
            if watcher is not None:
                await asyncio.to_thread(watcher.stop)
        if self._can_watch():
            from reveried.watcher import Watcher  # noqa: PLC0415 - a start without a folder does not pay for watchdog

            watcher = Watcher(self._service.root_of(self._space).resolve(), self.post_event)
            await asyncio.to_thread(watcher.start)
            self._watcher = watcher
