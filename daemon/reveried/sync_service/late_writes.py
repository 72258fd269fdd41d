"""Saves that are not in the folder: of editors that still had a replaced file open, and those that a crash left."""

from __future__ import annotations

import heapq
import threading
from collections import defaultdict, deque
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from reverie.documents.document_kind import conflict_copy
from reverie.sync.exchange import Written, write_file
from reverie.sync.scan import text_refusal
from reverie.sync.state import sha256

if TYPE_CHECKING:
    from reverie.sync.root import Root
    from reverie.sync.swap_recovery import DisplacedFile, OrphanedSave

__all__ = ["LateSaves", "Saved"]


@dataclass(frozen=True, slots=True)
class Saved:
    """A save, the file that keeps it until it is merged, and the operation whose text replaced it, if there are."""

    data: bytes
    kept: DisplacedFile | OrphanedSave | None
    replaced_by: int | None


@dataclass(frozen=True, slots=True, order=True)
class _Watched:
    """A replaced file, looked at again at `until` (ms); `turn` counts them as they were replaced."""

    until: int
    turn: int
    path: str = field(compare=False)
    displaced: DisplacedFile = field(compare=False)
    replaced_by: int | None = field(compare=False)


class LateSaves:
    """Replaced files for a grace time, and what was saved into them until it is merged, oldest first."""

    def __init__(self, grace_ms: int) -> None:
        self._grace_ms = grace_ms
        self._watched: list[_Watched] = []  # a heap: an agent that writes all day replaces thousands in that time
        self._turns = count()
        self._lock = threading.Lock()  # files are settled in one thread while others are replaced in another
        self._saved: defaultdict[str, deque[Saved]] = defaultdict(deque)

    def watch(self, path: str, displaced: DisplacedFile | None, now_ms: int, *, replaced_by: int | None = None) -> None:
        """Somebody may still write to this file, which was replaced by the text of an operation."""
        if displaced is not None:
            watched = _Watched(now_ms + self._grace_ms, next(self._turns), path, displaced, replaced_by)
            with self._lock:
                heapq.heappush(self._watched, watched)

    def add(self, path: str, data: bytes, left: OrphanedSave | None, *, replaced_by: int | None = None) -> None:
        """A save that a crash left behind, or that was in the folder for a moment."""
        self._saved[path].append(Saved(data, left, replaced_by))

    def take_over(self, other: LateSaves) -> None:
        """What `other` has only in memory: all else is found again in the folder that it is in."""
        for path, saved in other._saved.items():
            self._saved[path].extend(each for each in saved if each.kept is None)

    @property
    def due(self) -> int | None:
        """When the next replaced file may be let go of (ms)."""
        with self._lock:
            return self._watched[0].until if self._watched else None

    @property
    def paths(self) -> set[str]:
        """Where something waits to be merged."""
        return {path for path, saved in list(self._saved.items()) if saved}

    def settle(self, now_ms: int | None) -> set[str]:
        """Lets go of files that were replaced long enough ago (None: of all); the paths whose old file was changed.

        Raises what `Displaced.settle` raises.
        """
        changed: set[str] = set()
        ready = deque(self._ready(now_ms))
        while ready:
            try:
                data = ready[0].displaced.settle()
            except BaseException:  # this one and those behind it are asked again
                with self._lock:
                    for each in ready:
                        heapq.heappush(self._watched, each)
                raise
            each = ready.popleft()
            if data is not None:
                self._saved[each.path].append(Saved(data, each.displaced, each.replaced_by))
                changed.add(each.path)
            elif not each.displaced.settled and now_ms is not None:
                self.watch(each.path, each.displaced, now_ms, replaced_by=each.replaced_by)
        return changed

    def _ready(self, now_ms: int | None) -> list[_Watched]:
        """Takes the files whose time has come, in the order in which they were replaced, whatever the clock did."""
        ready: list[_Watched] = []
        with self._lock:
            while self._watched and (now_ms is None or now_ms >= self._watched[0].until):
                ready.append(heapq.heappop(self._watched))
        return sorted(ready, key=lambda each: each.turn)

    def next(self, path: str) -> Saved | None:
        """The oldest save at a path, if one waits."""
        return self._saved[path][0] if self._saved.get(path) else None

    def to_merge(self, root: Root, path: str, seen: bytes | None, *, stamp: str) -> Saved | None:
        """The oldest save at a path that is to be merged, if one waits; the file that is there holds `seen`.

        One that is in its place again is no late save any more, and one that is no text is put beside the file, where
        it is told. Raises as `put`; the save waits then.
        """
        saved = self.next(path)
        while saved is not None and _is_dealt_with(root, path, saved.data, seen, stamp):
            self.merged(path, saved)
            saved = self.next(path)
        return saved

    def merged(self, path: str, saved: Saved | None) -> bool:
        """This save, the oldest one at a path, is in the store: whether another one waits."""
        waiting = self._saved.get(path)
        if waiting and waiting[0] is saved:
            kept = waiting.popleft().kept
            if kept is not None:
                kept.discard()
        return bool(waiting)


def _is_dealt_with(root: Root, path: str, data: bytes, seen: bytes | None, stamp: str) -> bool:
    if data == seen:
        return True
    if text_refusal(path, data) is None:
        return False
    done = write_file(root, conflict_copy(path, stamp, sha256(data)[:6]), data, expected=None)
    return isinstance(done, Written) or done.actual == sha256(data)
