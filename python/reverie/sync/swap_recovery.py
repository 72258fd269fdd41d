"""Files that were taken out of a person's folder: looked at once more before they go, and found again after a crash."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Self

from reverie import files, kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reverie.sync.root import Root

__all__ = ["READ", "SWAP", "Displaced", "Left", "SwapName", "digest_at", "digest_of", "recover", "swap_folder", "whole"]

SWAP: Final = ".reverie/swap"
READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
LEFT_BYTES_MAX: Final = 64 * 1024 * 1024
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY
_CHUNK_BYTES: Final = 1 << 20
_NOTHING: Final = "0" * 64
_PATH_DIGITS: Final = 32


@dataclass(frozen=True, slots=True)
class SwapName:
    """What the name of a file in the swap folder says: SHA-256 of the path, of our bytes, of those expected to come."""

    path: str
    ours: str | None
    expected: str | None
    chance: str

    @classmethod
    def of(cls, path: str, ours: str | None, expected: str | None) -> Self:
        """A name that no other file has."""
        return cls(_told(path), ours, expected, os.urandom(6).hex())

    @classmethod
    def read(cls, name: str) -> Self | None:
        """What `out-...` says; None for any other name."""
        parts = name.split("-")
        if len(parts) != 5 or parts[0] != "out" or [len(part) for part in parts[1:4]] != [_PATH_DIGITS, 64, 64]:
            return None
        ours, expected = (None if part == _NOTHING else part for part in parts[2:4])
        return cls(parts[1], ours, expected, parts[4])

    def __str__(self) -> str:
        return f"out-{self.path}-{self.ours or _NOTHING}-{self.expected or _NOTHING}-{self.chance}"


@dataclass(slots=True)
class Displaced:
    """A file that was taken out, and that somebody who had opened it before may still write to.

    `expected` is the SHA-256 of what it held when that was known before; None: all of it is somebody's save. `writing`:
    somebody was in the middle of a save when it came out, so it is worth asking soon.
    """

    root: Root
    path: str
    name: str
    expected: str | None
    settled: bool = False
    writing: bool = False
    _stamp: tuple[int, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.root.held.add(self.name)

    def settle(self) -> bytes | None:
        """Looks again, after a grace time: the bytes of a save that is not in the folder, once nobody writes any more.

        None with `settled`: there is none, and the file is gone. None without: it is still open for writing, or was
        changed since the last call where the file system cannot tell; ask again. Bytes stay on disk until `discard`,
        so that a crash before they are merged loses nothing.
        Raises StorageFailed, Forbidden.
        """
        try:
            with swap_folder(self.root) as folder:
                return self._look(folder)
        except OSError as error:
            raise files.failure("look at", self.root.real / SWAP / self.name, error) from error

    def discard(self) -> None:
        """Removes it: to be called when its bytes are safe elsewhere. Raises StorageFailed, Forbidden."""
        try:
            with swap_folder(self.root) as folder:
                self._drop(folder)
        except OSError as error:
            raise files.failure("remove", self.root.real / SWAP / self.name, error) from error

    def _look(self, folder: int) -> bytes | None:
        try:
            handle = os.open(self.name, READ, dir_fd=folder)
        except OSError:
            # It is no plain file, or gone: then there are no words in it, and `recover` reports what is left.
            self._let_go()
            return None
        try:
            if not _is_quiet(handle, self._stamp):
                self._stamp = _stamp(handle)
                return None
            data = whole(handle)
        finally:
            files.release(handle)
        if data is None:
            self._let_go()
        elif sha256(data).hexdigest() == self.expected:
            self._drop(folder)
        else:
            return data
        return None

    def _drop(self, folder: int) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=folder)
        self._let_go()

    def _let_go(self) -> None:
        self.settled = True
        self.root.held.discard(self.name)


@dataclass(frozen=True, slots=True)
class Left:
    """Somebody's save that a crash left in the swap folder. `path` is None for a document that is not known.

    `data` is None where it cannot be merged (no regular file, or longer than 64 MiB); it then stays where it is. It is
    None too while somebody still has the file of a known document open for writing: `displaced` is to be asked again.
    """

    root: Root
    path: str | None
    name: str
    data: bytes | None
    displaced: Displaced | None = None

    def discard(self) -> None:
        """Removes it: to be called when its bytes are safe elsewhere. Raises StorageFailed, Forbidden."""
        Displaced(self.root, self.path or "", self.name, None).discard()


def recover(root: Root, known_paths: Iterable[str]) -> list[Left]:
    """Clears the swap folder after a crash: what is ours goes, saves that are nowhere else are returned.

    A save whose document is not in the folder goes back to its place. What this process still looks after is left
    alone, and so is a file that somebody is writing to; that of a known document is looked after from now on. Nothing
    may be put or taken meanwhile. `known_paths` are all documents that the store knows. Raises StorageFailed,
    Forbidden.
    """
    try:
        with swap_folder(root) as folder:
            names = sorted(set(os.listdir(folder)) - root.held)  # noqa: PTH208 - a handle, no path
            paths = {_told(path): path for path in known_paths} if names else {}
            return [left for name in names if (left := _recovered(root, folder, name, paths)) is not None]
    except OSError as error:
        raise files.failure("clear", root.real / SWAP, error) from error


def _recovered(root: Root, folder: int, name: str, paths: dict[str, str]) -> Left | None:
    if name.startswith("new-"):
        os.unlink(name, dir_fd=folder)
        return None
    said = SwapName.read(name)
    path = paths.get(said.path) if said is not None else None
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        return Left(root, path, name, None)
    handle = os.open(name, READ, dir_fd=folder)
    try:
        if kernel.is_open_for_writing(handle):
            return None if path is None else Left(root, path, name, None, Displaced(root, path, name, None))
        data = whole(handle)
    finally:
        files.release(handle)
    if data is not None and said is not None and _is_nothing_new(data, said):
        os.unlink(name, dir_fd=folder)
        return None
    if path is not None and _put_back(root, folder, name, path):
        return None
    return Left(root, path, name, data)


def _is_nothing_new(data: bytes, said: SwapName) -> bool:
    # An empty file holds no word; that somebody meant to empty it cannot be known of a crash.
    return not data or sha256(data).hexdigest() in {said.ours, said.expected}


def _put_back(root: Root, swap: int, name: str, path: str) -> bool:
    try:
        with root.folder_of(path) as (folder, last):
            kernel.rename_new(name, swap, last, folder)
            os.fsync(folder)
    except (FileExistsError, FileNotFoundError, NotADirectoryError, kernel.Unsupported):
        return False
    return True


@contextmanager
def swap_folder(root: Root) -> Iterator[int]:
    """An open handle of the root's swap folder, which is made where it is missing. Raises Conflict, OSError."""
    try:
        handle = root.open_below(SWAP, _FOLDER)
    except FileNotFoundError:
        root.verify()
        with root.folder_of(f"{SWAP}/x", create=True):
            handle = root.open_below(SWAP, _FOLDER)
    try:
        yield handle
    finally:
        files.release(handle)


