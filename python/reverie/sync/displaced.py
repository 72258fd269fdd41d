"""Displaced files in the swap folder: checked for late writes before they are removed, and recovered after a crash."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Self

from reverie import files, syscalls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reverie.sync.root import Root

SWAP_FOLDER: Final = ".reverie/swap"
READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
SAVE_BYTES_MAX: Final = 64 * 1024 * 1024
"""Bytes of a displaced file that are read to memory; documents are limited to far less."""
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY
_CHUNK_BYTES: Final = 1 << 20  # read at once: as many as a document has at most by default, so mostly one read
_NO_FILE: Final = "0" * 64
_UNWRITABLE: Final = frozenset({errno.EROFS, errno.EPERM, errno.EACCES, errno.ENOSPC, errno.EDQUOT})
"""Errors of a folder that is read-only or full for now: it is still read, and files left behind in it do no harm."""
# Hex digits of a path's SHA-256 in the name of a swapped file: 128 bits, by which no two paths of a folder are mixed
# up. Names have 179 bytes with them, and most file systems allow 255. `parse` knows a name by it, so with another
# number the files that a crash left behind would not be found.
_PATH_DIGITS: Final = 32


@dataclass(frozen=True, slots=True)
class SwapName:
    """The parsed name of a file in the swap folder: digests of its path, of our bytes, of the expected old bytes."""

    path_digest: str
    ours: str | None
    expected: str | None
    random: str

    @classmethod
    def create(cls, path: str, ours: str | None, expected: str | None) -> Self:
        """Return a new unique name of a file in the swap folder."""
        return cls(_path_digest(path), ours, expected, os.urandom(6).hex())

    @classmethod
    def parse(cls, name: str) -> Self | None:
        """Return the parts of an `out-...` name, or None for any other name."""
        parts = name.split("-")
        if len(parts) != 5 or parts[0] != "out" or [len(part) for part in parts[1:4]] != [_PATH_DIGITS, 64, 64]:
            return None
        ours, expected = (None if part == _NO_FILE else part for part in parts[2:4])
        return cls(parts[1], ours, expected, parts[4])

    def __str__(self) -> str:
        return f"out-{self.path_digest}-{self.ours or _NO_FILE}-{self.expected or _NO_FILE}-{self.random}"


@dataclass(slots=True)
class DisplacedFile:
    """A file that was replaced or removed, and that an editor which had opened it before may still write to.

    `path` is its document's, also where that has moved since. `expected` is the SHA-256 of what it held when that was
    known before, or is merged already; None: all of it is somebody's save.
    """

    root: Root
    path: str
    name: str
    expected: str | None
    settled: bool = False
    _stamp: tuple[int, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.root.displaced_names.add(self.name)

    def settle(self) -> bytes | None:
        """Check a displaced file after the grace time; return a late write's bytes, None without or while open.

        None with `settled`: there was none, and the file is removed. None without: it is still open for writing, cannot
        be removed for now, or was changed since the last call where the file system cannot tell; call again. Bytes stay
        on disk until `discard`, so that a crash before they are merged loses nothing.
        Raises StorageFailed, Forbidden.
        """
        try:
            with open_swap_folder(self.root) as folder:
                return self._check(folder)
        except OSError as error:
            raise files.translate_os_error("look at", self.root.real / SWAP_FOLDER / self.name, error) from error

    def discard(self) -> None:
        """Remove the file from the swap folder once its bytes are stored elsewhere. Raises StorageFailed, Forbidden."""
        try:
            with open_swap_folder(self.root) as folder:
                self._unlink(folder)
        except OSError as error:
            raise files.translate_os_error("remove", self.root.real / SWAP_FOLDER / self.name, error) from error

    def _check(self, folder: int) -> bytes | None:
        """Return the bytes of a late write, or None; removes a file that has the expected bytes."""
        try:
            handle = os.open(self.name, READ_FLAGS, dir_fd=folder)
        except OSError:
            # It is no plain file, or gone: then there is no text in it, and `recover` reports what is left.
            self._release()
            return None
        try:
            if not _is_quiet(handle, self._stamp):
                self._stamp = _stamp(handle)
                return None
            data = read_all(handle)
        finally:
            files.close_quietly(handle)
        if data is None:
            self._release()
        elif sha256(data).hexdigest() == self.expected:
            with _unless_unwritable():
                self._unlink(folder)
        else:
            return data
        return None

    def _unlink(self, folder: int) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=folder)
        self._release()

    def _release(self) -> None:
        self.settled = True
        self.root.displaced_names.discard(self.name)


@dataclass(frozen=True, slots=True)
class OrphanedSave:
    """A save that a crash left in the swap folder. `path` is None if its document is not known.

    `data` is None where it cannot be merged (no regular file, or longer than 64 MiB); it then stays where it is. It is
    None too while somebody still has the file of a known document open for writing: `displaced` is to be settled.
    """

    root: Root
    path: str | None
    name: str
    data: bytes | None
    displaced: DisplacedFile | None = None

    def discard(self) -> None:
        """Remove the file from the swap folder once its bytes are stored elsewhere. Raises StorageFailed, Forbidden."""
        DisplacedFile(self.root, self.path or "", self.name, None).discard()


def recover(root: Root, known_paths: Iterable[str]) -> list[OrphanedSave]:
    """Clear the swap folder after a crash: remove our own bytes, and return the saves that are nowhere else.

    Displaced files that this process still supervises are left
    alone, and so is a file that somebody is writing to; that of a known document is supervised from now on. Nothing
    may be written or removed meanwhile. `known_paths` are all documents that the store knows. Raises StorageFailed,
    Forbidden.
    """
    try:
        with open_swap_folder(root) as folder:
            names = sorted(set(os.listdir(folder)) - root.displaced_names)  # noqa: PTH208 - a handle, no path
            paths = {_path_digest(path): path for path in known_paths} if names else {}
            return [orphan for name in names if (orphan := _recover_file(root, folder, name, paths)) is not None]
    except OSError as error:
        raise files.translate_os_error("clear", root.real / SWAP_FOLDER, error) from error


def _recover_file(root: Root, folder: int, name: str, paths: dict[str, str]) -> OrphanedSave | None:
    """Remove or return one file of the swap folder; `paths` are the known documents by path digest."""
    if name.startswith("new-"):  # a draft of ours, perhaps incomplete, that never was anywhere else
        with _unless_unwritable():
            os.unlink(name, dir_fd=folder)
        return None
    swap_name = SwapName.parse(name)
    path = paths.get(swap_name.path_digest) if swap_name is not None else None
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        return OrphanedSave(root, path, name, None)
    handle = os.open(name, READ_FLAGS, dir_fd=folder)
    try:
        if syscalls.is_open_for_writing(handle):
            if path is None:
                return None
            return OrphanedSave(root, path, name, None, DisplacedFile(root, path, name, None))
        data = read_all(handle)
    finally:
        files.close_quietly(handle)
    if data is not None and swap_name is not None and _has_nothing_new(data, swap_name):
        with _unless_unwritable():
            os.unlink(name, dir_fd=folder)
        return None
    return OrphanedSave(root, path, name, data)


def _has_nothing_new(data: bytes, swap_name: SwapName) -> bool:
    """Return True if a file holds our bytes or the expected ones: no save would be lost with it."""
    # An empty file holds no word; that somebody meant to empty it cannot be known of a crash.
    return not data or sha256(data).hexdigest() in {swap_name.ours, swap_name.expected}


@contextmanager
def _unless_unwritable() -> Iterator[None]:
    """Suppress the OSErrors of a folder that is full or read-only."""
    try:
        yield
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise


@contextmanager
def open_swap_folder(root: Root) -> Iterator[int]:
    """Yield an open handle of the root's swap folder, which is made if it is missing. Raises Conflict, OSError."""
    try:
        handle = root.open_below(SWAP_FOLDER, _FOLDER_FLAGS)
    except FileNotFoundError:
        root.verify()
        with root.folder_of(f"{SWAP_FOLDER}/x", create=True):
            handle = root.open_below(SWAP_FOLDER, _FOLDER_FLAGS)
    try:
        yield handle
    finally:
        files.close_quietly(handle)


