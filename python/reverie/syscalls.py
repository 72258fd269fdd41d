"""Linux system calls that Python lacks: renameat2 (exchange two files, rename without replacing), openat2, read leases.

Every call raises OSError as `os` does, and `Unsupported` if the kernel or the file system lacks it.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import stat
from functools import lru_cache
from typing import Final

_RENAME_NOREPLACE: Final = 1
_RENAME_EXCHANGE: Final = 2
_OPENAT2: Final = 437  # system call number, the same on every architecture
_RESOLVE: Final = 0x01 | 0x04 | 0x08  # RESOLVE_NO_XDEV, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH
_UNSUPPORTED_ERRORS: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ATTEMPTS_MAX: Final = 64  # of openat2 while renames elsewhere make it return EAGAIN


class Unsupported(OSError):
    """The kernel or the file system does not support the call; nothing was changed."""


class _OpenHow(ctypes.Structure):
    """The kernel's `struct open_how`."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def exchange(first: str, first_folder: int, second: str, second_folder: int) -> None:
    """Exchange two existing names, each in an open folder, atomically. Raises OSError, Unsupported."""
    _rename(first, first_folder, second, second_folder, _RENAME_EXCHANGE)


def rename_new(name: str, folder: int, new: str, new_folder: int) -> None:
    """Rename without replacing; raise FileExistsError if the new name exists. Raises OSError, Unsupported."""
    _rename(name, folder, new, new_folder, _RENAME_NOREPLACE)


def open_beneath(folder: int, path: str, flags: int) -> int:
    """Open `path` below an open folder without following links or crossing mounts; the caller closes the handle.

    `path` is relative and has no `.` or `..`. Without openat2 the segments are opened one by one, which detects
    another file system but not a second mount of the same one.
    Raises OSError: ELOOP at a link, EXDEV at another mount, and what `os.open` raises.
    """
    if _has_openat2():
        return _openat2(folder, path, flags | os.O_CLOEXEC)
    return _open_by_segments(folder, path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)


def is_open_for_writing(handle: int) -> bool | None:
    """Return whether any process has the file open or mapped for writing; `handle` itself must be read-only.

    None if the file system does not support leases, or the file is another user's. The kernel grants a read lease only
    on a file that no process has open for writing; the lease is released at once.
    """
    try:
        # If another process opens the file during the lease, the kernel sends this signal, which is ignored by default.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    """Return the C library, with the argument types of `syscall`."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    library.syscall.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    return library


def _encode(name: str) -> bytes:
    """Return a file name as bytes. Raises ValueError for a null byte."""
    encoded = os.fsencode(name)
    if b"\0" in encoded:  # the kernel would stop there and open another file
        raise ValueError("embedded null byte")
    return encoded


def _rename(name: str, folder: int, new: str, new_folder: int, flags: int) -> None:
    """Call renameat2."""
    call = getattr(_library(), "renameat2", None)
    if call is None:
        raise Unsupported(errno.ENOSYS, os.strerror(errno.ENOSYS), new)
    if call(folder, _encode(name), new_folder, _encode(new), ctypes.c_uint(flags)) != 0:
        raise _error(ctypes.get_errno(), new)


def _error(number: int, path: str) -> OSError:
    """Return the exception for an errno."""
    # OSError chooses its subclass by the number, such as FileExistsError.
    return (Unsupported if number in _UNSUPPORTED_ERRORS else OSError)(number, os.strerror(number), path)


@lru_cache(maxsize=16)
def _how(flags: int) -> _OpenHow:
    """Return the `open_how` of these flags."""
    return _OpenHow(flags, 0, _RESOLVE)


def _openat2(folder: int, path: str, flags: int) -> int:
    """Call openat2, repeating it while it is interrupted."""
    how = _how(flags)
    name = _encode(path)
    number = errno.EAGAIN
    for _ in range(_ATTEMPTS_MAX):
        handle = _library().syscall(_OPENAT2, folder, name, ctypes.byref(how), ctypes.sizeof(how))
        if handle >= 0:
            return int(handle)
        # A rename or mount anywhere on the system may race with the path resolution; the kernel then returns EAGAIN.
        number = ctypes.get_errno()
        if number not in {errno.EAGAIN, errno.EINTR}:
            break
    raise OSError(number, os.strerror(number), path)


@lru_cache(maxsize=1)
def _has_openat2() -> bool:
    """Return whether openat2 works, tested once: kernels before 5.6 lack it, and some sandboxes forbid it."""
    root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(_openat2(root, ".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
    except OSError:
        return False
    finally:
        os.close(root)
    return True


def _open_by_segments(folder: int, path: str, flags: int) -> int:
    """Open `path` segment by segment: the fallback without openat2."""
    device = os.fstat(folder).st_dev
    *folders, last = path.split("/")
    here = os.dup(folder)
    try:
        for segment in folders:
            deeper = _same_file_system(_open_segment(here, segment, _FOLDER_FLAGS), device, path)
            os.close(here)
            here = deeper
        return _same_file_system(_open_segment(here, last, flags), device, path)
    finally:
        os.close(here)


def _open_segment(folder: int, name: str, flags: int) -> int:
    """Open a name in a folder; raise ELOOP if it is a symbolic link where a folder is needed."""
    try:
        return os.open(name, flags, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def _same_file_system(handle: int, device: int, path: str) -> int:
    """Return the handle if it is on the device; else close it and raise EXDEV."""
    if os.fstat(handle).st_dev == device:
        return handle
    os.close(handle)
    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
