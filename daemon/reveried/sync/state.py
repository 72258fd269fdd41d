"""The in-memory state of one space's folder: baselines, dirty set, file index, late writes, results of a pass.

Late writes are saves into files that sync had replaced already, and saves that a crash left in the swap folder. An
editor that opened a file before sync replaced it still writes to the old inode, which is in the swap folder by then. So
each displaced file is watched for a grace time, and what was saved into it is merged like any other save.
"""

from __future__ import annotations

import heapq
import threading
from collections import defaultdict, deque
from dataclasses import dataclass, field
from itertools import count
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from reverie.documents.layout import conflict_copy, copied_path, copy_name
from reverie.paths import is_reserved
from reverie.sync.plan import Plan, sha256
from reverie.sync.rename import is_copy
from reverie.sync.scan import (
    FileContent,
    FolderNames,
    Refusal,
    covering,
    read_file,
    refusal,
    scan,
    scan_path,
    text_refusal,
)
from reverie.sync.swap import Written, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from reverie.errors import ReverieError
    from reverie.store import Reader
    from reverie.sync.displaced import DisplacedFile, OrphanedSave
    from reverie.sync.plan import Baseline
    from reverie.sync.root import Root
    from reverie.sync.scan import Limits, Stamp
    from reverie.sync.swap import Mismatch
    from reverie.usecases.projections import Listing

RETRY_S: Final = 1.0  # seconds before the first retry of what failed, doubled each time
# Seconds between two retries from then on: so long may a folder that can be read or written again, such as one on a
# mount that is back, wait for its sync. Set by hand.
RETRY_MOST_S: Final = 10.0


class Baselines:
    """The baselines of one folder, path by path, and those of them that the store does not have yet.

    `by_path` are the baselines, `stamps` the stamps of files whose text the store has, as they were when it took them.
    `file_ids` are the identities (`Stamp.file_id`) of the files that were last handled, also while they are missing.
    Written by one thread at a time, and read by others meanwhile.

    Baselines are saved to the store in bulk, some time after they changed. That is safe: after a crash a path with an
    old baseline is compared again, and sync knows its own writes by their bytes.
    """

    def __init__(self, by_path: Mapping[str, Baseline]) -> None:
        self.by_path: dict[str, Baseline] = dict(by_path)
        self.stamps: dict[str, Stamp] = {}
        self.file_ids: dict[str, tuple[int, int]] = {}
        self._unsaved: dict[str, Baseline] = {}
        self._removed: set[str] = set()

    def update(self, baselines: Iterable[Baseline], stamps: Mapping[str, Stamp | None]) -> None:
        """Replace these baselines; a file without a stamp is read again by the next scan."""
        for baseline in baselines:
            path = baseline.path
            if self.by_path.get(path) != baseline:
                self._unsaved[path] = baseline
                self._removed.discard(path)
            self.by_path[path] = baseline
            stamp = stamps.get(path)
            if stamp is not None and baseline.missing_since is None:
                self.stamps[path] = stamp
                self.file_ids[path] = stamp.file_id
            else:
                self.stamps.pop(path, None)

    def replace_texts(self, cover: Callable[[Baseline], Baseline]) -> None:
        """Replace each baseline by what `cover` returns for it; the cached stamps of files are not changed."""
        covered = [new for old in list(self.by_path.values()) if (new := cover(old)) != old]
        self.update(covered, {new.path: self.stamps.get(new.path) for new in covered})

    def remove(self, paths: Iterable[str]) -> None:
        """Remove the baselines of these paths."""
        for path in paths:
            self.stamps.pop(path, None)
            self.file_ids.pop(path, None)
            if self.by_path.pop(path, None) is not None:
                self._unsaved.pop(path, None)
                self._removed.add(path)

    def unsaved(self) -> tuple[list[Baseline], set[str]]:
        """Return the changed baselines and the removed paths that the store lacks; `mark_saved` once it has them."""
        return list(self._unsaved.values()), set(self._removed)

    def mark_saved(self, baselines: Iterable[Baseline], removed: Iterable[str]) -> None:
        """Mark these baselines as saved; those that changed after the call of `unsaved` stay unsaved."""
        for baseline in baselines:
            if self._unsaved.get(baseline.path) is baseline:
                del self._unsaved[baseline.path]
        self._removed.difference_update(removed)

    def expected_files(self, paths: Iterable[str] | None) -> set[str]:
        """Return the paths, among these or all, where a file should be, was about to be written, or was missing."""
        baselines = self.by_path.items() if paths is None else ((path, self.by_path.get(path)) for path in paths)
        return {
            path
            for path, baseline in list(baselines)
            if baseline and (baseline.sha256 or baseline.intended or baseline.missing_since is not None)
        }

    def sources(self, arrived: Mapping[str, str]) -> set[str]:
        """Return known paths from which files may have moved to new paths (`arrived`: the SHA-256 of each new path).

        Those whose files had the same bytes when they were last handled, and conflict copies of the same name.
        """
        digests, names = set(arrived.values()), {copy_name(path) for path in arrived} - {None}
        return {
            path
            for path, baseline in list(self.by_path.items())
            if baseline.sha256 in digests or digests & baseline.intended or (names and copy_name(path) in names)
        }

    def missing(self) -> dict[str, int]:
        """Return the paths of missing files, each with the time (ms) of the first scan that did not find it."""
        baselines = list(self.by_path.items())
        return {path: baseline.missing_since for path, baseline in baselines if baseline.missing_since is not None}

    @property
    def file_count(self) -> int:
        """The number of files with a baseline."""
        return sum(1 for baseline in list(self.by_path.values()) if baseline.sha256)


