"""The LMDB environment: how it is opened, how its map grows and its file is compacted, and what its errors mean.

Only the store imports lmdb. LMDB maps the file into memory with a fixed size; the map can be enlarged only while no
transaction is open in the process, so reads are counted here and growth waits for them.
"""

from __future__ import annotations

import errno
import gc
import mmap
import os
import resource
import shutil
import struct
import threading
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import lmdb

from reverie.errors import Busy, Damaged, DiskFull, ReverieError, StorageFailed
from reverie.store.guard import sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterator


_META_PAGES = 2
_TRANSACTION = struct.Struct("<Q")  # number of the commit that wrote a meta page
_TRANSACTION_AT = 144  # bytes from the beginning of a meta page: the head has 16, all other fields of a meta page 128
_HEAD = struct.Struct("<QHHHH")  # number, padding, flags, end of the list of nodes, beginning of the nodes
_LONG_HEAD = struct.Struct("<QHHI")  # of a long value's first page: number, padding, flags, how many pages it has
_NODE = struct.Struct("<HHHH")  # size of the value (low, high), flags, size of the key
_PAGE_NUMBER = struct.Struct("<Q")
_OFFSET_BYTES = 2  # of one entry in the list of nodes
_LEAF, _LONG = 0x02, 0x04  # flags of a page
_IN_LONG_PAGES = 0x01  # flag of a node: its value is the number of a long value's first page


def clear_unused_bytes(fd: int, page_bytes: int) -> int:
    """Overwrite what belongs to no record with zeros; return how many bytes were not zero.

    The file must be a compacted copy that nobody has open in LMDB: it has no free pages. The caller flushes it.
    """
    size = os.fstat(fd).st_size
    if size <= _META_PAGES * page_bytes:
        return 0
    cleared = 0
    with mmap.mmap(fd, size) as data:
        long_values: list[tuple[int, int]] = []  # first page of each, and its size in bytes
        page = _META_PAGES
        while page * page_bytes < size:
            at = page * page_bytes
            _, _, flags, lower, upper = _HEAD.unpack_from(data, at)
            if flags & _LONG:
                page += max(1, _LONG_HEAD.unpack_from(data, at)[3])
                continue
            if _HEAD.size <= lower <= upper <= page_bytes:
                if flags & _LEAF:
                    long_values += _long_values(data, at, lower)
                cleared += _clear(data, at + lower, at + upper)
            page += 1
        for first, length in long_values:
            at = first * page_bytes
            pages = _LONG_HEAD.unpack_from(data, at)[3]
            cleared += _clear(data, at + _HEAD.size + length, at + pages * page_bytes)
    return cleared


def repeat_meta_page(fd: int, page_bytes: int) -> None:
    """Make the older meta page of a copy refer to the same records as the newer; its page and transaction numbers stay.

    Nobody may have the file open in LMDB. The caller flushes it.
    """
    pages = [bytearray(os.pread(fd, page_bytes, number * page_bytes)) for number in range(_META_PAGES)]
    commits: list[int] = [_TRANSACTION.unpack_from(page, _TRANSACTION_AT)[0] for page in pages]
    older = commits.index(min(commits))
    repeated = pages[1 - older]
    repeated[: _PAGE_NUMBER.size] = pages[older][: _PAGE_NUMBER.size]
    _TRANSACTION.pack_into(repeated, _TRANSACTION_AT, commits[older])
    os.pwrite(fd, repeated, older * page_bytes)


def _long_values(data: mmap.mmap, at: int, lower: int) -> list[tuple[int, int]]:
    """Return first page and size of the long values that the leaf page at offset `at` refers to."""
    page_runs = []
    for entry in range(at + _HEAD.size, at + lower, _OFFSET_BYTES):
        node = at + int.from_bytes(data[entry : entry + _OFFSET_BYTES], "little")
        low, high, flags, key_bytes = _NODE.unpack_from(data, node)
        if flags & _IN_LONG_PAGES:
            (first,) = _PAGE_NUMBER.unpack_from(data, node + _NODE.size + key_bytes)
            page_runs.append((first, low | high << 16))
    return page_runs


def _clear(data: mmap.mmap, start: int, end: int) -> int:
    """Overwrite the bytes from `start` to `end` with zeros; return how many were not zero."""
    count = end - start - data[start:end].count(0)
    if count:
        data[start:end] = bytes(end - start)
    return count


