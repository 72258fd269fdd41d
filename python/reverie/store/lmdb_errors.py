"""Turns what LMDB and the system report into the errors of the design, in one place."""

from __future__ import annotations

import errno
import os
import resource
from contextlib import contextmanager
from typing import TYPE_CHECKING

import lmdb

from reverie.errors import Busy, Damaged, DiskFull, ReverieError, StorageFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["commit_error", "reading", "translate"]

_DAMAGE = (
    lmdb.CorruptedError,
    lmdb.PageNotFoundError,
    lmdb.InvalidError,
    lmdb.VersionMismatchError,
    lmdb.CursorFullError,
    lmdb.BadValsizeError,
)
_NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_ROOM_BYTES = 1 << 20  # below this much free space an I/O error is taken for a full disk


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Runs a read; what LMDB raises becomes Damaged, Busy or StorageFailed, saying `what` was being done."""
    try:
        yield
    except lmdb.Error as error:
        raise translate(error, what) from error


def translate(error: lmdb.Error, what: str) -> ReverieError:
    """The error of the design for one of LMDB's."""
    if isinstance(error, _DAMAGE):
        return Damaged(f"the store is damaged, found when {what}: {error}", hint="run `reverie check`")
    if isinstance(error, lmdb.ReadersFullError):
        return Busy("too many reads are open at once", hint="try again in a moment", retryAfter=1)
    return StorageFailed(f"the store failed when {what}: {error}", hint="run `reverie check`")


def commit_error(error: lmdb.Error, path: Path) -> ReverieError:
    """Why a commit failed. DiskFull where there is no room: LMDB reports a short write as an I/O error.

    Anything else may be a sync that failed, after which no later success can be trusted.
    """
    number = _errno(error)
    hint = "free some space; what was not acknowledged was not written"
    if number in _NO_ROOM or (number == errno.EIO and _no_room(path)):
        return DiskFull(f"there is no room for this write: {error}", hint=hint)
    if isinstance(error, (*_DAMAGE, lmdb.ReadersFullError)):
        return translate(error, "committing")
    return StorageFailed(
        f"the disk did not take a write: {error}", hint="look at the disk, then start again: the store is checked first"
    )


def _errno(error: lmdb.Error) -> int:
    # LMDB sets the code where it raises; an error made elsewhere has none.
    return errno.ENOSPC if isinstance(error, lmdb.DiskError) else int(getattr(error, "code", 0))


def _no_room(path: Path) -> bool:
    disk = os.statvfs(path)
    if disk.f_bavail * disk.f_frsize < _ROOM_BYTES:
        return True
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (path / "data.mdb").stat().st_size
    return limit != resource.RLIM_INFINITY and size + _ROOM_BYTES > limit
