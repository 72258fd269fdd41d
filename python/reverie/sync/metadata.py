"""What a file has besides its bytes (mode, owner, attributes, access lists), copied to the file that replaces it."""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

__all__ = ["dress"]

_MAY_STAY = frozenset({errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.EINVAL})
_USER: Final = "user."
_PERMISSIONS: Final = 0o777


def dress(new: int, old: int) -> None:
    """Gives the open file `new` what the open file `old` has.

    The owner and what only the system may set are left as they are where we may not set them; people's own attributes
    (`user.*`) and the mode must come over. Raises OSError.
    """
    found, mine = os.fstat(old), os.fstat(new)
    mode = stat.S_IMODE(found.st_mode)
    if (found.st_uid, found.st_gid) != (mine.st_uid, mine.st_gid) and not _own(new, found.st_uid, found.st_gid):
        mode &= _PERMISSIONS  # another's file does not become ours with the right to act for us
    os.fchmod(new, mode)
    for name in _listed(old):
        try:
            os.setxattr(new, name, os.getxattr(old, name))
        except OSError as error:
            if name.startswith(_USER) or error.errno not in _MAY_STAY:
                raise


def _own(handle: int, uid: int, gid: int) -> bool:
    try:
        os.fchown(handle, uid, gid)
    except PermissionError:
        return False
    return True


def _listed(handle: int) -> list[str]:
    try:
        return os.listxattr(handle)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return []
        raise
