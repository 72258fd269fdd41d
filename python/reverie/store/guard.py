"""The folder of a store: its lock file, the rollback guard, and flushing of names.

The lock (`store.lock`) lets one process at a time open the store, and is taken before anything else is opened.

The rollback guard (`anchor`) is a small file with the number of commits. It is written after every commit without a
flush of its own (a killed process loses nothing of it), and flushed when the store is opened and closed. Since it
follows the flush of the commit, it is never ahead of what was acknowledged: a store behind its guard has lost commits.
"""

from __future__ import annotations

import fcntl
import os
import struct
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Self

import orjson

from reverie.errors import Conflict
from reverie.private_folder import make_private

if TYPE_CHECKING:
    from pathlib import Path

DRAFT = "restoring"
"""The folder in a store's folder where a restore makes the new store ready."""

_GUARD = "anchor"
_GUARD_BYTES = 256  # fixed, and less than a disk sector: one write replaces all of the one before
_LOCK = "store.lock"

# LMDB's meta page (`struct MDB_meta` of lmdb's mdb.c), which is in the first two pages by turns: the number and the
# version of the format at byte 16 of the page, the page size at byte 40, the last page in use and the number of the
# transaction at byte 136.
_META_BYTES = 152
_META_MAGIC = struct.Struct("<II")
_META_MAGIC_AT = 16
_META_PAGE_SIZE = struct.Struct("<I")
_META_PAGE_SIZE_AT = 40
_META_FLAGS = struct.Struct("<H")
_FREE_FLAGS_AT, _MAIN_FLAGS_AT = 44, 92  # of the databases of free pages and of records, 48 bytes each from byte 40 on
_INTEGER_KEYS = 0x08  # MDB_INTEGERKEY
_DATABASE_FLAGS = 0x7E  # MDB_REVERSEKEY to MDB_REVERSEDUP; the other bits are those the file was opened with
_META_END = struct.Struct("<QQ")
_META_END_AT = 136
_LMDB_MAGIC = (0xBEEFC0DE, 1)
_PAGE_SIZES = frozenset(1 << power for power in range(9, 17))  # bytes; what LMDB accepts, 512 to 65,536


def remove_draft(store: Path) -> None:
    """Remove what a restore that was killed left in the folder of a store; its lock must be held."""
    draft = store / DRAFT
    if draft.is_dir():
        for file in draft.iterdir():
            file.unlink()
        draft.rmdir()


class StoreLock:
    """The exclusive lock of a store, from `take` to `release` or to the end of the process, however it ends."""

    def __init__(self, fd: int, path: Path) -> None:
        self._fd: int | None = fd
        self.path = path

    @classmethod
    def take(cls, store: Path) -> Self:
        """Lock the store in the folder `store`, which is made (mode 0700) where it is missing.

        Raises Conflict naming the process that has the lock, be it this one.
        """
        make_private(store)
        store.chmod(0o700)
        path = store / _LOCK
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            pid = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
            os.close(fd)
            raise Conflict(
                f"the store in {store} is in use by process {pid or 'unknown'}",
                hint=f"stop it first: `reverie down`, or `kill {pid}`" if pid else "try again in a moment",
                pid=int(pid) if pid.isdigit() else None,
            ) from error
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        return cls(fd, path)

    @staticmethod
    def is_held(store: Path) -> bool:
        """Return True if some process has the store open now."""
        path = store / _LOCK
        if not path.exists():
            return False
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # flock needs no right to write, and the folder may be read-only
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False

    def release(self) -> None:
        """Unlock. The file stays: if it were removed, two openers could lock two files of one name."""
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


@dataclass(frozen=True, slots=True)
class RollbackGuard:
    """The rollback guard's values: number of commits, checksum of the header, and True if the store was closed."""

    commits: int
    header: str  # checksum in hex
    closed: bool

    def to_bytes(self) -> bytes:
        """Return one padded line of JSON, then its checksum."""
        line = orjson.dumps({"commits": self.commits, "header": self.header, "closed": self.closed})
        line = line.ljust(_GUARD_BYTES - 17)
        return line + sha256(line).hexdigest()[:16].encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes) -> Self | None:
        """Return the guard in a file's bytes, or None where the checksum does not fit."""
        line, checksum = data[: _GUARD_BYTES - 17], data[_GUARD_BYTES - 17 : -1]
        if len(data) != _GUARD_BYTES or sha256(line).hexdigest()[:16].encode() != checksum:
            return None
        value = orjson.loads(line)
        return cls(value["commits"], value["header"], value["closed"])


