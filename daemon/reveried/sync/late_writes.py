"""Late writes: saves into files that sync had replaced already, and saves that a crash left in the swap folder.

An editor that opened a file before sync replaced it still writes to the old inode, which is in the swap folder by then.
So each displaced file is watched for a grace time, and what was saved into it is merged like any other save.
"""

from __future__ import annotations

import heapq
import threading
from collections import defaultdict, deque
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from reverie.documents.layout import conflict_copy
from reverie.sync.inputs import sha256
from reverie.sync.scan import text_refusal
from reverie.sync.swap import Written, write_file

if TYPE_CHECKING:
    from reverie.sync.displaced import DisplacedFile, OrphanedSave
    from reverie.sync.root import Root
    from reverie.sync.swap import Mismatch


@dataclass(frozen=True, slots=True)
class LateWrite:
    """A late write's bytes, the swap file that has them until they are merged, and the operation that replaced it."""

    data: bytes
    source: DisplacedFile | OrphanedSave | None
    replaced_by: int | None


@dataclass(frozen=True, slots=True, order=True)
class _Watched:
    """A displaced file that is checked again at `until` (ms); `turn` is its number in the order of replacement."""

    until: int
    turn: int
    displaced: DisplacedFile = field(compare=False)
    replaced_by: int | None = field(compare=False)


class LateWrites:
    """The displaced files within their grace time, and the late writes to be merged, oldest first for each path."""

    def __init__(self, grace_ms: int) -> None:
        self._grace_ms = grace_ms
        self._watched: list[_Watched] = []  # a heap: an agent that writes all day replaces thousands in that time
        self._settling: set[_Watched] = set()  # taken out of the heap, and perhaps not settled yet
        self._turns = count()
        self._lock = threading.Lock()  # files are settled in one thread while others are replaced in another
        self._waiting: defaultdict[str, deque[LateWrite]] = defaultdict(deque)

    def watch(self, displaced: DisplacedFile | None, now_ms: int, *, replaced_by: int | None = None) -> None:
        """Watch a displaced file for the grace time; `replaced_by` is the operation whose text replaced it."""
        if displaced is not None:
            watched = _Watched(now_ms + self._grace_ms, next(self._turns), displaced, replaced_by)
            with self._lock:
                heapq.heappush(self._watched, watched)

    def add(self, path: str, data: bytes, source: OrphanedSave | None, *, replaced_by: int | None = None) -> None:
        """Add a save that a crash left behind, or that was in the folder for a moment."""
        self._waiting[path].append(LateWrite(data, source, replaced_by))

    def add_raced_saves(self, path: str, mismatch: Mismatch, now_ms: int, *, operation: int | None = None) -> None:
        """Add the saves that a failed exchange brought out, whether or not they are at the path again.

        They derive from what the file had shown until then, including the text of `operation` that was to be written:
        it was at the path for a moment.
        """
        replaced_by = None if operation is None else operation + 1
        self.watch(mismatch.displaced, now_ms, replaced_by=replaced_by)
        for data in mismatch.saves:
            self.add(path, data, None, replaced_by=replaced_by)

    def move(self, old: str, new: str) -> None:
        """Give the late writes of a file that was moved to its new path, also those that are still to come."""
        with self._lock:
            for watched in (*self._watched, *self._settling):
                if watched.displaced.path == old:
                    watched.displaced.path = new
            self._waiting[new].extend(self._waiting.pop(old, ()))

    def take_over(self, other: LateWrites) -> None:
        """Add the late writes that `other` has only in memory: all others are found again in its swap folder."""
        for path, writes in other._waiting.items():
            self._waiting[path].extend(write for write in writes if write.source is None)

    @property
    def due(self) -> int | None:
        """The time (ms) at which the next displaced file may be settled, 0 while some are; None if there are none."""
        with self._lock:
            return 0 if self._settling else self._watched[0].until if self._watched else None

    @property
    def paths(self) -> set[str]:
        """The paths with a late write to be merged."""
        return {path for path, writes in list(self._waiting.items()) if writes}

    def settle(self, now_ms: int | None) -> set[str]:
        """Settle the displaced files whose grace time is over (None: all); return the paths with a late write.

        A file that is still open for writing is watched for another grace time, except at the end (None).
        Raises what `DisplacedFile.settle` raises.
        """
        taken = self._ready(now_ms)
        ready = deque(taken)
        try:
            return self._settle(ready, now_ms)
        finally:  # where it failed, this one and those behind it are checked again by the next call
            with self._lock:
                self._settling.difference_update(taken)
                for watched in ready:
                    heapq.heappush(self._watched, watched)

    def _settle(self, ready: deque[_Watched], now_ms: int | None) -> set[str]:
        changed: set[str] = set()
        while ready:
            displaced, replaced_by = ready[0].displaced, ready[0].replaced_by
            # A late write that is in memory alone may have these bytes: they stay until it is merged.
            held = any(late.source is None for late in list(self._waiting.get(displaced.path, ())))
            data = None if held else displaced.settle()
            ready.popleft()
            if data is not None:
                with self._lock:
                    self._waiting[displaced.path].append(LateWrite(data, displaced, replaced_by))
                    changed.add(displaced.path)
            elif not displaced.settled and now_ms is not None:
                self.watch(displaced, now_ms, replaced_by=replaced_by)
        return changed

    def _ready(self, now_ms: int | None) -> list[_Watched]:
        """Remove and return the files whose time has come, in the order of replacement, whatever the clock did."""
        ready: list[_Watched] = []
        with self._lock:
            while self._watched and (now_ms is None or now_ms >= self._watched[0].until):
                ready.append(heapq.heappop(self._watched))
            self._settling.update(ready)
        return sorted(ready, key=lambda watched: watched.turn)

    def next(self, path: str) -> LateWrite | None:
        """Return the oldest late write of a path, or None."""
        return self._waiting[path][0] if self._waiting.get(path) else None

    def to_merge(self, root: Root, path: str, file_data: bytes | None, *, stamp: str) -> LateWrite | None:
        """Return the oldest late write of a path that has to be merged, or None; `file_data` is the file there now.

        One whose bytes are at the path again is no late write any more, and one that is no text is written beside the
        file as a conflict copy, where the status names it. Raises as `write_file`; the late write waits then.
        """
        late = self.next(path)
        while late is not None and _needs_no_merge(root, path, late.data, file_data, stamp):
            self.merged(path, late)
            late = self.next(path)
        return late

    def merged(self, path: str, late: LateWrite | None) -> bool:
        """Discard the oldest late write of a path, which the store has now; return True if another one waits."""
        waiting = self._waiting.get(path)
        if waiting and waiting[0] is late:
            source = waiting.popleft().source
            if source is not None:
                source.discard()
        return bool(waiting)


def _needs_no_merge(root: Root, path: str, data: bytes, file_data: bytes | None, stamp: str) -> bool:
    """Return True if a late write is at its path again, or is no text and was written to a conflict copy."""
    if data == file_data:
        return True
    if text_refusal(path, data) is None:
        return False
    result = write_file(root, conflict_copy(path, stamp, sha256(data)[:6]), data, expected=None)
    return isinstance(result, Written) or result.actual == sha256(data)