class DirtySet:
    """Thread-safe set of documents not yet written to disk: those that changed in the store since they were handled.

    `shown_operation` returns the operation whose text the disk last showed at a path, None if nothing is known of it.
    """

    def __init__(self, listing: Listing, shown_operation: Callable[[str], int | None]) -> None:
        self._listing = listing
        self._shown_operation = shown_operation
        self._dirty_since: dict[str, int] = {}  # by path, the operation that changed the document last
        self._lock = threading.Lock()

    def catch_up(self, reader: Reader) -> int:
        """Add the documents committed since the last call; return the last operation of the snapshot of `reader`."""
        with self._lock:
            for path in self._listing.catch_up(reader):
                if is_reserved(PurePosixPath(path)):
                    continue  # a projection, which is not synced: only Reverie itself writes this file
                document = self._listing.documents.get(path)
                if document is None or document.operation != self._shown_operation(path):
                    self._dirty_since[path] = reader.operation() if document is None else document.operation
        return reader.operation()

    @property
    def paths(self) -> set[str]:
        """The paths of documents that are not written to disk yet."""
        with self._lock:
            return set(self._dirty_since)

    def add(self, path: str) -> None:
        """Add a path whose file could not be written: it is tried again."""
        with self._lock:
            self._dirty_since.setdefault(path, 0)

    def clear(self, paths: Iterable[str], seen: int, committed: Mapping[str, int]) -> None:
        """Remove paths that were handled as of operation `seen`; those that changed later stay.

        `committed` are the operations of the pass's own puts by path: they are newer than `seen`, and handled.
        """
        with self._lock:
            for path in paths:
                since = self._dirty_since.get(path)
                if since is not None and (since <= seen or since == committed.get(path)):
                    del self._dirty_since[path]


