"""Writes files so that a reader, a crash or a power cut meets the old bytes or the new ones, never a mixture."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING

from reverie.errors import DiskFull, Forbidden, NotFound, ReverieError, StorageFailed, TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path, PurePosixPath

__all__ = [
    "TEMPORARY",
    "close_quietly",
    "make_private",
    "read_beneath",
    "replace",
    "translate_os_error",
    "write_all",
    "write_atomic",
    "write_beneath",
]

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CHUNK_BYTES = 1 << 20
TEMPORARY = ".reverie-tmp-"


def write_atomic(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replaces the file at `path` by `data`; it is durable when this returns.

    The bytes are written to a temporary file beside it, flushed, renamed over it, and the folder is flushed too.
    The folder must exist. Raises DiskFull when there is no room and StorageFailed on any other trouble; in both cases
    the old file is as it was and no temporary file is left.
    """
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            replace(folder, path.name, data, mode)
        finally:
            os.close(folder)
    except OSError as error:
        raise translate_os_error("write", path, error) from error


def write_beneath(root: Path, relative: PurePosixPath, data: bytes, mode: int = 0o600) -> None:
    """`write_atomic` of `relative` inside `root`, never following a symbolic link below it.

    Missing folders are made with mode 0700. Raises Forbidden when a folder on the way is a link or a file, and what
    `write_atomic` raises.
    """
    with _folder(root, relative, create=True) as folder:
        replace(folder, relative.name, data, mode)


def read_beneath(root: Path, relative: PurePosixPath, limit: int) -> bytes | None:
    """The bytes of `relative` inside `root`, or None when it is not there; never through a symbolic link below it.

    Raises Forbidden when it or a folder on the way is a link, TooLarge above `limit` bytes.
    """
    try:
        with _folder(root, relative, create=False) as folder:
            handle = os.open(relative.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
            try:
                return _read(handle, root / relative, limit)
            finally:
                os.close(handle)
    except NotFound:
        return None


def make_private(folder: Path, uid: int) -> None:
    """Makes `folder` with its parents, readable by `uid` alone, and insists that it is so when it was there before.

    Raises Forbidden when it is a link, no folder, or another user's; a folder of ours with a wider mode is narrowed.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid:
            raise Forbidden(f"{folder} is not a folder of user {uid}", hint="remove it, or name another place")
        if stat.S_IMODE(found.st_mode) != 0o700:
            folder.chmod(0o700)
    except OSError as error:
        raise translate_os_error("make", folder, error) from error


def replace(folder: int, name: str, data: bytes, mode: int) -> None:
    """`write_atomic` of a name in an open folder. Raises OSError."""
    temporary = f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temporary, flags, mode, dir_fd=folder)
    try:
        try:
            os.fchmod(handle, mode)
            write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        # Whatever stopped us, the half-written copy must not stay; that it is already gone is no second failure.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
    os.fsync(folder)


def close_quietly(handle: int) -> None:
    """Closes a handle whose bytes were read, or are flushed: that closing fails then says nothing about them."""
    with contextlib.suppress(OSError):
        os.close(handle)


def write_all(handle: int, data: bytes) -> None:
    """Writes all of `data`, however few bytes the system takes at once. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _read(handle: int, path: Path, limit: int) -> bytes:
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        raise StorageFailed(f"{path} is not a regular file", hint="move it away, or name another file")
    parts: list[bytes] = []
    size = 0
    while part := os.read(handle, min(_CHUNK_BYTES, limit + 1 - size)):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise TooLarge(f"{path} is longer than {limit} bytes", hint="split it, or raise the limit", limit=limit)
    return b"".join(parts)


@contextlib.contextmanager
def _folder(root: Path, relative: PurePosixPath, *, create: bool) -> Iterator[int]:
    """A handle of the folder that holds `relative`, reached one step at a time so that no link is followed."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    handle = -1
    try:
        handle = os.open(root, flags)
        for step in relative.parent.parts:
            handle = _descend(handle, step, flags | os.O_NOFOLLOW, create=create)
        yield handle
    except OSError as error:
        raise translate_os_error("reach", root / relative, error) from error
    finally:
        if handle >= 0:
            os.close(handle)


def _descend(folder: int, step: str, flags: int, *, create: bool) -> int:
    """The handle of `step` inside `folder`; closes `folder` once the deeper one is open."""
    if create:
        with contextlib.suppress(FileExistsError):
            os.mkdir(step, 0o700, dir_fd=folder)
            os.fsync(folder)
    deeper = os.open(step, flags, dir_fd=folder)
    os.close(folder)
    return deeper


def translate_os_error(verb: str, path: Path, error: OSError) -> ReverieError:
    """What an operating system error means to a caller who wanted to `verb` the file at `path`; the cause is named."""
    why = os.strerror(error.errno) if error.errno is not None else str(error)
    said = f"cannot {verb} {path}: {why}"
    match error.errno:
        case number if number in _NO_ROOM:
            return DiskFull(f"no room to {verb} {path}: {why}", hint="free some space; the next write works then")
        case errno.ENOENT:
            return NotFound(said, hint="look at the path; a parent folder may be missing")
        case errno.EPERM:
            return Forbidden(said, hint="look at its owner and mode; `lsattr` shows whether it is immutable")
        case errno.ELOOP | errno.ENOTDIR | errno.EACCES:
            return Forbidden(said, hint="look at its owner, mode and links")
        case errno.EXDEV | errno.EBUSY:
            return Forbidden(said, hint="another file system is mounted there; put the files into the folder itself")
        case errno.EISDIR | errno.ENXIO:
            return Forbidden(said, hint="it is no regular file; move it away")
        case errno.EROFS:
            return StorageFailed(said, hint="the file system is mounted read-only; remount it for writing")
        case _:
            return StorageFailed(said, hint="look at the disk and the folder's mount")
