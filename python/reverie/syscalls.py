"""System calls that Python has no names for: exchanging two files, opening beneath a folder, asking who writes.

Linux only. Every call raises OSError as `os` does; `Unsupported` where the kernel or the file system has none of it.
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

__all__ = ["Unsupported", "exchange", "is_open_for_writing", "open_beneath", "rename_new"]

_RENAME_NOREPLACE: Final = 1
_RENAME_EXCHANGE: Final = 2
_OPENAT2: Final = 437  # the same number on every architecture
_RESOLVE: Final = 0x01 | 0x04 | 0x08  # NO_XDEV, NO_SYMLINKS, BENEATH
_MISSING: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})
_STEP: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_RACED_MAX: Final = 64


class Unsupported(OSError):
    """This kernel or file system cannot do what was asked; nothing was changed."""


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def exchange(first: str, first_folder: int, second: str, second_folder: int) -> None:
    """Swaps two names, each in an open folder, in one step; both must be there. Raises OSError, Unsupported."""
    _rename(first, first_folder, second, second_folder, _RENAME_EXCHANGE)


def rename_new(name: str, folder: int, new: str, new_folder: int) -> None:
    """Renames to a name that is not there yet. Raises FileExistsError where it is, OSError, Unsupported."""
    _rename(name, folder, new, new_folder, _RENAME_NOREPLACE)


def open_beneath(folder: int, path: str, flags: int) -> int:
    """Opens `path` below an open folder: through no symbolic link and into no other mount. The handle is the caller's.

    `path` is relative and holds no `.` or `..`. Where the kernel has no openat2, the steps are taken one by one, which
    sees another file system but not a second mount of the same one.
    Raises OSError: ELOOP at a link, EXDEV at another mount, and what `os.open` raises.
    """
    if _has_openat2():
        return _openat2(folder, path, flags | os.O_CLOEXEC)
    return _step_by_step(folder, path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)


def is_open_for_writing(handle: int) -> bool | None:
    """Whether any process has the file open for writing, or mapped so; `handle` itself must be open for reading only.

    None where the file system cannot tell, or the file is another user's. The kernel grants a read lease only on a file
    that nobody can write to; it is given back at once.
    """
    try:
        # Another's attempt to open the file while the lease is held raises this signal, which is ignored by default.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    library.syscall.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    return library


def _bytes_of(name: str) -> bytes:
    encoded = os.fsencode(name)
    if b"\0" in encoded:  # the kernel would read the part before it, and open another file
        raise ValueError("embedded null byte")
    return encoded


def _rename(name: str, folder: int, new: str, new_folder: int, flags: int) -> None:
    call = getattr(_library(), "renameat2", None)
    if call is None:
        raise Unsupported(errno.ENOSYS, os.strerror(errno.ENOSYS), new)
    if call(folder, _bytes_of(name), new_folder, _bytes_of(new), ctypes.c_uint(flags)) != 0:
        raise _error(ctypes.get_errno(), new)


def _error(number: int, path: str) -> OSError:
    # OSError picks its subclass by the number; FileExistsError and its like come out of it.
    return (Unsupported if number in _MISSING else OSError)(number, os.strerror(number), path)


@lru_cache(maxsize=16)
def _how(flags: int) -> _OpenHow:
    return _OpenHow(flags, 0, _RESOLVE)


def _openat2(folder: int, path: str, flags: int) -> int:
    how = _how(flags)
    name = _bytes_of(path)
    number = errno.EAGAIN
    for _ in range(_RACED_MAX):
        handle = _library().syscall(_OPENAT2, folder, name, ctypes.byref(how), ctypes.sizeof(how))
        if handle >= 0:
            return int(handle)
        # A rename somewhere on the system may make the kernel unsure of the way; it then asks to be called again.
        number = ctypes.get_errno()
        if number not in {errno.EAGAIN, errno.EINTR}:
            break
    raise OSError(number, os.strerror(number), path)


@lru_cache(maxsize=1)
def _has_openat2() -> bool:
    """Asked once: an older kernel has no such call, and some sandboxes forbid what they do not know."""
    here = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(_openat2(here, ".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
    except OSError:
        return False
    finally:
        os.close(here)
    return True


def _step_by_step(folder: int, path: str, flags: int) -> int:
    home = os.fstat(folder).st_dev
    *steps, last = path.split("/")
    here = os.dup(folder)
    try:
        for step in steps:
            deeper = _same_file_system(_step(here, step, _STEP), home, path)
            os.close(here)
            here = deeper
        return _same_file_system(_step(here, last, flags), home, path)
    finally:
        os.close(here)


def _step(folder: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def _same_file_system(handle: int, device: int, path: str) -> int:
    if os.fstat(handle).st_dev == device:
        return handle
    os.close(handle)
    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