class RollbackGuardFile:
    """The open file of an open store's rollback guard."""

    def __init__(self, store: Path) -> None:
        self._fd = os.open(store / _GUARD, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @staticmethod
    def read(store: Path) -> RollbackGuard | None:
        """Return the guard of the store in the folder `store`, or None where it is missing or damaged."""
        path = store / _GUARD
        return RollbackGuard.from_bytes(path.read_bytes()) if path.exists() else None

    def write(self, guard: RollbackGuard, *, flush: bool = False) -> None:
        """Overwrite the guard in its file; with `flush` wait until it is on disk and outlasts a loss of power."""
        os.pwrite(self._fd, guard.to_bytes(), 0)
        if flush:
            os.fsync(self._fd)

    def close(self) -> None:
        """Close the open file of the rollback guard."""
        os.close(self._fd)


def needs_check(store: Path, *, locked: bool = False) -> bool:
    """Return True if the store in the folder `store` must be checked before opening: not closed properly, or truncated.

    False for a store that does not exist yet, and for one that a living process has open. `locked`: the caller itself
    has the lock already.
    """
    data = store / "data.mdb"
    if not data.exists() or (not locked and StoreLock.is_held(store)):
        return False
    guard = RollbackGuardFile.read(store)
    return guard is None or not guard.closed or truncated_at(data) is not None or bool(wrong_flags(data))


def truncated_at(data: Path) -> tuple[int, int] | None:
    """Return the size of a truncated LMDB file and the size that its newest meta page needs; None if it is not shorter.

    Reading a page beyond the end of the file ends the process with SIGBUS. A file may be shorter and sound, though:
    LMDB does not write pages that one transaction took at the end and gave back. So this is a reason to check the file,
    not a finding. None for a file that is not LMDB's, which opening it refuses.
    """
    size = data.stat().st_size
    page_size, metas = _meta_pages(data)
    if not metas:
        return None
    _, last_page = max(_META_END.unpack_from(page, _META_END_AT)[::-1] for page in metas)
    needed = (last_page + 1) * page_size
    return (size, needed) if size < needed else None


def wrong_flags(data: Path) -> list[str]:
    """Return the error in the flags of the two databases that the meta pages of an LMDB file describe.

    With another flag LMDB takes its list of free pages for something else, and the process ends at the next write.
    """
    _, metas = _meta_pages(data)
    messages = []
    for number, page in enumerate(metas):
        for name, at, flags in (("free pages", _FREE_FLAGS_AT, _INTEGER_KEYS), ("records", _MAIN_FLAGS_AT, 0)):
            (actual,) = _META_FLAGS.unpack_from(page, at)
            if actual & _DATABASE_FLAGS != flags:
                messages.append(f"meta page {number} has the flags {actual:#x} for the {name}, and not {flags:#x}")
    return messages


def _meta_pages(data: Path) -> tuple[int, list[bytes]]:
    """Return the page size of an LMDB file and the first bytes of its meta pages; none of a file that is no LMDB's."""
    with data.open("rb") as file:
        first = file.read(_META_BYTES)
        if len(first) < _META_BYTES:
            return 0, []
        (page_size,) = _META_PAGE_SIZE.unpack_from(first, _META_PAGE_SIZE_AT)
        if page_size not in _PAGE_SIZES:
            return 0, []
        file.seek(page_size)
        return page_size, [page for page in (first, file.read(_META_BYTES)) if _is_meta(page)]


def _is_meta(page: bytes) -> bool:
    return len(page) == _META_BYTES and _META_MAGIC.unpack_from(page, _META_MAGIC_AT) == _LMDB_MAGIC


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder, so that they outlast a loss of power; LMDB does not do so for its own file."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