def digest_of(handle: int) -> str | None:
    """The SHA-256 of an open file from its start; None where it is no regular file. Raises OSError."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        return None
    digest, at = sha256(), 0
    while part := os.pread(handle, _CHUNK_BYTES, at):
        digest.update(part)
        at += len(part)
    return digest.hexdigest()


def digest_at(folder: int, name: str) -> str | None:
    """`digest_of` a name in an open folder; None where nothing is, or nothing that can be opened for reading."""
    try:
        handle = os.open(name, READ, dir_fd=folder)
    except OSError:
        return None
    try:
        return digest_of(handle)
    finally:
        files.release(handle)


def _told(path: str) -> str:
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:_PATH_DIGITS]


def _is_quiet(handle: int, stamp: tuple[int, ...] | None) -> bool:
    writing = kernel.is_open_for_writing(handle)
    return stamp == _stamp(handle) if writing is None else not writing


def _stamp(handle: int) -> tuple[int, ...]:
    found = os.fstat(handle)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def whole(handle: int) -> bytes | None:
    """All bytes of an open file; None where it is no regular file, or longer than 64 MiB. Raises OSError."""
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode) or found.st_size > LEFT_BYTES_MAX:
        return None
    parts: list[bytes] = []
    at = 0
    while part := os.pread(handle, _CHUNK_BYTES, at):
        parts.append(part)
        at += len(part)
    return b"".join(parts)
