"""Watch a folder for changes. Events are hints only: the state of the files is always read from the disk.

The only importer of watchdog. Events may be lost (the kernel's queue overflows silently) or not come at all (network
and foreign file systems), so nothing may rely on them but the delay until a change is noticed.
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


# Folders that are created one in another are sometimes watched twice. watchdog warns of it, and it changes nothing.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")


class Watcher:
    """Watch one folder with everything below it, in threads of its own; hidden files are ignored.

    `on_change` is called from such a thread with a path relative to the folder, or None if anything may have changed,
    and with the time of the change by `time.monotonic`.
    """

    def __init__(self, root: Path, on_change: Callable[[str | None, float], None]) -> None:
        self._root = root
        self._on_change = on_change
        self._observer: object | None = None

    def start(self) -> bool:
        """Start watching; return False if the system cannot (too many watches, a file system without events)."""
        observer = Observer()
        root = os.fspath(self._root)
        try:
            observer.schedule(_Handler(root, self._on_change), root, recursive=True, event_filter=_EVENT_TYPES)
            observer.start()
        except OSError as error:
            logger("reveried.watcher").warning("changes are found by looking again and again", why=str(error))
            return False
        self._observer = observer
        return True

    def stop(self) -> None:
        """Stop watching. Stopping twice does nothing."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()  # type: ignore[attr-defined]
            observer.join(5.0)  # type: ignore[attr-defined]


class _Handler(FileSystemEventHandler):
    """Handler that turns an event into the paths that it may be about."""

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


def _is_hidden(relative: str) -> bool:
    """Return True if a file of this path is never read, because it or a folder above it is hidden."""
    return "." in relative and any(segment_error(name) == "hidden" for name in relative.split("/"))


def _delay_s(path: str) -> float:
    """Return the seconds from a file's last change until now, the delay of its event; 0 if the file does not tell."""
    try:
        delay = time.time() - os.lstat(path).st_ctime
    except OSError:
        return 0.0
    return delay if 0.0 < delay < _DELAY_MAX_S else 0.0
