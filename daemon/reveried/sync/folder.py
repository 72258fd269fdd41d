"""One space's folder: its state, and the pass that brings it and the store together.

A pass (`sync`) scans, plans, commits the plan's store side through the writer, and writes the files; one pass of a
folder runs at a time. Neither store nor files are locked between these steps. Each checks what it relies on, and what
changed meanwhile is scanned again by the next pass.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from reverie.errors import Busy, Conflict, DiskFull, ReverieError, StorageFailed, failure_of
from reverie.ids import ID_RANDOM_BYTES, new_id
from reverie.redact import Taken
from reverie.sync.displaced import recover
from reverie.sync.plan import PathState, Remove, Rules, Write, sha256
from reverie.sync.reconcile import RecentSaves, is_saved, lines_pasted, reconcile
from reverie.sync.redaction import RedactionView, has_marker
from reverie.sync.rename import is_missing, is_saved_over
from reverie.sync.root import Root
from reverie.sync.scan import FileContent, Limits, Refusal, Stamp, refusal
from reverie.sync.swap import Mismatch, current_sha256, probe, remove_file, write_file
from reverie.usecases import projections, sync
from reverie.usecases.by import By
from reverie.usecases.projections import Listing
from reverie.usecases.redactions import Found, noted, unless_changed
from reverie.usecases.review import hold_saves, sessions_of
from reveried.locks import finish_before_cancel
from reveried.log import logger
from reveried.sync.projections import ProjectionWriter
from reveried.sync.state import (
    Backoff,
    Baselines,
    CommitResult,
    DirtySet,
    FileIndex,
    Guard,
    LateWrites,
    ScanResult,
    WriteResult,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from reverie.documents.index import DocumentEntry
    from reverie.redact import Redactor
    from reverie.store import DocumentRecord, Reader, Store
    from reverie.sync.displaced import OrphanedSave
    from reverie.sync.plan import Answer, Baseline, Plan
    from reverie.sync.root import KnownRoot
    from reverie.usecases.projections import ListedDocument
    from reveried.config import Sync
    from reveried.sync.state import SyncOutcome
    from reveried.worker import Submit

PARTS_AT_ONCE = 4  # parts of a plan submitted to the writer together, so that one flush of the store serves them
FAILURES_MAX = 8  # writes of one pass that are tried in a row while the folder is full or read-only
RECHECK_MS = 500  # delay of the full scan that checks a suspected mass deletion: short, since a person waits for it

P = ParamSpec("P")
T = TypeVar("T")


class Folder:
    """The folder of one space and its sync state.

    What is no coroutine blocks: it is for a thread (`in_thread`), one call at a time, except for what the status reads.
    """

    def __init__(
        self,
        space: str,
        path: Path,
        *,
        store: Store,
        submit: Submit,
        redactor: Redactor,
        config: Sync,
        store_id: str,
        now_ms: Callable[[], int],
        random: Callable[[int], bytes],
    ) -> None:
        self.space = space
        self.path = path
        self.listing = Listing()
        self._dirty = DirtySet(self.listing, self._shown_operation)
        self.late = LateWrites(int(config.grace_seconds * 1000))
        self.scanned_at: int | None = None  # ms: the last full scan
        self.problem: ReverieError | None = None
        self._baselines: Baselines | None = None
        self._store = store
        self._submit = submit
        self._redactor = redactor
        self._config = config
        self._now_ms = now_ms
        self._random = random
        self._recorded_root: KnownRoot | None = None  # as the store has it, once it was read
        self._store_id = store_id
        self._root: Root | None = None  # opened at the first pass that has something to do
        self.unreadable: dict[str, Refusal] = {}  # saves that a crash left behind, and that cannot be read
        self.projection = ProjectionWriter(path)
        self.index = FileIndex(Limits(file_bytes=config.file_bytes, files=config.files))
        self.announced: str | None = None  # the code of the condition that was announced last, None: all is well
        self.unsaved: dict[str, ReverieError] = {}  # why baselines or projections cannot be saved
        self.failed: dict[str, ReverieError] = {}  # why paths were not written or merged, until a pass handles them
        self.write_error: ReverieError | None = None  # of the folder as a whole, if it is full or read-only
        self._retry_at: int | None = None  # ms: when its writes are tried again
        self._backoff = Backoff()
        self.guard = Guard()
        self._recent = RecentSaves()
        self.running: set[asyncio.Task[Any]] = set()  # the blocking work
        self._listed_at: int | None = None  # the operation as of which MEMORY.md lists every document

    @property
    def baselines(self) -> Baselines:
        """The folder's baselines; read from the store on first use."""
        if self._baselines is None:
            with self._store.reader(self.space) as reader:
                self._baselines = Baselines(sync.baselines(reader))
        return self._baselines

    @property
    def rescan_due(self) -> int | None:
        """Deadline of the next full scan caused by missing files or failed writes (ms), or None."""
        quiet_ms = int(self._config.delete_quiet_seconds * 1000)
        missing = {} if self.guard.stopped else self.baselines.missing()
        quiet_ends = [since + quiet_ms for path, since in missing.items() if self.index.covering(path) is None]
        recheck = [(self.scanned_at or 0) + RECHECK_MS] if self.guard.recheck else []
        retry = [] if self._retry_at is None else [self._retry_at]
        return min([*quiet_ends, *recheck, *retry], default=None)

    async def sync(
        self, paths: set[str] | None, outcome: SyncOutcome, *, deep: bool = False, answer: Answer | None = None
    ) -> WriteResult:
        """Run one pass over `paths`, as `scan_and_plan`: scan, plan, commit, write; its counts are added to `outcome`.

        Raises as `scan_and_plan`, and the error of a store that can commit nothing.
        """
        scanned, written = await self.in_thread(self._scan_and_write, paths, deep=deep, answer=answer)
        outcome.read += scanned.files_read
        if written is None:
            committed = await self._commit(scanned, outcome)
            await self._note_redacted(scanned.plan, committed)
            written = await self.in_thread(self.write, scanned, committed)
        outcome.written += written.written
        return written

    async def in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run blocking work in a thread; a cancelled caller keeps its lock until this has ended."""
        running = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs))
        self.running.add(running)
        running.add_done_callback(self.running.discard)
        return await finish_before_cancel(running)

    def _scan_and_write(
        self, paths: set[str] | None, *, deep: bool, answer: Answer | None
    ) -> tuple[ScanResult, WriteResult | None]:
        """Scan, and write the files at once unless the plan changes the store; then the second result is None."""
        scanned = self.scan_and_plan(paths, deep=deep, answer=answer)
        changes_store = scanned.plan.puts or scanned.plan.deletes
        return scanned, None if changes_store else self.write(scanned, CommitResult())

    def scan_and_plan(self, paths: set[str] | None, *, deep: bool = False, answer: Answer | None = None) -> ScanResult:
        """Scan `paths` (None: all), and the dirty set, and return the plan that brings folder and store together.

        `deep` reads every file, whatever its stamp. `answer` is a person's decision about missing and older files.

        Raises:
            Conflict: the folder is not there, or not the one that it was; nothing may be done.
        """
        try:
            result = self._scan_and_plan(paths, deep=deep, answer=answer)
        except BaseException as error:
            self.problem = failure_of(error)
            raise
        self.problem = None
        return result

    def _scan_and_plan(self, paths: set[str] | None, *, deep: bool, answer: Answer | None) -> ScanResult:
        """Return the sync plan for these paths (None: the whole folder), with the files and records behind it."""
        baselines = self.baselines
        with self._store.reader(self.space) as reader:
            operation = self._dirty.catch_up(reader)
            root = self._open_root()
            if root is None:  # nothing was ever written, and no person has made the folder
                self.scanned_at = self._now_ms()
                return ScanResult()
            root.verify()
            if paths is None:  # a full scan includes late writes
                self.late.settle(self._now_ms())
            dirty = self._dirty.paths
            wanted = None if paths is None else {*paths, *dirty, *self.late.paths}
            stamps = self._scan(root, wanted)
            changed = {path for path, stamp in stamps.items() if deep or baselines.stamps.get(path) != stamp}
            missing = {path for path in baselines.expected_files(wanted) if path not in stamps}
            if wanted is not None and answer is None and (self.guard.stopped or self.scanned_at is None):
                # A partial scan cannot tell how many files are missing in all, and while the guard stops the folder it
                # must not let any go one by one. So missing files wait: a full scan counts them, a person decides.
                self.guard.recheck |= not missing <= self.guard.stopped
                missing.clear()
            gone = self.failed.keys() - stamps.keys() - dirty - self.late.paths
            for path in gone if wanted is None else gone & wanted:
                del self.failed[path]
            candidates = changed | missing | dirty | self.late.paths
            # A path that is neither there nor refused is really gone; a refused one may still be there.
            suspects = {path for path in candidates if path in stamps or self.index.covering(path) is None}
            self.index.remove_refusals(stamps.keys() - suspects)
            result = self._plan(reader, root, suspects, stamps, self._rules(answer), is_full=wanted is None)
            result.operation = operation
            return result

    def _shown_operation(self, path: str) -> int | None:
        baseline = None if self._baselines is None else self._baselines.by_path.get(path)
        return None if baseline is None else baseline.operation

    def _scan(self, root: Root, paths: set[str] | None) -> dict[str, Stamp]:
        baselines = self.baselines.by_path
        if paths is not None:
            return self.index.scan_paths(root, paths, baselines)
        stamps = self.index.scan(root, baselines)
        self.scanned_at = self._now_ms()
        return stamps

    def _plan(
        self, reader: Reader, root: Root, paths: set[str], stamps: dict[str, Stamp], rules: Rules, *, is_full: bool
    ) -> ScanResult:
        """Return the plan for the paths that differ from their baseline."""
        result = ScanResult(generation=self._redactor.generation)
        read = [self._state(reader, root, path, stamps, result) for path in sorted(paths)]
        states = [state for state in read if state is not None]
        if any(
            state.path in stamps if state.data is None else state.disk_sha256 == "" and state.path not in self.failed
            for state in states
        ):
            # A file went between its scan and its reading, or before a late write to it was merged: it may have another
            # name by now, and be what is missing elsewhere. What is missing or saved waits for a scan that sees both.
            result.waiting = {state.path for state in states if is_missing(state) or is_saved(state)}
            states = [state for state in states if state.path not in result.waiting]
            self.guard.recheck = True
        sources = [self._state(reader, root, path, {}, result) for path in self._move_sources(root, states)]
        states += [state for state in sources if state is not None]
        redact = cache(lambda raw: RedactionView.of(raw, self._redactor))
        pasted = (line for state in states if is_saved(state) for line in _pasted(state, redact))
        scanned = {state.path for state in states}
        there = self._scan(root, self._recent.sources(pasted) - scanned - result.waiting)
        self._recent.keep(scanned | there.keys())
        states += [state for path in there if (state := self._state(reader, root, path, there, result)) is not None]
        result.paths = {state.path for state in states}
        is_one = len(states) == 1 and not is_full

        def plan_of(states: list[PathState]) -> Plan:
            return reconcile(
                [self._with_older(reader, state, redact, is_one=is_one) for state in states],
                redact=redact,
                now_ms=self._now_ms(),
                stamp=self._stamp(),
                new_id=lambda: self._id("cp")[-6:],
                rules=rules,
                files=self.baselines.file_count,
                held=self.guard.older,
                is_full=is_full,
                recent=self._recent,
            )

        try:
            result.plan = plan_of(states)
        except BaseException as error:
            failure = failure_of(error)
            failed = {state.path: why for state in states if (why := _failure(plan_of, state)) is not None}
            if not failed:  # only together
                raise
            logger("reveried.sync").error(
                "a file was not taken in", space=self.space, paths=sorted(failed), code=failure.code, exc_info=error
            )
            self.failed |= failed
            result.paths -= failed.keys()
            result.plan = plan_of([state for state in states if state.path not in failed])
        self.guard.note(result.plan, stamps, is_full=is_full)
        return result

    @staticmethod
    def _with_older(
        reader: Reader, state: PathState, redact: Callable[[str], RedactionView], *, is_one: bool
    ) -> PathState:
        """Return the state of a path with the earlier version whose text a save has exactly, if there is one."""
        if not state.data or not is_saved_over(state, state.data):
            return state
        older = sync.older_version(reader, state, redact(state.data.decode()).text, is_one=is_one)
        return state if older is None else replace(state, older=older)

    def _move_sources(self, root: Root, states: list[PathState]) -> list[str]:
        """Return the paths not found missing by a scan whose files are, and may have been moved to scanned ones.

        Without them a move would look like a new file now, and like a deletion in the next scan. A full scan has seen
        some files before they were moved.
        """
        base = self.baselines.by_path
        digests = {state.path: sha256(state.data) for state in states if state.data and state.disk_sha256 is None}
        new = {path: digest for path, digest in digests.items() if path not in base or base[path].sha256 != digest}
        if not new:
            return []
        # Files that were found missing a moment ago as well: one may have been edited before it was moved.
        gone = self.baselines.missing().keys() - self.guard.stopped
        sources = (self.baselines.sources(new) | gone) - {state.path for state in states}
        there = self._scan(root, sources)
        return sorted(path for path in sources if path not in there and self.index.covering(path) is None)

    def _rules(self, answer: Answer | None) -> Rules:
        config = self._config
        quiet_ms = int(config.delete_quiet_seconds * 1000)
        return Rules(delete_quiet_ms=quiet_ms, mass_fraction=config.mass_fraction, answer=answer)

    def _state(
        self, reader: Reader, root: Root, path: str, stamps: dict[str, Stamp], result: ScanResult
    ) -> PathState | None:
        """Return the state of one path, with its oldest late write if it has one; None if it cannot be read now."""
        baseline = self.baselines.by_path.get(path)
        is_new = baseline is None and path not in self.listing.documents
        content = self.index.read(root, path, new=is_new) if path in stamps else None
        if isinstance(content, Refusal):
            return None
        data, disk_sha256 = (None, None) if content is None else (content.data, content.sha256)
        if content is not None:
            result.files_read += 1
            result.stamps[path] = content.stamp
        try:
            late = self.late.to_merge(root, path, data, stamp=self._stamp())
        except BaseException as error:  # noqa: BLE001 - it waits, and the status names it; all other paths are handled
            self.failed[path] = failure_of(error)
            return None
        state_of = partial(sync.path_state, reader, path, baseline, versions_max=Rules().versions_max)
        if late is not None:
            result.late[path] = late
            result.stamps.pop(path, None)  # the file at the path is handled by the next pass
            return state_of(late.data, disk_sha256=disk_sha256 or "", replaced_by=late.replaced_by)
        return state_of(
            data,
            saved_at=None if content is None else _saved_at(content.stamp, baseline),
            file_id=None if content is None else content.stamp.file_id,
            baseline_file_id=self.baselines.file_ids.get(path),
        )

    async def _commit(self, scanned: ScanResult, outcome: SyncOutcome) -> CommitResult:
        """Commit a plan's store side, some parts at a time; a part that fails or is stale holds no other one back.

        Raises the error of a store that can commit nothing; what was committed before is found by the next scan.
        """
        committed = CommitResult()
        # Parts of baselines alone are not committed here: `save_baselines` saves them in bulk later.
        parts = deque(part for part in sync.split_plan(scanned.plan) if part.puts or part.deletes)
        bulk = len(parts) > 1
        while parts:
            batch = [parts.popleft() for _ in range(min(PARTS_AT_ONCE, len(parts)))]
            submitted = [self._commit_part(part, scanned.generation, bulk=bulk) for part in batch]
            # All are awaited, errors included: none may be committed after this call has returned.
            results = await asyncio.gather(*submitted, return_exceptions=True)
            for part, result in zip(batch, results, strict=True):
                if isinstance(result, BaseException):
                    parts.extend(_retry_parts(self.space, part, result, committed))
                else:
                    committed.operations |= result
                    _log_notices(self.space, part, result)
                    outcome.adopted += len(part.puts)
                    outcome.deleted += len(part.deletes)
                    outcome.conflicts += len(part.copies)
        return committed

    async def _commit_part(self, part: Plan, since: int, *, bulk: bool) -> dict[str, int]:
        """Commit a part of a plan, after the puts that its merges are based on; return the operation of each put."""
        first = sync.first_puts(part)
        if first is not None:
            part = sync.with_bases(part, await self._commit_part(first, since, bulk=bulk))
        by = By(self.space, sync.WHO, "person", self._id)
        done = await self._submit(unless_changed(sync.commit.write(by, part), self._redactor, since), bulk=bulk)
        # A save is committed as it is, since a file cannot be refused: what an agent saved in it though a person forgot
        # it is taken out by the next operation.
        if sessions := sessions_of(part):
            author = By(self.space, f"session:{next(iter(sessions.values()))}")
            await self._submit(hold_saves.write(author, list(sessions), done.value))
        return done.value

    async def _note_redacted(self, plan: Plan, committed: CommitResult) -> None:
        """Record what was redacted in the saves that were committed."""
        marked = [put.path for put in plan.puts if put.path in committed.operations and has_marker(put.text)]
        found = await self.in_thread(self._taken, marked) if marked else []
        if found:
            await self._submit(noted.write(By(self.space, "redaction"), found), bulk=True)

    def write(self, scanned: ScanResult, committed: CommitResult) -> WriteResult:
        """Write and remove files as a committed plan says; return how many, and the paths to scan again.

        A file that somebody changed since the scan is left as it is, and named in `rescan`. One that cannot be written,
        or was not committed, is named by the status and tried again later; the others are handled.
        """
        root, baselines = self._root, self.baselines
        if root is None:
            return WriteResult()
        operations, stale = committed.operations, committed.stale
        result = WriteResult(handled=bool(scanned.paths - stale), rescan=scanned.waiting | stale)
        plan = scanned.plan.without(committed.failed.keys() | stale)
        changed = [baseline.with_operation(operations.get(baseline.path, 0)) for baseline in plan.baselines]
        baselines.update(changed, scanned.stamps)
        baselines.remove(plan.removed_baselines)
        for move in plan.moves:
            self.late.move(move.old, move.new)
        failed = dict(committed.failed)
        changes: list[Write | Remove] = [*plan.writes, *plan.removals]
        in_a_row = 0
        for change in changes:
            try:
                self._require_room(in_a_row)
                is_done = self._apply_change(root, change, operations)
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
        for path in (done - result.rescan) & (scanned.late.keys() | self.late.paths):
            self.late.merged(path, scanned.late.get(path))
            result.rescan.add(path)  # for the file at the path, and for its next late write
        return result

    def _require_room(self, in_a_row: int) -> None:
        """Raise the folder's error after too many writes that failed in a row because of it."""
        if in_a_row >= FAILURES_MAX and self.write_error is not None:
            raise self.write_error

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
            self.write_error = self._retry_at = None
        elif self._retry_at is None or self._retry_at <= self._now_ms():
            self._retry_at = self._now_ms() + int(1000 * self._backoff.next_delay())

    def _note_failures(self, failed: dict[str, ReverieError], done: set[str]) -> None:
        """Record the errors of failed paths for the status and for another try; remove those of paths now done."""
        for path, error in failed.items():
            self.failed[path] = error
            self._dirty.add(path)
        for path in done:
            self.failed.pop(path, None)

    def _apply_change(self, root: Root, change: Write | Remove, operations: dict[str, int]) -> bool:
        """Write or remove one file; return False if a person saved it meanwhile."""
        now_ms = self._now_ms()
        if isinstance(change, Remove):
            removed = remove_file(root, change.path, expected=change.expected)
            if isinstance(removed, Mismatch):
                self.late.add_raced_saves(change.path, removed, now_ms)
                return False
            self.baselines.remove([change.path])
            self.late.watch(removed.displaced, now_ms)
            return True
        then = change.then.with_operation(operations.get(change.path, 0))
        written = write_file(root, change.path, change.data, expected=change.expected)
        if isinstance(written, Mismatch):
            self.late.add_raced_saves(change.path, written, now_ms, operation=then.operation)
            return False
        self.baselines.update([then], {change.path: written.stamp})
        self.late.watch(written.displaced, now_ms, replaced_by=then.operation)
        return written.stamp is not None

    def _open_root(self) -> Root | None:
        """Return the root, made if there is something to write and it never existed; None if there is nothing."""
        if self._root is None and not (self.baselines.file_count or self.path.is_dir() or self.listing.documents):
            return None
        return self._opened_root()

    def _opened_root(self) -> Root:
        """Return the open root; the first call opens it and recovers the saves that a crash left in it.

        Raises as `Root.open`, and as `recover`.
        """
        if self._root is None:
            fresh, known = not self.baselines.file_count, self._read_known_root()
            root = Root.open(self.path, space=self.space, store_id=self._store_id, fresh=fresh, known=known)
            try:
                orphans = recover(root, {*self.baselines.by_path, *self.listing.documents})
                # Those without a document first: only their recovery writes, and so may fail.
                for orphan in sorted(orphans, key=lambda orphan: orphan.path is not None):
                    self._recover(root, orphan)
            except BaseException:  # the next call tries again: the swap folder keeps the saves
                root.close()
                raise
            self._root = root
        return self._root

    def _recover(self, root: Root, orphan: OrphanedSave) -> None:
        """Queue an orphaned save for merging if its document is known, else write it where a person finds it.

        What replaced its file is no longer known. It derives from one of the texts until now; what comes after that
        text, its author has not seen.
        """
        replaced_by = (self.listing.operation or 0) + 1
        if orphan.path is not None and orphan.displaced is not None:
            self.late.watch(orphan.displaced, self._now_ms(), replaced_by=replaced_by)
        elif orphan.data is None:
            self.unreadable[orphan.name] = refusal(f".reverie/swap/{orphan.name}", "unreadable")
        elif orphan.path is not None:
            self.late.add(orphan.path, orphan.data, orphan, replaced_by=replaced_by)
        else:
            path = f"recovered.sync-conflict-{self._stamp()}-{orphan.name[-6:]}.md"
            if not isinstance(write_file(root, path, orphan.data, expected=None), Mismatch):
                orphan.discard()

    def _read_known_root(self) -> KnownRoot | None:
        with self._store.reader(self.space) as reader:
            self._recorded_root = sync.known_root(reader)
        return self._recorded_root

    def to_accept(self) -> KnownRoot | None:
        """Return the folder at the path if it is another one, which may be accepted as the root; create a missing one.

        Raises as `Root.prepare`, and as a scan does except for a folder that is another one.
        """
        with self._store.reader(self.space) as reader:
            self._dirty.catch_up(reader)
        try:
            self._opened_root().verify()
        except Conflict:
            return Root.prepare(self.path, space=self.space, store_id=self._store_id)
        return None

    def root_problem(self) -> ReverieError | None:
        """Return the error of the open root, as far as its path and its space file show; None if there is none.

        From any thread.
        """
        root = self._root
        try:
            if root is not None:
                root.find()
        except ReverieError as error:
            return error
        return None

    @property
    def _is_owner(self) -> bool:
        """True if this store writes the projections; the folder's other stores, on other machines, leave them alone."""
        return self._root is None or self._root.mark == self._store_id

    async def save_baselines(self) -> None:
        """Save the changed baselines to the store; those lost by a crash are found again by comparing the texts."""
        with self.recorded_failure("records"):
            unsaved, removed = self.baselines.unsaved()
            root = self.new_root
            if unsaved or removed or root is not None:
                # First the folder: a baseline must not say that a file is there which a power loss can take back.
                await self.in_thread(self._flush)
                write = sync.save_baselines.write(By(self.space, "sync"), unsaved, removed, root)
                await self._submit(write, bulk=True)
                self._recorded_root = root or self._recorded_root
                self.baselines.mark_saved(unsaved, removed)

    async def save_root(self) -> None:
        """Record which folder this is, if the store does not know it: a restart would take any in its place for it."""
        if (root := self.new_root) is not None:
            await self._submit(sync.save_baselines.write(By(self.space, "sync"), {}, (), root), bulk=True)
            self._recorded_root = root

    @contextmanager
    def recorded_failure(self, what: str) -> Iterator[None]:
        """Record an exception of the with-body in the folder's status under `what`; a body without one removes it."""
        try:
            yield
        except BaseException as error:
            self.unsaved[what] = failure_of(error)
            raise
        self.unsaved.pop(what, None)

    @property
    def new_root(self) -> KnownRoot | None:
        """Return the open root if the store does not know it yet."""
        root = self._root
        return None if root is None or root.known == self._recorded_root else root.known

    def _flush(self) -> None:
        """Make all writes to the folder durable, so that saved baselines may rely on them."""
        if self._root is not None:
            self._root.flush()

    def remove_copies(self, holds: Callable[[str], bool]) -> None:
        """Remove what is a copy of the store alone, and has a text for which `holds` is true."""
        if self._root is not None:
            self.projection.remove_copies(self._root, holds)

    def update_projections(self) -> ReverieError | None:
        """Bring the files that only Reverie writes up to date; return why one could not be written, or None."""
        if self._root is None:
            return None
        self._root.verify()
        with self._store.reader(self.space) as reader:
            self._dirty.catch_up(reader)
            self.projection.update(reader, self._root, self.listing, now_ms=self._now_ms(), is_owner=self._is_owner)
        return next(iter(self.projection.failed.values()), None)

    def take_removed_archives(self) -> set[str]:
        """Return, once, the addresses of purged archives whose files are gone."""
        removed, self.projection.removed = self.projection.removed, set()
        return removed

    def entries_to_list(self) -> list[DocumentEntry] | None:
        """Return the documents that MEMORY.md should list, or None if it lists them already."""
        if not self._is_owner:
            return None
        with self._store.reader(self.space) as reader:
            operation = self._dirty.catch_up(reader)
            if operation == self._listed_at:
                return None
            entries = self.listing.entries()
            if projections.needs_relisting(reader, entries):
                return entries
            self._listed_at = operation
            return None

    def documents(self) -> list[ListedDocument]:
        """Return every document of the store."""
        with self._store.reader(self.space) as reader:
            self._dirty.catch_up(reader)
            return list(self.listing.documents.values())

    def projected_record(self, path: str) -> DocumentRecord | None:
        """Return the projection at `path` as a document's record, or None if there is none at that path."""
        with self._store.reader(self.space) as reader:
            self._dirty.catch_up(reader)
            return projections.document_of(reader, path, self.listing)

    def refusal(self, path: str) -> Refusal | None:
        """Return why no file can be at a path, as of the last scan; None for one that is read later, then merged."""
        refusal = self.index.covering(path)
        return None if refusal is None or refusal.reason in {"growing", "merging", "too_many"} else refusal

    def secret_markers(self, path: str) -> frozenset[str]:
        """Return the markers that the store's text has for the secrets in the file that is at a path now."""
        text = self.text(path)
        return frozenset() if text is None else RedactionView.of(text, self._redactor).markers

    def text(self, path: str) -> str | None:
        """Return the text of the file that is at a path now, secrets included; None where none can be read."""
        content = None if self._root is None else self.index.read(self._root, path)
        return content.data.decode() if isinstance(content, FileContent) else None

    def _taken(self, paths: Iterable[str]) -> list[Found]:
        return [
            Found(Taken(item.rule, item.kind, item.shape, item.hash), ("document", path, 0))
            for path in paths
            for item in self._redactor.findings(self.text(path) or "")
        ]

    @property
    def pending(self) -> set[str]:
        """The documents of which the file has another text."""
        return self._dirty.paths | self.late.paths | self.guard.held

    @property
    def displaced(self) -> set[str]:
        """The names of replaced files that are still in the swap folder."""
        return set() if self._root is None else set(self._root.displaced_names)

    def close(self) -> None:
        """Close the root folder."""
        if self._root is not None:
            self._root.close()
            self._root = None

    def _id(self, kind: str) -> str:
        return new_id(kind, self._now_ms(), self._random(ID_RANDOM_BYTES))

    def _stamp(self) -> str:
        """Return the time that names conflict copies, UTC: `20261121-093000`."""
        return datetime.fromtimestamp(self._now_ms() / 1000, UTC).strftime("%Y%m%d-%H%M%S")


