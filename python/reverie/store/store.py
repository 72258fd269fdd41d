"""The store: opened by one process, read through snapshots, written to in group commits."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import lmdb

from reverie.errors import DiskFull, ReverieError, StorageFailed
from reverie.store.checksums import VerifiedCollections
from reverie.store.codec import to_ms
from reverie.store.commit import Done, Failed, GroupCommit, Write
from reverie.store.env import MAP_BYTES, NO_ROOM, Environment, commit_error, translated_error
from reverie.store.guard import RollbackGuard, RollbackGuardFile, StoreLock, remove_draft
from reverie.store.keys import space_prefix
from reverie.store.migrations import MIGRATIONS, Header, Migration, opened_header
from reverie.store.reader import Reader
from reverie.store.transactions import ReadTransaction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reverie.store.codec import Redactor


class Store:
    """An open store. One thread at a time may commit; any number of threads may read meanwhile."""

    def __init__(
        self,
        env: Environment,
        lock: StoreLock,
        guard: RollbackGuardFile,
        header: tuple[Header, str],
        redactor: Redactor,
    ) -> None:
        self._env = env
        self._lock = lock
        self._guard = guard
        self._header, self._checksum = header
        self.redactor = redactor
        self._verified = VerifiedCollections()
        self._failed: StorageFailed | None = None
        self._pid = os.getpid()
        self._open = True

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        redactor: Redactor,
        map_size: int = MAP_BYTES,
        lock: StoreLock | None = None,
        migrations: tuple[Migration, ...] = MIGRATIONS,
    ) -> Self:
        """Open the store in the folder `path`; create it where there is none.

        `lock` is the store's lock where the caller has taken it already; the store releases it when closed. Run
        `run_check` first where `needs_check` returns True. Raises Conflict where another process has the store open,
        Damaged where it cannot be read or has gone back behind what was acknowledged, StorageFailed for a newer one.
        """
        lock = lock or StoreLock.take(path)
        env = guard_file = guard = None
        try:
            for draft in path.glob("*.part"):  # left by a compaction or restore that did not finish
                draft.unlink()
            remove_draft(path)
            guard = RollbackGuardFile.read(path)
            guard_file = RollbackGuardFile(path)
            if guard is not None:
                # Reading a damaged file can end the process with SIGBUS or SIGABRT before anything below runs. Marked
                # as not closed, the store is then checked at the next start, which names the damage.
                guard_file.write(RollbackGuard(guard.commits, guard.header, closed=False))
            env = Environment(path, map_size)
            header, checksum = opened_header(env, guard, migrations)
            # Flushed before the first commit: a crash from here on is found as "not closed" at the next start.
            guard_file.write(RollbackGuard(header.commits, checksum, closed=False), flush=True)
        except BaseException:
            if env is not None:
                env.close()
            if guard_file is not None:
                if guard is not None:
                    guard_file.write(guard)
                guard_file.close()
            lock.release()
            raise
        return cls(env, lock, guard_file, (header, checksum), redactor)

    @property
    def path(self) -> Path:
        """The folder of the store."""
        return self._lock.path.parent

    @property
    def commits(self) -> int:
        """The number of commits in the life of the store."""
        return self._header.commits

    @property
    def open_reads(self) -> int:
        """The number of readers that are open now."""
        return self._env.open_reads

    @property
    def failed(self) -> StorageFailed | None:
        """The reason why the store accepts no more writes, or None while it does."""
        return self._failed

    @contextmanager
    def reader(self, space: str) -> Iterator[Reader]:
        """Open a snapshot of one space as it is now. Keep it short: pages freed meanwhile cannot be used again.

        Raises Busy where too many are open at once, ValidationError for an impossible name.
        """
        self._require_open()
        prefix = space_prefix(space)
        with self._env.read() as txn:
            transaction = ReadTransaction(txn, prefix, (self._env.openings, txn.id()))
            del txn  # see `Environment.read`: this frame may outlive the snapshot
            try:
                yield Reader(transaction, space, self._verified)
            finally:
                transaction.close()

    def commit(self, writes: Sequence[Write[Any]], *, at: str) -> list[Done[Any] | Failed]:
        """Run every write and make them durable together; return one outcome for each, in their order.

        `at` is the time of the commit (RFC 3339). A write that fails leaves nothing behind and does not affect the
        others. Raises, with none of them written, DiskFull (the next commit works once there is room), or StorageFailed
        (the flush failed; every later commit raises too, until the store is opened again).
        """
        self._require_open()
        if self._failed is not None:
            raise self._failed
        at_ms = to_ms(at)
        while True:
            try:
                return self._attempt(writes, at_ms)
            except lmdb.MapFullError:
                self._env.grow()  # the transaction is gone; every body runs again from its beginning

    def _attempt(self, writes: Sequence[Write[Any]], at_ms: int) -> list[Done[Any] | Failed]:
        """Run the writes in one transaction and flush it. Raises lmdb.MapFullError with nothing written."""
        txn = self._begin()
        try:
            group = GroupCommit(self._env, txn, at_ms, self.redactor, self._verified)
            outcomes = [group.run(write) for write in writes]
            if not group.changed:
                txn.abort()
                return outcomes
            header = self._header.copy()  # the old one stays valid if the flush fails
            checksum = group.seal(header)
        except BaseException as error:
            txn.abort()
            if isinstance(error, lmdb.Error) and not isinstance(error, lmdb.MapFullError):
                raise translated_error(error, "committing") from error
            raise
        self._flush(txn)
        # From here on the commit is durable. The guard comes after the flush and not before: a guard that is ahead of
        # the store after a crash would make a sound store look rolled back.
        self._header, self._checksum = header, checksum
        self._write_guard(RollbackGuard(header.commits, checksum, closed=False))
        return outcomes

    def _begin(self) -> lmdb.Transaction[bytes]:
        try:
            return self._env.begin()
        except lmdb.Error as error:
            raise self._fail(error) from error

    def _flush(self, txn: lmdb.Transaction[bytes]) -> None:
        """Commit the outer transaction: LMDB writes the pages, flushes, writes the meta page, flushes again."""
        try:
            txn.commit()
        except lmdb.MapFullError:
            raise
        except lmdb.Error as error:
            raise self._fail(error) from error

    def _fail(self, error: lmdb.Error) -> ReverieError:
        """Return the error of a failed commit, and close the store to writes where the disk cannot be trusted."""
        failure = commit_error(error, self.path)
        if isinstance(failure, StorageFailed):
            self._failed = failure
        return failure

    def _write_guard(self, guard: RollbackGuard) -> None:
        """Write the rollback guard after a commit; on an I/O error, accept no further write."""
        try:
            self._guard.write(guard)
        except OSError as error:
            # What was committed is on disk. Without room the guard stays behind, which is safe; a disk that cannot
            # write 256 bytes in place is not to be trusted with the next commit.
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                self._failed = StorageFailed(f"the rollback guard cannot be written: {error}", hint="look at the disk")

    def copy_to(self, fd: int) -> None:
        """Write a compacted copy of everything committed to an open file; `backup` also checks the copy.

        Raises DiskFull or StorageFailed.
        """
        self._require_open()
        try:
            self._env.copy_to(fd)
        except lmdb.Error as error:
            raise commit_error(error, self.path) from error
        except OSError as error:
            if error.errno in NO_ROOM:
                raise DiskFull(f"there is no room for a copy: {error}", hint="free some space") from error
            raise StorageFailed(f"the store cannot be copied: {error}", hint="look at the disk") from error

    def compact(self) -> int:
        """Rewrite the file without free pages, so that purged bytes leave it; return how many bytes shorter it is.

        Only for the thread that commits. Reads go on, except for a moment at the end that waits for open ones, as
        growth of the map does. Raises Busy, DiskFull, StorageFailed; the old file then stays.
        """
        self._require_open()
        if self._failed is not None:
            raise self._failed
        try:
            return self._env.compact()
        except lmdb.Error as error:
            raise commit_error(error, self.path) from error

    @property
    def free_share(self) -> float:
        """The share of the file that is free pages, 0 to 1: what a compaction would save."""
        self._require_open()
        return self._env.free_share()

    @property
    def filled_share(self) -> float:
        """The share of the file that is records, 0 to 1; reads every record, 1 s for a million."""
        self._require_open()
        return self._env.filled_share()

    def close(self) -> None:
        """Close the environment, then flush the rollback guard with `closed`, then unlock. A second call does nothing.

        In this order, `closed` is never true while anything can still be written. After a failed flush it stays false,
        so that the store is checked before it is opened again.
        """
        if not self._open:
            return
        self._open = False
        self._env.close()
        if self._failed is None:
            self._guard.write(RollbackGuard(self._header.commits, self._checksum, closed=True), flush=True)
        self._guard.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _require_open(self) -> None:
        """Raise StorageFailed where the store was closed, or belongs to the process that forked this one."""
        if not self._open:
            raise StorageFailed("the store is closed", hint="open it again")
        if self._pid != os.getpid():
            raise StorageFailed("the store was opened by another process", hint="open it in the process that uses it")