MAP_BYTES = 1 << 30  # bytes of address space, not of disk: the file grows as it is written
MAPS_LOCK = threading.Lock()  # held while a map gets another address: other memory may be at the old one at once
READERS_MAX = 512  # slots in LMDB's table of readers; each open snapshot takes one
DESCRIPTORS = Path("/proc/self/fd")
_COPY_RECORDS = 10_000  # written in one transaction of a copy, which keeps its pages in memory
_COPY_BYTES = 1 << 20  # read and written at once
_GROWTH_BYTES_MAX = 16 << 30  # bytes that one growth adds at most; below that the map doubles
_MAP_BYTES_MAX = 16 << 40  # bytes; well inside a 47-bit address space
_GROW_WAIT_S = 5.0  # seconds; a snapshot is open for milliseconds, so one this old is a leak or a very long scan

_DAMAGE = (
    lmdb.CorruptedError,
    lmdb.PageNotFoundError,
    lmdb.InvalidError,
    lmdb.VersionMismatchError,
    lmdb.CursorFullError,
    lmdb.BadValsizeError,
)
NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_ROOM_BYTES = 1 << 20  # bytes; with less free space than this an I/O error is taken for a full disk


def lmdb_options(map_bytes: int, *, readonly: bool = False) -> dict[str, int | bool]:
    """Return the options with which LMDB is opened everywhere.

    `sync`, `metasync` and `writemap` are left at their defaults: a commit returns after the data and then the meta page
    are flushed, which is what makes an acknowledged write durable.
    """
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
        """Open the environment in the folder `path`, creating the file if there is none.

        Raises Damaged for a file that is not a store, StorageFailed.
        """
        is_new = not (path / "data.mdb").exists()
        self._path = path
        self._env = _opened(path, map_bytes)
        self._gate = threading.Condition()
        self._open_reads = 0
        self._growing = False
        self.openings = 1  # how often the file was opened: a compacted one counts its transactions from 1 again
        if is_new:
            # LMDB flushes the file but not its name: without this a loss of power could leave the folder empty.
            sync_folder(path)
            sync_folder(path.parent)
        self.stale_readers = self._env.reader_check()  # slots of processes that died, freed now

    @contextmanager
    def read(self) -> Iterator[lmdb.Transaction[bytes]]:
        """Yield a snapshot (a read transaction), closed at the end of the block. Raises Busy where too many are open.

        An aborted read transaction gives its slot in LMDB's table of readers back only when its object is freed. The
        traceback of an error keeps the frames that it passed through, with all their variables, until the garbage
        collector finds the cycle: 492 refused requests in a row once used up all slots. So no frame here keeps the
        object after the end, and where the slots are used up all the same, garbage is collected before giving up.
        """
        with self._counted():
            with translated_errors("opening a snapshot"):
                txn = self._begin_read()
            try:
                yield txn
            finally:
                txn.abort()
                del txn

    def _begin_read(self) -> lmdb.Transaction[bytes]:
        try:
            return self._env.begin()
        except lmdb.ReadersFullError:
            gc.collect()
            return self._env.begin()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a read for the block, so that the map is not moved. Raises Busy where a growth takes too long."""
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
        """The number of snapshots that are open now."""
        return self._open_reads

    def begin(self, parent: lmdb.Transaction[bytes] | None = None) -> lmdb.Transaction[bytes]:
        """Begin a write transaction, nested in `parent` where given. LMDB binds it to the calling thread."""
        return self._env.begin(write=True, parent=parent)

    def grow(self) -> None:
        """Double the map, by at most 16 GiB at once. Waits for open snapshots; raises Busy where they stay open."""
        with self._without_reads():
            size = int(self._env.info()["map_size"])
            if size >= _MAP_BYTES_MAX:
                raise StorageFailed("the store has reached its greatest size", hint="`reverie backup`, then prune")
            with MAPS_LOCK:
                self._env.set_mapsize(size + min(size, _GROWTH_BYTES_MAX))

    def copy_to(self, fd: int) -> None:
        """Write a compacted copy of all that is committed to an open file: without free pages, its pages full.

        LMDB's own compacted copy keeps the pages as they are, and those of records that were inserted between others
        are half empty. So the records are written in their order into a new file, which fills every page. That file
        is made beside the store, as LMDB writes to a path alone; one that a crash leaves there is removed at the next
        start.
        """
        draft = self._path / f"copied-{fd}.part"
        try:
            with self.read() as txn:
                _write_in_order(txn, draft, self._env)
            with draft.open("rb") as copied, os.fdopen(os.dup(fd), "wb") as target:
                shutil.copyfileobj(copied, target, _COPY_BYTES)
        finally:
            draft.unlink(missing_ok=True)

    def compact(self) -> int:
        """Replace the file by a copy that has the records and nothing else; return the bytes saved.

        The caller keeps writes away. Reads go on while the copy is made; the exchange of the two files waits for them
        as `grow` does. The copy is flushed before it is renamed over the file, and the folder after: whenever the
        process or the power ends, the name refers to a complete file, the old or the new one.
        """
        data, draft = self._path / "data.mdb", self._path / "compacted.part"
        before = data.stat().st_size
        try:
            with self._counted():
                self._write_compacted(draft)
            with self._without_reads(), MAPS_LOCK:
                map_bytes = int(self._env.info()["map_size"])
                self._env.close()
                try:
                    draft.rename(data)
                    sync_folder(self._path)
                finally:
                    self._env = _opened(self._path, map_bytes)
                    self.openings += 1
        except OSError as error:
            raise _copy_error(error, self._path) from error
        finally:
            draft.unlink(missing_ok=True)
        return before - data.stat().st_size

    def _write_compacted(self, draft: Path) -> None:
        """Write the compacted copy, in key order as `copy_to`, flushed, without the bytes that LMDB leaves in pages."""
        draft.unlink(missing_ok=True)
        txn = self._begin_read()
        try:
            _write_in_order(txn, draft, self._env)
        finally:
            txn.abort()
        fd = os.open(draft, os.O_RDWR | os.O_CLOEXEC)
        try:
            clear_unused_bytes(fd, int(self._env.stat()["psize"]))
            os.fsync(fd)
        finally:
            os.close(fd)

    def free_share(self) -> float:
        """Return the share of the file's pages that are free: 0 for none, up to 1."""
        with self.read() as txn:
            used = txn.stat()
            pages = used["branch_pages"] + used["leaf_pages"] + used["overflow_pages"]
        size = (self._path / "data.mdb").stat().st_size
        return max(0.0, 1 - (pages + _META_PAGES) * used["psize"] / size)

    def filled_share(self) -> float:
        """Return the share of the file that keys and values take up: 0 for none, up to 1."""
        with self.read() as txn, translated_errors("measuring the file"):
            stored = sum(len(key) + len(value) for key, value in txn.cursor())
        return stored / (self._path / "data.mdb").stat().st_size

    @contextmanager
    def _without_reads(self) -> Iterator[None]:
        """Wait until no snapshot is open and let none be opened. Raises Busy where one stays open for too long."""
        with self._gate:
            self._growing = True
            none_open = self._gate.wait_for(lambda: self._open_reads == 0, _GROW_WAIT_S)
        try:
            if not none_open:
                raise Busy("the store needs room and reads are still open", hint="try again", retryAfter=1)
            yield
        finally:
            with self._gate:
                self._growing = False
                self._gate.notify_all()

    def close(self) -> None:
        """Close the LMDB environment."""
        with MAPS_LOCK:
            self._env.close()


