"""Opens a store and commits to it: one durable flush for all the writes handed in."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import lmdb

from reverie.errors import Damaged, ReverieError, StorageFailed
from reverie.store.env import MAP_BYTES, Environment
from reverie.store.group_commit import Batch, Done, Failed, Write
from reverie.store.header import Header
from reverie.store.integrity import Trust
from reverie.store.keys import space_prefix
from reverie.store.lmdb_errors import commit_error, translate
from reverie.store.lock import StoreLock
from reverie.store.lookup import Lookup
from reverie.store.migrations import MIGRATIONS, Migration, apply_missing
from reverie.store.reader import Reader
from reverie.store.rollback_guard import Anchor, AnchorFile
from reverie.store.timestamps import to_ms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reverie.store.codec import Redactor

__all__ = ["Store"]


class Store:
    """An open store. One thread at a time commits; any number of threads read meanwhile."""

    def __init__(
        self, env: Environment, lock: StoreLock, anchor: AnchorFile, header: tuple[Header, str], redactor: Redactor
    ) -> None:
        self._env = env
        self._lock = lock
        self._anchor = anchor
        self._header, self._checksum = header
        self._redactor = redactor
        self._trust = Trust()
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
        """The store in the folder `path`, made where there is none.

        `lock` is the store's lock where the caller took it before; the store releases it when closed. Run
        `run_check` first where `needs_check` says so. Raises Conflict where another process has the store,
        Damaged where it cannot be read or has gone back behind what was acknowledged, StorageFailed for a newer one.
        """
        lock = lock or StoreLock.take(path)
        env = None
        try:
            for left in path.glob("*.part"):  # by a compaction or a restore that was cut short
                left.unlink()
            before = AnchorFile.read(path)
            env = Environment(path, map_size)
            header, checksum = _prepared(env, before, migrations)
            anchor = AnchorFile(path)
            anchor.write(Anchor(header.commits, checksum, closed=False), flush=True)
        except BaseException:
            if env is not None:
                env.close()
            lock.release()
            raise
        return cls(env, lock, anchor, (header, checksum), redactor)

    @property
    def path(self) -> Path:
        """The folder of the store."""
        return self._lock.path.parent

    @property
    def commits(self) -> int:
        """How many commits the store has seen in its life."""
        return self._header.commits

    @property
    def open_reads(self) -> int:
        """How many readers are open now."""
        return self._env.open_reads

    @property
    def failed(self) -> StorageFailed | None:
        """Why the store takes no more writes, or None while it does."""
        return self._failed

    @contextmanager
    def reader(self, space: str) -> Iterator[Reader]:
        """A snapshot of one space as of now. Keep it short: pages freed meanwhile cannot be used again.

        Raises Busy where too many are open at once, ValidationError for an impossible name.
        """
        self._require_open()
        prefix = space_prefix(space)
        with self._env.read() as txn:
            yield Reader(Lookup(txn, prefix), space, self._trust)

    def commit(self, writes: Sequence[Write[Any]], *, at: str) -> list[Done[Any] | Failed]:
        """Runs every write and makes them durable together; one outcome for each, in their order.

        A write that fails leaves nothing behind and does not touch its neighbours. Raises, with nothing of any of
        them written, DiskFull (the next commit works once there is room), or StorageFailed (the disk did not take
        the flush; every later commit raises too, until the store is opened again).
        """
        self._require_open()
        if self._failed is not None:
            raise self._failed
        at_ms = to_ms(at)
        while True:
            try:
                return self._attempt(writes, at_ms)
            except lmdb.MapFullError:
                self._env.grow()

    def _attempt(self, writes: Sequence[Write[Any]], at_ms: int) -> list[Done[Any] | Failed]:
        txn = self._begin()
        try:
            batch = Batch(self._env, txn, at_ms, self._redactor, self._trust)
            outcomes = [batch.run(write) for write in writes]
            if not batch.changed:
                txn.abort()
                return outcomes
            header = self._header.copy()
            checksum = batch.seal(header)
        except BaseException as error:
            txn.abort()
            if isinstance(error, lmdb.Error) and not isinstance(error, lmdb.MapFullError):
                raise translate(error, "committing") from error
            raise
        self._flush(txn)
        self._header, self._checksum = header, checksum
        self._remember(Anchor(header.commits, checksum, closed=False))
        return outcomes

    def _begin(self) -> lmdb.Transaction[bytes]:
        try:
            return self._env.begin()
        except lmdb.Error as error:
            raise self._fail(error) from error

    def _flush(self, txn: lmdb.Transaction[bytes]) -> None:
        try:
            txn.commit()
        except lmdb.MapFullError:
            raise
        except lmdb.Error as error:
            raise self._fail(error) from error

    def _fail(self, error: lmdb.Error) -> ReverieError:
        failure = commit_error(error, self.path)
        if isinstance(failure, StorageFailed):
            self._failed = failure
        return failure

    def _remember(self, anchor: Anchor) -> None:
        try:
            self._anchor.write(anchor)
        except OSError as error:
            # What was committed is on disk. Without room the anchor stays behind, which is safe; a disk that
            # does not take 256 bytes in place is not to be trusted with the next commit.
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                self._failed = StorageFailed(f"the anchor cannot be written: {error}", hint="look at the disk")

    def copy_to(self, fd: int) -> None:
        """Writes a compacted copy of everything committed to an open file. `backup` is what people want.

        Raises DiskFull or StorageFailed.
        """
        self._require_open()
        try:
            self._env.copy_to(fd)
        except lmdb.Error as error:
            raise commit_error(error, self.path) from error

    def compact(self) -> int:
        """Rewrites the file without free pages, so that bytes of what was purged leave it; the bytes it is shorter.

        Waits for open readers as growth does. Raises Busy, DiskFull, StorageFailed; the old file then stays.
        """
        self._require_open()
        if self._failed is not None:
            raise self._failed
        try:
            return self._env.compact()
        except lmdb.Error as error:
            raise commit_error(error, self.path) from error

    def close(self) -> None:
        """Closes in order: the environment, then the anchor, flushed, says so, then the lock. Twice is once.

        After a failed flush the anchor does not say so, and the store is checked before it is opened again.
        """
        if not self._open:
            return
        self._open = False
        self._env.close()
        if self._failed is None:
            self._anchor.write(Anchor(self._header.commits, self._checksum, closed=True), flush=True)
        self._anchor.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _require_open(self) -> None:
        if not self._open:
            raise StorageFailed("the store is closed", hint="open it again")
        if self._pid != os.getpid():
            raise StorageFailed("the store was opened by another process", hint="open it in the process that uses it")


def _prepared(env: Environment, before: Anchor | None, migrations: tuple[Migration, ...]) -> tuple[Header, str]:
    """The header, after the migrations that the store had not seen; and its checksum."""
    with env.read() as txn:
        found = Header.read(txn)
    if found is None and before is not None and before.commits:
        raise _behind(0, before)
    header, checksum = found or (Header(), "")
    if found is not None:
        _not_behind(header, checksum, before)
    names = [step.__name__ for step in migrations]
    if header.applied == names:
        return header, checksum
    txn = env.begin()
    try:
        header.applied = apply_missing(txn, header.applied, migrations)
        checksum = header.write(txn, 0)
        txn.commit()
    except BaseException:
        txn.abort()
        raise
    return header, checksum


def _not_behind(header: Header, checksum: str, before: Anchor | None) -> None:
    """Raises Damaged where the store is older than its anchor, or another one."""
    if before is not None and (
        header.commits < before.commits or (header.commits == before.commits and checksum != before.header)
    ):
        raise _behind(header.commits, before)


def _behind(commits: int, before: Anchor) -> Damaged:
    return Damaged(
        f"the store has gone back to commit {commits}; commit {before.commits} was acknowledged",
        hint="`reverie restore` from a backup; or remove the file `anchor` beside it to go on with what is there",
    )
