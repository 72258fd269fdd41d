"""Saves that are not in the folder: of editors that still had a replaced file open, and those that a crash left."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.sync.displaced import Displaced, Left

__all__ = ["LateSaves"]


@dataclass(frozen=True, slots=True)
class _Saved:
    """A save, and the file that keeps it until it is merged, if there is one."""

    data: bytes
    kept: Displaced | Left | None


@dataclass(frozen=True, slots=True)
class _Watched:
    """A replaced file, looked at again at `until` (ms)."""

    path: str
    until: int
    displaced: Displaced


class LateSaves:
    """Replaced files for a grace time, and what was saved into them until it is merged, oldest first."""

    def __init__(self, grace_ms: int) -> None:
        self._grace_ms = grace_ms
        self._watched: list[_Watched] = []
        self._saved: defaultdict[str, deque[_Saved]] = defaultdict(deque)

    def watch(self, path: str, replaced: Iterable[Displaced | None], now_ms: int) -> None:
        """Somebody may still write to these."""
        self._watched += [_Watched(path, now_ms + self._grace_ms, each) for each in replaced if each is not None]

    def add(self, path: str, data: bytes, left: Left | None) -> None:
        """A save that a crash left behind, or that was in the folder for a moment."""
        self._saved[path].append(_Saved(data, left))

    @property
    def due(self) -> int | None:
        """When the next replaced file may be let go of (ms)."""
        return min((each.until for each in self._watched), default=None)

    @property
    def paths(self) -> set[str]:
        """Where something waits to be merged."""
        return {path for path, saved in self._saved.items() if saved}

    def settle(self, now_ms: int | None) -> set[str]:
        """Lets go of files that were replaced long enough ago (None: of all); the paths whose old file was changed.

        Raises what `Displaced.settle` raises.
        """
        changed: set[str] = set()
        for each in [each for each in self._watched if now_ms is None or now_ms >= each.until]:
            data = each.displaced.settle()  # where it raises, this one and those behind it are asked again
            self._watched.remove(each)
            if data is not None:
                self._saved[each.path].append(_Saved(data, each.displaced))
                changed.add(each.path)
            elif not each.displaced.settled and now_ms is not None:
                self.watch(each.path, [each.displaced], now_ms)
        return changed

    def next(self, path: str) -> bytes | None:
        """The oldest save at a path, if one waits."""
        return self._saved[path][0].data if self._saved.get(path) else None

    def merged(self, path: str) -> bool:
        """The oldest save at a path is in the store: whether another one waits."""
        if self._saved.get(path):
            kept = self._saved[path].popleft().kept
            if kept is not None:
                kept.discard()
        return bool(self._saved.get(path))
