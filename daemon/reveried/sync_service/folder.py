"""One space's folder: looking at it and writing to it. Everything here blocks, and runs in a thread, one at a time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from reverie.errors import ReverieError, unexpected
from reverie.ids import new_id
from reverie.sync.exchange import Mismatch, remove_file, write_file
from reverie.sync.file_status import Refusal, Stamp
from reverie.sync.plan import Remove, Write
from reverie.sync.reconcile import reconcile
from reverie.sync.redaction_view import RedactionView
from reverie.sync.scan import FileContent, Limits
from reverie.sync.state import PathState, Rules, sha256
from reverie.usecases import projections, sync
from reverie.usecases.listing import Listing
from reveried.sync_service.baseline import Agreement
from reveried.sync_service.dirty_set import Unshown
from reveried.sync_service.file_index import Sight
from reveried.sync_service.late_writes import LateSaves
from reveried.sync_service.pass_result import Committed, Looked, Wrote
from reveried.sync_service.projection import Projection
from reveried.sync_service.root_binding import Site
from reveried.sync_service.status import standing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reverie.projections import DocumentEntry
    from reverie.redact import Redactor
    from reverie.store import Reader, Store
    from reverie.sync.root import Root
    from reverie.usecases.listing import Listed
    from reveried.config import Sync

__all__ = ["Folder"]

ID_RANDOM_BYTES = 10
AGAIN_MS = 500  # before a look at everything says whether so many files are gone


class Folder:
    """What is known of one folder."""

    def __init__(
        self,
        space: str,
        path: Path,
        store: Store,
        redactor: Redactor,
        config: Sync,
        *,
        store_id: str,
        now_ms: Callable[[], int],
        random: Callable[[int], bytes],
    ) -> None:
        self.space = space
        self.path = path
        self.listing = Listing()
        self._unshown = Unshown(self.listing, self._shows)
        self.late = LateSaves(int(config.grace_seconds * 1000))
        self.scanned_at: int | None = None
        self.problem: ReverieError | None = None
        self._agreement: Agreement | None = None
        self._store = store
        self._redactor = redactor
        self._config = config
        self._now_ms = now_ms
        self._random = random
        self._site = Site(path, self.late, space=space, store_id=store_id, stamp=self._stamp, now_ms=now_ms)
        self._projection = Projection(path)
        self._sight = Sight(Limits(file_bytes=config.file_bytes, files=config.files))
        self.unkept: dict[str, ReverieError] = {}  # why records or projections cannot be kept
        self._failed: dict[str, ReverieError] = {}
        self._stopped: frozenset[str] = frozenset()
        self._listed: int | None = None  # the operation since which MEMORY.md names what it should
        self._unsure = False  # whether so many files are gone as it seems, a look at everything says

    @property
    def agreement(self) -> Agreement:
        """What was agreed on; read from the store on first use."""
        if self._agreement is None:
            with self._store.reader(self.space) as reader:
                self._agreement = Agreement(sync.known(reader))
        return self._agreement

    @property
    def due(self) -> int | None:
        """When to look at all again without being told (ms): a file is gone and may stay so."""
        quiet = int(self._config.delete_quiet_seconds * 1000)
        missing = {} if self._stopped else self.agreement.missing()
        gone = [since + quiet for path, since in missing.items() if self._sight.covering(path) is None]
        again = [(self.scanned_at or 0) + AGAIN_MS] if self._unsure else []
        return min([*gone, *again], default=None)

    @property
    def growing(self) -> set[str]:
        """The files that were being written, to be looked at again without being told."""
        return self._sight.growing

    def look(self, paths: set[str] | None, *, deep: bool = False, accept: bool = False) -> Looked:
        """What folder and store say of `paths` (None: of all), and of the documents that changed since the last look.

        `accept` takes every file that is gone as deleted on purpose.

        Raises:
            Conflict: the folder is not there, or not the one that it was; nothing may be done.
        """
        try:
            looked = self._look(paths, deep=deep, accept=accept)
        except Exception as error:
            self.problem = error if isinstance(error, ReverieError) else unexpected(error)
            raise
        self.problem = None
        return looked

    def _look(self, paths: set[str] | None, *, deep: bool, accept: bool) -> Looked:
        agreement = self.agreement
        with self._store.reader(self.space) as reader:
            operation = self._unshown.catch_up(reader)
            root = self._opened()
            if root is None:  # nothing was ever written, and no person has made the folder
                self.scanned_at = self._now_ms()
                return Looked()
            root.verify()
            if paths is None:  # everything: also what was saved into files that have been replaced since
                self.late.settle(self._now_ms())
            unshown = self._unshown.paths
            wanted = None if paths is None else {*paths, *unshown, *self.late.paths}
            stamps = self._stat(root, wanted)
            here = {path for path, stamp in stamps.items() if deep or agreement.stamps.get(path) != stamp}
            there = agreement.expected(wanted)
            gone = {path for path in there if path not in stamps}
            if wanted is not None and not accept and (self._stopped or self.scanned_at is None):
                self._unsure |= not gone <= self._stopped  # how many are gone, a look at everything says,
                gone.clear()  # and whether they may go, a person
            found = here | gone | unshown | self.late.paths
            suspects = {path for path in found if path in stamps or self._sight.covering(path) is None}
            looked = self._decided(reader, root, suspects, stamps, self._rules(accept=accept), whole=wanted is None)
            looked.operation = operation
            return looked

    def _shows(self, path: str) -> int | None:
        """The operation whose text the disk last showed at `path`."""
        known = None if self._agreement is None else self._agreement.known.get(path)
        return None if known is None else known.operation

    def _opened(self) -> Root | None:
        """The folder, made where there is something to write and it never was there; None where there is nothing."""
        fresh = not self.agreement.files
        if self._site.root is None and fresh and not self.path.is_dir() and not self.listing.documents:
            return None
        documents = {*self.agreement.known, *self.listing.documents}
        return self._site.open(documents, fresh=fresh, operation=self.listing.operation or 0)

    def vacant(self) -> bool:
        """Whether another folder may be taken over: as `Site.vacant`."""
        with self._store.reader(self.space) as reader:
            self._unshown.catch_up(reader)
        documents = {*self.agreement.known, *self.listing.documents}
        return self._site.vacant(documents, fresh=not self.agreement.files, operation=self.listing.operation or 0)

    def _stat(self, root: Root, paths: set[str] | None) -> dict[str, Stamp]:
        """The files at `paths`, or all of them."""
        known = self.agreement.known
        if paths is not None:
            return self._sight.some(root, paths, known)
        stamps = self._sight.all(root, known)
        self.scanned_at = self._now_ms()
        return stamps

    def _decided(
        self, reader: Reader, root: Root, wanted: set[str], stamps: dict[str, Stamp], rules: Rules, *, whole: bool
    ) -> Looked:
        """The plan for the paths that are not as they were."""
        looked = Looked()
        found = [self._case(reader, root, path, stamps, looked) for path in sorted(wanted)]
        cases = [case for case in found if case is not None]
        if not whole:
            moved = (self._case(reader, root, path, {}, looked) for path in self._moved(root, cases))
            cases += [case for case in moved if case is not None]
        looked.paths = {case.path for case in cases}
        looked.plan = reconcile(
            cases,
            redact=lambda raw: RedactionView.of(raw, self._redactor),
            now_ms=self._now_ms(),
            stamp=self._stamp(),
            new_id=lambda: new_id("cp", self._now_ms(), self._random(ID_RANDOM_BYTES))[-6:],
            rules=rules,
            files=self.agreement.files,
        )
        stopped = frozenset(path for stop in looked.plan.stops for path in stop.paths)
        self._unsure = not whole and (self._unsure or bool(stopped or self._stopped & stamps.keys()))
        self._stopped = stopped if whole else self._stopped | stopped
        return looked

    def _moved(self, root: Root, cases: list[PathState]) -> list[str]:
        """Files that were not looked at and are gone, while one that was has their bytes: they were moved there."""
        known = self.agreement.known
        found = {case.path: sha256(case.data) for case in cases if case.data and case.disk_sha256 is None}
        came = {digest for path, digest in found.items() if path not in known or known[path].sha256 != digest}
        olds = self.agreement.having(came) - {case.path for case in cases} if came else set()
        there = self._stat(root, olds)
        return sorted(path for path in olds if path not in there and self._sight.covering(path) is None)

    def _rules(self, *, accept: bool) -> Rules:
        config = self._config
        quiet = int(config.delete_quiet_seconds * 1000)
        return Rules(delete_quiet_ms=quiet, mass_fraction=config.mass_fraction, deletions_accepted=accept)

    def _case(
        self, reader: Reader, root: Root, path: str, stamps: dict[str, Stamp], looked: Looked
    ) -> PathState | None:
        """What is known of one path; None for a file that cannot be read now."""
        agreed = self.agreement.known.get(path)
        found = self._sight.read(root, path) if path in stamps else None
        if isinstance(found, Refusal):
            return None
        seen, disk = (None, None) if found is None else (found.data, found.sha256)
        if found is not None:
            looked.read += 1
            looked.stamps[path] = found.stamp
        try:
            saved = self.late.to_merge(root, path, seen, stamp=self._stamp())
        except ReverieError as error:  # it waits, and is told; everything else goes on
            self._failed[path] = error
            return None
        if saved is not None:
            looked.late[path] = saved
            looked.stamps.pop(path, None)  # the file that is there is looked at next
            return sync.case(
                reader,
                path,
                agreed,
                saved.data,
                versions_max=Rules().versions_max,
                disk=disk or "",
                replaced_by=saved.replaced_by,
            )
        return sync.case(
            reader,
            path,
            agreed,
            seen,
            versions_max=Rules().versions_max,
            saved_at=None if found is None else found.stamp.ctime_ns // 1_000_000,
            file=None if found is None else found.stamp.file_id,
            was_file=self.agreement.files_of.get(path),
        )

    def write(self, looked: Looked, committed: Committed) -> Wrote:
        """Carries out the folder's side of a plan whose store side is committed.

        A file that somebody changed since the look is left as it is, and named in `again`. One that cannot be written,
        or not be taken in, is told by the status and tried again later; the others are.
        """
        wrote = Wrote()
        root, became = self._site.root, committed.became
        if root is None:
            return wrote
        plan = looked.plan.without(committed.failed)
        self.agreement.agree([each.with_operation(became.get(each.path, 0)) for each in plan.baselines], looked.stamps)
        self.agreement.forget(plan.removed_baselines)
        failed = dict(committed.failed)
        changes: list[Write | Remove] = [*plan.writes, *plan.removals]
        for change in changes:
            try:
                settled = self._changed(root, change, became)
            except ReverieError as error:
                failed[change.path] = error
                continue
            wrote.written += settled
            if not settled:
                wrote.again.add(change.path)
        done = looked.paths - failed.keys()
        self._tell_failed(failed, done)
        self._unshown.dealt_with(done - wrote.again, looked.operation, became)
        for path in (done - wrote.again) & (looked.late.keys() | self.late.paths):
            self.late.merged(path, looked.late.get(path))
            wrote.again.add(path)  # for the file that is there, and for the next late save
        return wrote

    def _tell_failed(self, failed: dict[str, ReverieError], done: set[str]) -> None:
        for path, error in failed.items():
            self._failed[path] = error
            self._unshown.add(path)
        for path in done:
            self._failed.pop(path, None)

    def _changed(self, root: Root, change: Write | Remove, became: dict[str, int]) -> bool:
        """Writes or removes one file; whether that was all, and nobody was faster."""
        now = self._now_ms()
        if isinstance(change, Remove):
            taken = remove_file(root, change.path, expected=change.expected)
            if isinstance(taken, Mismatch):
                self._overtaken(change.path, taken)
                return False
            self.agreement.forget([change.path])
            self.late.watch(change.path, taken.displaced, now)
            return True
        then = change.then.with_operation(became.get(change.path, 0))
        placed = write_file(root, change.path, change.data, expected=change.expected)
        if isinstance(placed, Mismatch):
            self._overtaken(change.path, placed, then.operation)
            return False
        self.agreement.agree([then], {change.path: placed.stamp})
        self.late.watch(change.path, placed.displaced, now, replaced_by=then.operation)
        return placed.stamp is not None

    def _overtaken(self, path: str, found: Mismatch, operation: int | None = None) -> None:
        """Somebody saved meanwhile: what came out on the way is merged, whether or not it is in its place again.

        It was made from what the file had shown until then, the text of `operation` included, which was there a moment.
        """
        after = None if operation is None else operation + 1
        self.late.watch(path, found.displaced, self._now_ms(), replaced_by=after)
        for data in found.saves:
            self.late.add(path, data, None, replaced_by=after)

    def project(self) -> ReverieError | None:
        """Brings what only Reverie writes up to date; why a file of it could not be written, if one could not."""
        if self._site.root is None:
            return None
        self._site.root.verify()
        with self._store.reader(self.space) as reader:
            self._unshown.catch_up(reader)
            self._projection.bring_up(reader, self._site.root, self.listing, now_ms=self._now_ms())
        return next(iter(self._projection.failed.values()), None)

    def flush(self) -> None:
        """Makes what was written to the folder last, so that records may say that it is there."""
        if self._site.root is not None:
            self._site.root.flush()

    def to_list(self) -> list[DocumentEntry] | None:
        """What MEMORY.md should name; None where it does already."""
        with self._store.reader(self.space) as reader:
            operation = self._unshown.catch_up(reader)
            if operation == self._listed:
                return None
            entries = self.listing.memories()
            if projections.is_listed_anew(reader, entries):
                return entries
            self._listed = operation
            return None

    def listed(self) -> list[Listed]:
        """Every document that the store has now."""
        with self._store.reader(self.space) as reader:
            self._unshown.catch_up(reader)
            return list(self.listing.documents.values())

    def projected(self, path: str) -> dict[str, Any] | None:
        """What only Reverie writes, as a document's record; None where there is no such file."""
        with self._store.reader(self.space) as reader:
            self._unshown.catch_up(reader)
            return projections.record(reader, path, self.listing)

    def refusal(self, path: str) -> Refusal | None:
        """Why no file can be at a path, as it was last looked at; one that is being written can, and one too many."""
        found = self._sight.covering(path)
        return None if found is None or found.reason in {"growing", "too_many"} else found

    def secrets(self, path: str) -> frozenset[str]:
        """What stands in the store's text for the secrets that the file at a path holds now."""
        found = None if self._site.root is None else self._sight.read(self._site.root, path)
        return (
            RedactionView.of(found.data.decode(), self._redactor).markers
            if isinstance(found, FileContent)
            else frozenset()
        )

    def told(self) -> dict[str, Any]:
        """How the folder stands, as the wire tells it."""
        return standing(
            self.path,
            problem=self.problem or self._site.trouble(),
            stopped=self._stopped,
            pending=len(self._unshown.paths | self.late.paths),
            missing=self.agreement.missing(),
            refused=[
                each
                for found in (self._site.left, self._projection.blocked, self._sight.refused)
                for each in list(found.values())
            ],
            failed=self._failed | self._projection.failed,
            unkept=self.unkept,
            set_aside=self._projection.set_aside,
            scanned_at=self.scanned_at,
        )

    def close(self) -> None:
        """Gives back what is open."""
        self._site.close()

    def _stamp(self) -> str:
        return datetime.fromtimestamp(self._now_ms() / 1000, UTC).strftime("%Y%m%d-%H%M%S")