def _write_in_order(txn: lmdb.Transaction[bytes], draft: Path, source: lmdb.Environment) -> None:
    """Write every record of a snapshot into a new LMDB file, in the order of the keys.

    Both meta pages of the file refer to all of them, and it takes no more commits than `source` had, whose snapshot it
    is: it may take the place of a store that another process has open. The next commit then counts on from the last one
    of `source`, and has to be the newest of the file.
    """
    info = source.info()
    at_once = max(_COPY_RECORDS, -(-txn.stat()["entries"] // max(1, info["last_txnid"])))
    options = {**lmdb_options(int(info["map_size"])), "subdir": False, "sync": False, "lock": False}
    env = lmdb.open(str(draft), **options)  # type: ignore[arg-type]
    try:
        records = iter(txn.cursor())
        while batch := list(islice(records, at_once)):
            with env.begin(write=True) as target:
                target.cursor().putmulti(batch, append=True)
        page_bytes = int(env.stat()["psize"])
    finally:
        env.close()
    fd = os.open(draft, os.O_RDWR | os.O_CLOEXEC)
    try:
        repeat_meta_page(fd, page_bytes)
        os.fsync(fd)
    finally:
        os.close(fd)


def _opened(path: Path, map_bytes: int) -> lmdb.Environment:
    """Open the environment in a folder. Raises Damaged for a file that is not a store, StorageFailed."""
    try:
        opened = lmdb.open(str(path), **lmdb_options(map_bytes))  # type: ignore[arg-type]
    except (lmdb.InvalidError, lmdb.VersionMismatchError, lmdb.CorruptedError) as error:
        raise Damaged(
            f"{path / 'data.mdb'} is not a store that can be read: {error}", hint="`reverie restore` from a backup"
        ) from error
    except lmdb.MemoryError as error:
        # LMDB maps as much as the meta page says the file has. If a map of the file's real size is possible, it is the
        # meta page that is wrong.
        if not _fits_in_memory(max(map_bytes, (path / "data.mdb").stat().st_size)):
            raise StorageFailed(f"no room for a map of {map_bytes} bytes: {error}", hint="look at ulimit -v") from error
        raise Damaged(
            f"{path / 'data.mdb'} says that it ends where no map can", hint="`reverie restore` from a backup"
        ) from error
    except lmdb.Error as error:
        raise StorageFailed(f"cannot open the store in {path}: {error}", hint="look at the disk") from error
    _close_on_exec(path)
    return opened


def _copy_error(error: OSError, path: Path) -> ReverieError:
    """Return the error for a compaction that the file system refused; the store is as it was."""
    if error.errno in NO_ROOM or (error.errno == errno.EIO and _no_room(path)):
        return DiskFull(f"there is no room for a compacted copy: {error}", hint="free some space, then try again")
    return StorageFailed(f"the store cannot be compacted: {error}", hint="look at the disk, then `reverie compact`")


def _fits_in_memory(size: int) -> bool:
    """Return True if the process has addresses for a map of `size` bytes."""
    try:
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ).close()
    except OSError:
        return False
    return True


def _close_on_exec(path: Path) -> None:
    """Make every descriptor of the store close in child processes: LMDB leaves one without close-on-exec.

    A child would keep the file open, and its space allocated, for as long as it runs.
    """
    inodes = {file.stat().st_ino for file in (path / "data.mdb", path / "lock.mdb") if file.exists()}
    for descriptor in list(DESCRIPTORS.iterdir()) if DESCRIPTORS.is_dir() else []:
        with suppress(OSError):  # the listing's own descriptor is closed by now
            number = int(descriptor.name)
            if os.fstat(number).st_ino in inodes:
                os.set_inheritable(number, False)  # noqa: FBT003 - the call's own signature


@contextmanager
def translated_errors(action: str) -> Iterator[None]:
    """Run a read; raise LMDB's errors as Damaged, Busy or StorageFailed, naming the `action`."""
    try:
        yield
    except lmdb.Error as error:
        raise translated_error(error, action) from error


def translated_error(error: lmdb.Error, action: str) -> ReverieError:
    """Return the error of `reverie.errors` for one that LMDB raised during `action`."""
    if isinstance(error, _DAMAGE):
        return Damaged(f"the store is damaged, found when {action}: {error}", hint="run `reverie check`")
    if isinstance(error, lmdb.ReadersFullError):
        return Busy("too many reads are open at once", hint="try again in a moment", retryAfter=1)
    return StorageFailed(f"the store failed when {action}: {error}", hint="run `reverie check`")


def commit_error(error: lmdb.Error, path: Path) -> ReverieError:
    """Return the error for a commit that failed: DiskFull where there is no room, else StorageFailed or Damaged.

    LMDB reports a short write as an I/O error, so free space decides which it was. Any other failure may be an fsync
    that failed. After one, the kernel may have dropped the dirty pages and report the next fsync as a success, so no
    later commit of this process can be trusted.
    """
    number = _errno(error)
    hint = "free some space; what was not acknowledged was not written"
    if number in NO_ROOM or (number == errno.EIO and _no_room(path)):
        return DiskFull(f"there is no room for this write: {error}", hint=hint)
    if isinstance(error, (*_DAMAGE, lmdb.ReadersFullError)):
        return translated_error(error, "committing")
    return StorageFailed(
        f"the disk did not take a write: {error}", hint="look at the disk, then start again: the store is checked first"
    )


def _errno(error: lmdb.Error) -> int:
    """Return the errno of an LMDB error. LMDB sets the code where it raises; an error made elsewhere has none."""
    return errno.ENOSPC if isinstance(error, lmdb.DiskError) else int(getattr(error, "code", 0))


def _no_room(path: Path) -> bool:
    """Return True if the disk, or the process's limit of a file's size, has less than `_ROOM_BYTES` left."""
    disk = os.statvfs(path)
    if disk.f_bavail * disk.f_frsize < _ROOM_BYTES:
        return True
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (path / "data.mdb").stat().st_size
    return limit != resource.RLIM_INFINITY and size + _ROOM_BYTES > limit