class FileIndex:
    """The files of one folder as the last scans found them, and the refusals of those that cannot be read.

    Blocks; one caller at a time, except for `growing`, `covering` and copies of `refused`, which any thread may make
    during a scan. So the refusal of a file is replaced or removed once the pass knows better and not when the pass
    begins: a file of too many memories is refused by reading it, and a status between its scan and its reading has to
    name it.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.refused: dict[str, Refusal] = {}

    @property
    def growing(self) -> set[str]:
        """The paths of files that were being written."""
        return {path for path, refusal in list(self.refused.items()) if refusal.reason == "growing"}

    def scan(self, root: Root, known: Collection[str]) -> dict[str, Stamp]:
        """Return the stamps of all files; refusals are remembered.

        `known` are the documents: of two names that are one on other systems the known one stays.
        """
        result = scan(root, known=known, limits=self._limits)
        stamps = {**result.stamps, **result.copies}
        unread = {path: refusal for path, refusal in self.refused.items() if path in stamps}
        self.refused = {**unread, **result.refused}
        return stamps

    def scan_paths(self, root: Root, paths: Iterable[str], known: Collection[str]) -> dict[str, Stamp]:
        """Return the stamps of the files at these paths; as `scan`."""
        stamps: dict[str, Stamp] = {}
        names = FolderNames(root)
        for path in paths:
            status = scan_path(root, path, known=known, limits=self._limits, names=names)
            if isinstance(status, Refusal):
                self.refused[path] = status
            elif status is None:
                self.refused.pop(path, None)
            else:
                stamps[path] = status
        return stamps

    def read(self, root: Root, path: str, *, new: bool = False) -> FileContent | Refusal | None:
        """Return a file's content, its refusal, which is remembered, or None if there is no file.

        A `new` file beside one of the same name without a number, of which it has most lines, is a copy of that.
        """
        content = read_file(root, path, limit=self._limits.file_bytes)
        if new and isinstance(content, FileContent) and (original := copied_path(path)) is not None:
            other = read_file(root, original, limit=self._limits.file_bytes)
            if isinstance(other, FileContent) and is_copy(content.data.decode(), other.data.decode()):
                content = refusal(path, "copy", original)
        if isinstance(content, Refusal):
            self.refused[path] = content
        else:
            self.refused.pop(path, None)
        return content

    def remove_refusals(self, paths: Iterable[str]) -> None:
        """Remove the refusals of scanned files that need not be read: the store has their text."""
        for path in paths:
            self.refused.pop(path, None)

    def covering(self, path: str) -> Refusal | None:
        """Return why the last scan refused `path` or a folder above it; None if it refused none of them."""
        return covering(self.refused, path)


class Backoff:
    """Exponential back-off in seconds: 1, 2, 4, 8, and then always 10."""

    def __init__(self) -> None:
        self._next: float | None = None

    def next_delay(self) -> float:
        """Return the seconds until the next try, after another failure."""
        delay = RETRY_S if self._next is None else self._next
        self._next = min(2 * delay, RETRY_MOST_S)
        return delay

    def reset(self) -> None:
        """Reset the back-off after a success."""
        self._next = None


@dataclass(slots=True)
class Guard:
    """The files that no pass touches: `stopped` ones wait for a person's decision, `waiting` ones for a full scan.

    `older` are those of `stopped` that came with an older folder. `recheck`: a full scan has to decide again.
    """

    stopped: frozenset[str] = frozenset()
    older: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    recheck: bool = False
    _stamps: dict[str, Stamp] = field(default_factory=dict)  # of `older`, as the last full scan found them

    @property
    def held(self) -> frozenset[str]:
        """The existing files that no pass touches: of an older copy of the folder, or waiting for a full scan."""
        return self.older_files | self.waiting

    @property
    def older_files(self) -> frozenset[str]:
        """The files of an older folder that existed at the last full scan."""
        return self.older & self._stamps.keys()

    @property
    def missing(self) -> frozenset[str]:
        """The missing files whose deletion a person has to confirm first."""
        return self.stopped - self._stamps.keys()

    def note(self, plan: Plan, stamps: Mapping[str, Stamp], *, is_full: bool) -> None:
        """Note what a plan leaves alone; `stamps` are those of the files of its scan."""
        stopped = frozenset(path for stop in plan.stops for path in stop.paths)
        waiting = frozenset(plan.waiting)
        if is_full:
            self.stopped, self.waiting = stopped, waiting
            self.older = frozenset(path for stop in plan.stops if stop.reason == "older_files" for path in stop.paths)
            self._stamps = {path: stamps[path] for path in self.older if path in stamps}
            self.recheck = bool(waiting)
            return
        # Back, of those that were missing; changed, of those that were older; or new.
        is_changed = any(self._stamps.get(path) != stamps[path] for path in self.stopped & stamps.keys())
        self.recheck |= is_changed or bool(stopped or waiting - self.older)
        self.stopped, self.waiting = self.stopped | stopped, self.waiting | (waiting - self.older)


@dataclass(slots=True)
class ScanResult:
    """The result of a pass's scan: the plan, the paths that it covers, the files that were read, and their stamps.

    `late` are the late writes that were decided in place of the files at their paths. `waiting` are the paths that the
    next pass has to decide. `operation` is the last one that the store had, `generation` that of the redactor.
    """

    plan: Plan = field(default_factory=Plan)
    paths: set[str] = field(default_factory=set)
    files_read: int = 0
    stamps: dict[str, Stamp] = field(default_factory=dict)
    late: dict[str, LateWrite] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    operation: int = 0
    generation: int = 0


@dataclass(slots=True)
class CommitResult:
    """The result of committing a plan's store side: the operation of each put document, and the errors, by path.

    `stale` are the paths of parts whose documents have changed since the scan: they are scanned again.
    """

    operations: dict[str, int] = field(default_factory=dict)
    failed: dict[str, ReverieError] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)


@dataclass(slots=True)
class WriteResult:
    """The number of files that were written or removed, whether any path was handled, and the paths to scan again."""

    written: int = 0
    handled: bool = False
    rescan: set[str] = field(default_factory=set)


@dataclass(slots=True)
class SyncOutcome:
    """The counts of one `sync` call: files read, documents stored, files written, documents deleted, conflicts."""

    read: int = 0
    adopted: int = 0
    written: int = 0
    deleted: int = 0
    conflicts: int = 0


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
