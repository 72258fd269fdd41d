"""Watch a folder for changes. Events are hints only: the state of the files is always read from the disk.

The only importer of watchdog. Events may be lost (the kernel's queue overflows silently) or not come at all (network
and foreign file systems), so nothing may rely on them but the delay until a change is noticed.
"""

from __future__ import annotations

import errno
import os
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.inotify_c import InotifyConstants

from reverie.paths import segment_error
from reverie.sync.displaced import SWAP_FOLDER
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from watchdog.observers.inotify_c import InotifyEvent

_DELAY_MAX_S: Final = 0.05
"""Seconds between a file's change time and its event; a longer delay is an event of another change."""

# The events that change content or names. Not those of opening, reading and closing without writing: these are mostly
# our own, and every such event wakes three threads beside the one that is writing.
_EVENT_TYPES: list[type[FileSystemEvent]] = [
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]


# What is watched of the swap folder.
_MOVES: Final = InotifyConstants.IN_MOVE | InotifyConstants.IN_DONT_FOLLOW

# The kernel's limits per user, by the error of a call that exceeds one (`man 7 inotify`).
_LIMITS: Final = {errno.ENOSPC: "max_user_watches", errno.EMFILE: "max_user_instances"}
_LIMITS_FOLDER: Final = Path("/proc/sys/fs/inotify")
_LIMIT_LEAST: Final = 1024  # suggested where the present limit is unknown or less than half of it


# Folders that are created one in another are sometimes watched twice. watchdog warns of it, and it changes nothing.
warnings.filterwarnings("ignore", category=RuntimeWarning, message="Callback with id ")


class Watcher:
    """Watch one folder with everything below it, in threads of its own; hidden files are ignored.

    `on_change` is called from such a thread with a path relative to the folder, or None if anything may have changed,
    and with the time of the change by `time.monotonic`.
    """

    def __init__(self, root: Path, on_change: Callable[[str | None, float], None]) -> None:
        self._root = root
        self._on_change = on_change
        self._observer: Any = None
        self._failure: OSError | None = None

    @property
    def is_complete(self) -> bool:
        """True if the whole folder is watched; False once the system could not watch a folder below it."""
        return self._observer is not None and self._failure is None

    @property
    def hint(self) -> str | None:
        """How to raise the limit of the system that keeps the folder from being watched, or None."""
        limit = _LIMITS.get(self._failure.errno or 0) if self._failure is not None else None
        if limit is None:
            return None
        return (
            f"the limit of inotify is reached: sudo sysctl fs.inotify.{limit}={_larger(limit)}, "
            "then `reverie down` and `reverie up`"
        )

    def start(self) -> bool:
        """Start watching; return False if the system cannot (too many watches, a file system without events)."""
        root = os.fspath(self._root)
        observer: Any = None
        try:
            observer = Observer()
            self._adapt_watches(observer, os.fsencode(self._root / SWAP_FOLDER))
            observer.schedule(_Handler(root, self._on_change), root, recursive=True, event_filter=_EVENT_TYPES)
            observer.start()
        except OSError as error:
            self._note_failure(error)
            if observer is not None:
                observer.stop()  # it has a descriptor and a thread already
            return False
        self._observer = observer
        return self.is_complete

    def _adapt_watches(self, observer: Any, swap_folder: bytes) -> None:
        """Make watchdog report folders that the system cannot watch, and leave out events of the daemon's own writes.

        Its events would be missed, for as long as nobody knew, until the next periodic scan. Of the swap folder moves
        alone are watched: by them our own writes are told from others', and their events are left out where they are
        read (`OwnWrites`). All other events there are ignored as those of a hidden folder are.
        """
        descriptor = observer._inotify_fd  # noqa: SLF001 - what adds every watch; watchdog has no other place to ask
        add_callback, read_events = descriptor.add_callback, descriptor.read_events
        own = OwnWrites()

        def noting(path: bytes, mask: int, *others: Any) -> Any:
            try:
                watch = add_callback(path, mask & _MOVES if path == swap_folder else mask, *others)
            except OSError as error:
                if error.errno in _LIMITS:  # others are folders that have gone, or may not be read
                    self._note_failure(error)
                    self._on_change(None, time.monotonic())
                raise
            if path == swap_folder:
                own.watches.add(watch)
            return watch

        descriptor.add_callback = noting
        descriptor.read_events = lambda: own.leave_out(read_events())

    def _note_failure(self, error: OSError) -> None:
        if self._failure is None:
            self._failure = error
            logger("reveried.watcher").warning("changes come from periodic scans", why=str(error), hint=self.hint)

    def stop(self) -> None:
        """Stop watching. Stopping twice does nothing."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join(5.0)


class _Handler(FileSystemEventHandler):
    """Handler that reports each path of a file system event to `on_change`."""

    def __init__(self, root: str, on_change: Callable[[str | None, float], None]) -> None:
        self._prefix = root + os.sep
        self._on_change = on_change

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Report the paths of an event, with the time of the change and not of the event: the debounce starts there."""
        for path in (os.fsdecode(event.src_path), os.fsdecode(event.dest_path)):
            relative = path.removeprefix(self._prefix)
            if not path or relative == path or _is_hidden(relative):
                continue
            # The delay first: a pause between the two readings must not date the change before it was.
            delay_s = _delay_s(path)
            self._on_change(None if event.is_directory else relative, time.monotonic() - delay_s)


class OwnWrites:
    """Filter of file events that leaves out the daemon's own writes: moves into or out of the swap folder.

    Nobody but the daemon moves files there: with each of its writes a draft changes places with the file before, which
    is looked at for late writes then. What the daemon wrote needs no scan, and each event would wake three threads.
    Where one read of events ends behind the half of a move out of a visible folder, that half stays, and costs a scan.
    """

    def __init__(self) -> None:
        self.watches: set[int] = set()
        self._begun: set[int] = set()  # cookies of moves out of the swap folder whose other half is not read yet

    def leave_out(self, events: list[InotifyEvent]) -> list[InotifyEvent]:
        """Return the events of one read without those of the daemon's own writes."""
        own = {event.cookie for event in events if event.wd in self.watches and event.is_move} | self._begun
        if not own:
            return events
        taken = {event.cookie for event in events if event.wd in self.watches and event.is_moved_from}
        self._begun = (self._begun | taken) - {event.cookie for event in events if event.is_moved_to}
        return [event for event in events if event.cookie not in own]


def _larger(limit: str) -> int:
    """Return twice the present value of a limit of inotify, and at least `_LIMIT_LEAST`."""
    try:
        present = int((_LIMITS_FOLDER / limit).read_text("ascii"))
    except (OSError, ValueError):
        present = 0
    return max(2 * present, _LIMIT_LEAST)


def _is_hidden(relative: str) -> bool:
    """Return True if a file of this path is never read, because it or a folder above it is hidden."""
    return "." in relative and any(segment_error(name) == "hidden" for name in relative.split("/"))


def _delay_s(path: str) -> float:
    """Return the seconds since a file's last change, by which its event came late; 0 if unknown or implausible."""
    try:
        delay = time.time() - os.lstat(path).st_ctime
    except OSError:
        return 0.0
    return delay if 0.0 < delay < _DELAY_MAX_S else 0.0
