"""Applies the folder's side of plans: writes and removals of files, and the errors of those that failed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reverie.errors import DiskFull, ReverieError, failure_of
from reverie.sync.plan import Remove, Write
from reverie.sync.swap import Mismatch, current_sha256, probe, remove_file, write_file
from reveried.sync.backoff import Backoff
from reveried.sync.state import WriteResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reverie.sync.root import Root
    from reveried.sync.late_writes import LateWrites
    from reveried.sync.state import Baselines, CommitResult, DirtySet, ScanResult

FAILURES_MAX = 8  # writes of one pass that are tried in a row while the folder is full or read-only


class FolderWriter:
    """Writes and removes the files of one folder. Blocks; one caller at a time.

    `failed` are the errors of the paths that could not be written or merged, until a pass handles them. `write_error`
    is the error of the folder as a whole, if it is full or read-only; its writes are tried again at `retry_at` (ms).
    """

    def __init__(self, late: LateWrites, dirty: DirtySet, now_ms: Callable[[], int]) -> None:
        self.failed: dict[str, ReverieError] = {}
        self.write_error: ReverieError | None = None
        self.retry_at: int | None = None
        self._backoff = Backoff()
        self._late = late
        self._dirty = dirty
        self._now_ms = now_ms

    def apply(self, root: Root, baselines: Baselines, scanned: ScanResult, committed: CommitResult) -> WriteResult:
        """Write and remove files as a committed plan says; return how many, and the paths to scan again.

        A file that somebody changed since the scan is left as it is, and named in `rescan`. One that cannot be written,
        or was not committed, is named by the status and tried again later; the others are handled.
        """
        result, operations = WriteResult(rescan=set(scanned.waiting)), committed.operations
        plan = scanned.plan.without(committed.failed)
        changed = [baseline.with_operation(operations.get(baseline.path, 0)) for baseline in plan.baselines]
        baselines.update(changed, scanned.stamps)
        baselines.remove(plan.removed_baselines)
        for move in plan.moves:
            self._late.move(move.old, move.new)
        failed = dict(committed.failed)
        changes: list[Write | Remove] = [*plan.writes, *plan.removals]
        in_a_row = 0
        for change in changes:
            try:
                self._require_room(in_a_row)
                is_done = self._apply_change(root, baselines, change, operations)
            except BaseException as error:  # noqa: BLE001 - this file alone fails
                in_a_row += 1
                failed[change.path] = failure = failure_of(error)
                self._note_write_error(root, failure)
                _forget_intention(root, baselines, change, scanned)
                continue
            in_a_row, self.write_error = 0, None
            result.written += is_done
            if not is_done:
                result.rescan.add(change.path)
        done = scanned.paths - failed.keys()
        self._note_failures(failed, done)
        self._plan_retry()
        self._dirty.clear(done - result.rescan, scanned.operation, operations)
        for path in (done - result.rescan) & (scanned.late.keys() | self._late.paths):
            self._late.merged(path, scanned.late.get(path))
            result.rescan.add(path)  # for the file at the path, and for its next late write
        return result

    def _require_room(self, in_a_row: int) -> None:
        """Raise the folder's error after too many writes that failed in a row because of it."""
        if in_a_row >= FAILURES_MAX and self.write_error is not None:
            raise self.write_error

    def forget(self, paths: Iterable[str]) -> None:
        """Remove the errors of files that are gone."""
        for path in paths:
            self.failed.pop(path, None)

    def _note_write_error(self, root: Root, error: ReverieError) -> None:
        """Note the error of a write if it concerns the whole folder, as a full disk does, and not one file alone."""
        if isinstance(error, DiskFull) or error.details.get("reason") == "read_only":
            self.write_error = error
        elif self.write_error is None:
            self.write_error = probe(root)

    def _plan_retry(self) -> None:
        """Set the time of the next try while files cannot be written; reset the back-off once all are written."""
        if self.write_error is None or not self.failed:
            self._backoff.reset()
            self.write_error = self.retry_at = None
        elif self.retry_at is None or self.retry_at <= self._now_ms():
            self.retry_at = self._now_ms() + int(1000 * self._backoff.next_delay())

    def _note_failures(self, failed: dict[str, ReverieError], done: set[str]) -> None:
        """Record the errors of failed paths for the status and for another try; remove those of paths now done."""
        for path, error in failed.items():
            self.failed[path] = error
            self._dirty.add(path)
        for path in done:
            self.failed.pop(path, None)

    def _apply_change(
        self, root: Root, baselines: Baselines, change: Write | Remove, operations: dict[str, int]
    ) -> bool:
        """Write or remove one file; return False if a person saved it meanwhile."""
        now_ms = self._now_ms()
        if isinstance(change, Remove):
            removed = remove_file(root, change.path, expected=change.expected)
            if isinstance(removed, Mismatch):
                self._late.add_raced_saves(change.path, removed, now_ms)
                return False
            baselines.remove([change.path])
            self._late.watch(removed.displaced, now_ms)
            return True
        then = change.then.with_operation(operations.get(change.path, 0))
        written = write_file(root, change.path, change.data, expected=change.expected)
        if isinstance(written, Mismatch):
            self._late.add_raced_saves(change.path, written, now_ms, operation=then.operation)
            return False
        baselines.update([then], {change.path: written.stamp})
        self._late.watch(written.displaced, now_ms, replaced_by=then.operation)
        return written.stamp is not None


def _forget_intention(root: Root, baselines: Baselines, change: Write | Remove, scanned: ScanResult) -> None:
    """Note that a failed write did not happen, if the file on disk does not have the bytes to be written.

    The text that it would have shown was never on disk then, so no save can have deleted lines of it.
    """
    baseline = baselines.by_path.get(change.path)
    if baseline is None or not baseline.intended or not isinstance(change, Write):
        return
    try:
        actual = current_sha256(root, change.path)
    except ReverieError:
        return  # the folder cannot be read either: the write may have been made
    if actual != change.then.sha256 and (actual is not None or change.expected is None):
        baselines.update([replace(baseline, intended=frozenset())], scanned.stamps)
