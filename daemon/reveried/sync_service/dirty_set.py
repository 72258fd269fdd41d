"""Which documents the disk may not show as the store has them; followed by several threads at once."""

from __future__ import annotations

import threading
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from reverie.paths import is_ours

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reverie.store import Reader
    from reverie.usecases.listing import Listing

__all__ = ["Unshown"]


class Unshown:
    """The paths of a space's documents that are to be looked at because the store changed.

    `shows` tells which operation's text the disk last showed at a path, None where nothing is known of it.
    """

    def __init__(self, listing: Listing, shows: Callable[[str], int | None]) -> None:
        self._listing = listing
        self._shows = shows
        self._since: dict[str, int] = {}  # the operation that changed the document last
        self._lock = threading.Lock()

    def catch_up(self, reader: Reader) -> int:
        """Takes in what was committed since the last call; the operation that `reader` sees."""
        with self._lock:
            for path in self._listing.catch_up(reader):
                if is_ours(PurePosixPath(path)):
                    continue  # only Reverie itself writes this file
                held = self._listing.documents.get(path)
                if held is None or held.operation != self._shows(path):
                    self._since[path] = reader.operation() if held is None else held.operation
        return reader.operation()

    @property
    def paths(self) -> set[str]:
        """Where to look."""
        with self._lock:
            return set(self._since)

    def add(self, path: str) -> None:
        """The file could not be written: it is to be tried again."""
        with self._lock:
            self._since.setdefault(path, 0)

    def dealt_with(self, paths: Iterable[str], seen: int, became: Mapping[str, int]) -> None:
        """These were looked at as the store was at operation `seen`, and put as `became` says; later changes stay."""
        with self._lock:
            for path in paths:
                since = self._since.get(path)
                if since is not None and (since <= seen or since == became.get(path)):
                    del self._since[path]
