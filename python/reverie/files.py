"""Atomic, durable file writes, and file access that never follows symbolic links below a root folder."""

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

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CHUNK_BYTES = 1 << 20  # read at once; a file is at most a few of these
TEMPORARY = ".reverie-tmp-"
"""Prefix of temporary files beside the file to be replaced; a scan ignores them."""


def write_atomic(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace the file at `path` atomically and durably (temporary file, fsync, rename, fsync of the folder).

    A reader, a crash or a power cut sees the old bytes or the new ones, never a mixture. The folder must exist. Raises
    DiskFull without space and StorageFailed on any other error; the old file is then unchanged and no temporary file
    is left.
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
    """Write `relative` inside `root` as `write_atomic` does, without following a symbolic link below the root.

    Missing folders are created with mode 0700. Raises Forbidden if a folder on the way is a link or a file, and what
    `write_atomic` raises.
    """
    with _folder(root, relative, create=True) as folder:
        replace(folder, relative.name, data, mode)


def read_beneath(root: Path, relative: PurePosixPath, limit: int) -> bytes | None:
    """Read `relative` inside `root` (None if absent), without following a symbolic link below the root.

    Raises Forbidden if it or a folder on the way is a link, TooLarge above `limit` bytes, StorageFailed if it is no
    regular file or cannot be read.
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


def replace(folder: int, name: str, data: bytes, mode: int) -> None:
    """Replace a file in an open folder as `write_atomic` does. Raises OSError."""
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
        # After any failure, KeyboardInterrupt included, the temporary file must not stay; that the rename has already
        # consumed it is no second error.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
    os.fsync(folder)


def close_quietly(handle: int) -> None:
    """Close a handle whose data was read or flushed, ignoring errors, which cannot concern that data any more."""
    with contextlib.suppress(OSError):
        os.close(handle)


def write_all(handle: int, data: bytes) -> None:
    """Write all of `data`, continuing after short writes. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _read(handle: int, path: Path, limit: int) -> bytes:
    """Read an open regular file. Raises TooLarge above `limit` bytes, StorageFailed for other kinds, OSError."""
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
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
    """Yield the open parent folder of `relative`, opened segment by segment so that no symbolic link is followed."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    handle = -1
    try:
        handle = os.open(root, flags)
        for segment in relative.parent.parts:
            handle = _descend(handle, segment, flags | os.O_NOFOLLOW, create=create)
        yield handle
    except OSError as error:
        raise translate_os_error("reach", root / relative, error) from error
    finally:
        if handle >= 0:
            os.close(handle)


def _descend(folder: int, segment: str, flags: int, *, create: bool) -> int:
    """Return a handle of the folder `segment` inside `folder`, and close `folder`."""
    if create:
        with contextlib.suppress(FileExistsError):
            os.mkdir(segment, 0o700, dir_fd=folder)
            os.fsync(folder)
    deeper = os.open(segment, flags, dir_fd=folder)
    os.close(folder)
    return deeper


def translate_os_error(verb: str, path: Path, error: OSError) -> ReverieError:
    """Return the Reverie error for an OSError while trying to `verb` the file at `path`, with its cause and a hint."""
    cause = os.strerror(error.errno) if error.errno is not None else str(error)
    message = f"cannot {verb} {path}: {cause}"
    match error.errno:
        case number if number in _NO_SPACE:
            return DiskFull(f"no room to {verb} {path}: {cause}", hint="free some space; the next write works then")
        case errno.ENOENT:
            return NotFound(message, hint="look at the path; a parent folder may be missing")
        case errno.EPERM:
            return Forbidden(message, hint="look at its owner and mode; `lsattr` shows whether it is immutable")
        case errno.ELOOP | errno.ENOTDIR | errno.EACCES:
            return Forbidden(message, hint="look at its owner, mode and links")
        case errno.EXDEV | errno.EBUSY:
            return Forbidden(message, hint="another file system is mounted there; put the files into the folder itself")
        case errno.EISDIR | errno.ENXIO:
            return Forbidden(message, hint="it is no regular file; move it away")
        case errno.EROFS:
            hint = "the file system is mounted read-only; remount it for writing"
            return StorageFailed(message, hint=hint, reason="read_only")
        case _:
            return StorageFailed(message, hint="look at the disk and the folder's mount")