def digest_of(handle: int) -> str | None:
    """Return the SHA-256 of an open file from its start, or None if it is no regular file. Raises OSError."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        return None
    digest, at = sha256(), 0
    while chunk := os.pread(handle, _CHUNK_BYTES, at):
        digest.update(chunk)
        at += len(chunk)
    return digest.hexdigest()


def digest_at(folder: int, name: str) -> str | None:
    """Return the SHA-256 of a file by its name in an open folder, or None if none can be opened for reading."""
    try:
        handle = os.open(name, READ_FLAGS, dir_fd=folder)
    except OSError:
        return None
    try:
        return digest_of(handle)
    finally:
        files.close_quietly(handle)


def _path_digest(path: str) -> str:
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:_PATH_DIGITS]


def _is_quiet(handle: int, stamp: tuple[int, ...] | None) -> bool:
    """Return True if no process has the file open for writing; where the system cannot tell, if `stamp` still fits."""
    writing = syscalls.is_open_for_writing(handle)
    return stamp == _stamp(handle) if writing is None else not writing


def _stamp(handle: int) -> tuple[int, ...]:
    status = os.fstat(handle)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def read_all(handle: int) -> bytes | None:
    """Return all bytes of an open file; None for no regular file, or more than 64 MiB. Raises OSError."""
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode) or status.st_size > SAVE_BYTES_MAX:
        return None
    chunks: list[bytes] = []
    at = 0
    while chunk := os.pread(handle, _CHUNK_BYTES, at):
        chunks.append(chunk)
        at += len(chunk)
    return b"".join(chunks)