def _pasted(state: PathState, redact: Callable[[str], RedactionView]) -> frozenset[str]:
    """Return the lines that a save pasted; none of a file that cannot be read, for which no plan can be made either."""
    try:
        return lines_pasted(state, redact)
    except BaseException as error:  # noqa: BLE001 - the plan of the path names it
        failure_of(error)
        return frozenset()


def _failure(plan_of: Callable[[list[PathState]], Plan], state: PathState) -> ReverieError | None:
    """Return why no plan can be made for this path alone, None where one can."""
    try:
        plan_of([state])
    except BaseException as error:  # noqa: BLE001 - it is returned
        return failure_of(error)
    return None


def _saved_at(stamp: Stamp, baseline: Baseline | None) -> int:
    """Return when a file was saved (ms): its modification time, or its change time if it came to its path later.

    A changed mode or owner is no save. But a file that was copied with its old time, or moved here, was written before
    it came, which may be before the text that was at the path.
    """
    modified = stamp.mtime_ns // 1_000_000
    newest = baseline.shown[0].at if baseline is not None and baseline.shown else 0
    return modified if modified >= newest else stamp.ctime_ns // 1_000_000


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


def _retry_parts(space: str, part: Plan, error: BaseException, committed: CommitResult) -> list[Plan]:
    """Return a failed part of a plan as parts of one path each; of a part of one path record the failure, return [].

    So one document that the store refuses fails alone, and a stale part is scanned again. Raises the error if it is not
    about the part: a full disk, a busy writer.
    """
    failure = failure_of(error)
    if isinstance(error, Conflict) and error.details.get("stale"):
        committed.stale |= part.paths
        return []
    if isinstance(error, (StorageFailed, DiskFull, Busy)):
        raise error
    single_paths = list(sync.split_plan(part, most=1))
    if len(single_paths) > 1:
        return single_paths
    if not isinstance(error, ReverieError):
        logger("reveried.sync").error("a file was not taken in", exc_info=error, space=space)
    committed.failed |= dict.fromkeys(part.paths, failure)
    return []


def _log_notices(space: str, part: Plan, operations: Mapping[str, int]) -> None:
    """Log each save that lacks lines newer than its editor's copy: how many were kept or removed, and the undo."""
    log = logger("reveried.sync")
    for notice in part.notices:
        if notice.kept:
            log.info("a save lacks lines that its writer had not seen", space=space, path=notice.path, kept=notice.kept)
        if notice.left_out:
            undo = f"reverie undo {operations[notice.path]}"
            lines = notice.left_out
            log.warning("a save left out newer lines", space=space, path=notice.path, lines=lines, undo=undo)
        if notice.memories:
            undo = f"reverie undo {operations[notice.path]}"
            log.warning("a moved file has no memories", space=space, path=notice.path, gone=notice.memories, undo=undo)
