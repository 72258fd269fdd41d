"""Hears of changes in a folder, as hints: what is really there is always looked at again.

The only importer of watchdog. Events may be lost (the kernel's queue overflows silently) or not come at all (network
and foreign file systems), so nothing may rely on them but the time until a change is noticed.
"""

from __future__ import annotations

import os
import time
import warnings
from typing import TYPE_CHECKING, Final

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

from reverie.paths import segment_error
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Watcher"]

_OURS = ".reverie"
_LATE_MOST_S: Final = 0.05  # an event that seems to be later than this is not about the change that its file tells of

# What changes words or names. Not: who opens, reads and closes a file. That is mostly ourselves, and every such event
# wakes three threads beside the one that is writing.
_HEARD: list[type[FileSystemEvent]] = [
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]


# Folders that are made one in another are watched twice at times, which it warns of and which changes nothing.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")


class Watcher:
    """Watches one folder with everything below it, in threads of its own; what is hidden is not told.

    `touched` is called from such a thread with a path relative to the folder, or None for "look at all of it", and with
    the time of the change by `time.monotonic`.
    """

    def __init__(self, root: Path, touched: Callable[[str | None, float], None]) -> None:
        self._root = root
        self._touched = touched
        self._observer: object | None = None

    def start(self) -> bool:
        """Begins to watch; False where the system cannot (too many watches, a file system without events)."""
        observer = Observer()
        root = os.fspath(self._root)
        try:
            observer.schedule(_Handler(root, self._touched), root, recursive=True, event_filter=_HEARD)
            observer.start()
        except OSError as error:
            logger("reveried.watcher").warning("changes are found by looking again and again", why=str(error))
            return False
        self._observer = observer
        return True

    def stop(self) -> None:
        """Ends watching; twice is once."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()  # type: ignore[attr-defined]
            observer.join(5.0)  # type: ignore[attr-defined]


class _Handler(FileSystemEventHandler):
    """Turns an event into the paths that it may be about."""

    def __init__(self, root: str, touched: Callable[[str | None, float], None]) -> None:
        self._prefix = root + os.sep
        self._touched = touched

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Every event is a hint."""
        for path in (os.fsdecode(event.src_path), os.fsdecode(event.dest_path)):
            relative = path.removeprefix(self._prefix)
            if not path or relative == path or _is_hidden(relative):
                continue
            self._touched(None if event.is_directory else relative, time.monotonic() - _late_s(path))


def _is_hidden(relative: str) -> bool:
    """Whether a file of this name is never read, as it or a folder that it is in is hidden."""
    return "." in relative and any(segment_error(name) == "hidden" for name in relative.split("/"))


def _late_s(path: str) -> float:
    """Seconds from a file's last change until now, while its event was on its way; 0 where the file cannot tell."""
    try:
        late = time.time() - os.lstat(path).st_ctime
    except OSError:
        return 0.0
    return late if 0.0 < late < _LATE_MOST_S else 0.0
