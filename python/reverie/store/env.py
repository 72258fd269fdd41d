"""Opens LMDB as the promises need it, and makes room in its map while nothing is open in it."""

from __future__ import annotations

import mmap
import os
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import lmdb

from reverie.errors import Busy, Damaged, StorageFailed
from reverie.store.lmdb_errors import reading
from reverie.store.rollback_guard import sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAP_BYTES", "READERS_MAX", "Environment", "options"]

MAP_BYTES = 1 << 30  # address space, not disk: the file grows as it is written
READERS_MAX = 512
DESCRIPTORS = Path("/proc/self/fd")
_GROWTH_BYTES_MAX = 16 << 30
_MAP_BYTES_MAX = 16 << 40
_GROW_WAIT_S = 5.0


def options(map_bytes: int, *, readonly: bool = False) -> dict[str, int | bool]:
    """How LMDB is opened everywhere. The sync flags are the defaults, and the promise of durability rests on them."""
    return {
        "lib_version": 0,
        "map_size": map_bytes,
        "subdir": True,
        "readonly": readonly,
        "create": not readonly,
        "mode": 0o600,
        "max_readers": READERS_MAX,
        "max_dbs": 0,
        "max_spare_txns": 8,
    }


class Environment:
    """An open LMDB environment whose map can grow: reads are counted, and growth waits until none is open."""

    def __init__(self, path: Path, map_bytes: int = MAP_BYTES) -> None:
        """Opens, creating where nothing is. Raises Damaged for a file that is not a store, StorageFailed."""
        fresh = not (path / "data.mdb").exists()
        self._path = path
        self._env = _opened(path, map_bytes)
        self._gate = threading.Condition()
        self._open_reads = 0
        self._growing = False
        if fresh:
            sync_folder(path)
            sync_folder(path.parent)
        self.stale_readers = self._env.reader_check()

    @contextmanager
    def read(self) -> Iterator[lmdb.Transaction[bytes]]:
        """A snapshot. Raises Busy where too many are open."""
        with self._counted():
            with reading("opening a snapshot"):
                txn = self._env.begin()
            try:
                yield txn
            finally:
                txn.abort()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """While the map must stay where it is."""
        with self._gate:
            while self._growing:
                if not self._gate.wait(_GROW_WAIT_S):
                    raise Busy("the store is making room", hint="try again in a moment", retryAfter=1)
            self._open_reads += 1
        try:
            yield
        finally:
            with self._gate:
                self._open_reads -= 1
                if self._open_reads == 0:
                    self._gate.notify_all()

    @property
    def open_reads(self) -> int:
        """How many snapshots are open now."""
        return self._open_reads

    def begin(self, parent: lmdb.Transaction[bytes] | None = None) -> lmdb.Transaction[bytes]:
        """A write transaction, inside `parent` where given. LMDB binds it to the calling thread."""
        return self._env.begin(write=True, parent=parent)

    def grow(self) -> None:
        """Doubles the map, by at most 16 GiB at once. Waits for open snapshots; raises Busy where they stay."""
        with self._quiet():
            size = int(self._env.info()["map_size"])
            if size >= _MAP_BYTES_MAX:
                raise StorageFailed("the store has reached its greatest size", hint="`reverie backup`, then prune")
            self._env.set_mapsize(size + min(size, _GROWTH_BYTES_MAX))

    def copy_to(self, fd: int) -> None:
        """Writes everything committed, without free pages, to an open file."""
        with self._counted():
            self._env.copyfd(fd, compact=True)

    def compact(self) -> int:
        """Puts a copy without free pages in the place of the file; the bytes saved. Waits as `grow` does."""
        data, draft = self._path / "data.mdb", self._path / "compacted.part"
        with self._quiet():
            before = data.stat().st_size
            fd = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                self._env.copyfd(fd, compact=True)
                os.fsync(fd)
            except BaseException:
                draft.unlink()
                raise
            finally:
                os.close(fd)
            map_bytes = int(self._env.info()["map_size"])
            self._env.close()
            draft.rename(data)
            sync_folder(self._path)
            self._env = _opened(self._path, map_bytes)
            return before - data.stat().st_size

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """While no snapshot is open and none can be opened. Raises Busy where those open stay too long."""
        with self._gate:
            self._growing = True
            quiet = self._gate.wait_for(lambda: self._open_reads == 0, _GROW_WAIT_S)
        try:
            if not quiet:
                raise Busy("the store needs room and reads are still open", hint="try again", retryAfter=1)
            yield
        finally:
            with self._gate:
                self._growing = False
                self._gate.notify_all()

    def close(self) -> None:
        """Lets go of the files."""
        self._env.close()


def _opened(path: Path, map_bytes: int) -> lmdb.Environment:
    try:
        opened = lmdb.open(str(path), **options(map_bytes))  # type: ignore[arg-type]
    except (lmdb.InvalidError, lmdb.VersionMismatchError, lmdb.CorruptedError) as error:
        raise Damaged(
            f"{path / 'data.mdb'} is not a store that can be read: {error}", hint="`reverie restore` from a backup"
        ) from error
    except lmdb.MemoryError as error:
        if not _fits_in_memory(max(map_bytes, (path / "data.mdb").stat().st_size)):
            raise StorageFailed(f"no room for a map of {map_bytes} bytes: {error}", hint="look at ulimit -v") from error
        raise Damaged(
            f"{path / 'data.mdb'} says that it ends where no map can", hint="`reverie restore` from a backup"
        ) from error
    except lmdb.Error as error:
        raise StorageFailed(f"cannot open the store in {path}: {error}", hint="look at the disk") from error
    _keep_to_ourselves(path)
    return opened


def _fits_in_memory(size: int) -> bool:
    """Whether addresses for a map of `size` bytes are to be had: LMDB maps as much as the file says it holds."""
    try:
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ).close()
    except OSError:
        return False
    return True


def _keep_to_ourselves(path: Path) -> None:
    """No process that this one starts inherits a descriptor of the store: LMDB leaves one without close-on-exec."""
    held = {file.stat().st_ino for file in (path / "data.mdb", path / "lock.mdb") if file.exists()}
    for descriptor in list(DESCRIPTORS.iterdir()) if DESCRIPTORS.is_dir() else []:
        with suppress(OSError):  # the listing's own descriptor is gone by now
            number = int(descriptor.name)
            if os.fstat(number).st_ino in held:
                os.set_inheritable(number, False)  # noqa: FBT003 - the call's own signature
