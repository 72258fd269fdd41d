"""One daemon per store: a lock that the kernel drops with the process, and the mark of an unclean stop."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from reverie.errors import Conflict
from reveried.platform import full_fsync

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Lock"]

PID_BYTES_MAX = 32


class Lock:
    """An exclusive lock on a file, held until `release` or the end of the process.

    While it is held the file says our process id; `release(clean=True)` empties it. So `found_unclean` tells the next
    holder that the last one did not get to its end.
    """

    def __init__(self, path: Path) -> None:
        """Takes the lock, or says who has it.

        Raises:
            Conflict: another process holds it.
        """
        self.path = path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(self._file, PID_BYTES_MAX, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            raise Conflict(
                f"A daemon already runs here (process {holder or 'unknown'}).",
                hint="reverie status shows it; reverie down ends it.",
                pid=int(holder) if holder.isdigit() else None,
            ) from error
        self.found_unclean = os.fstat(self._file).st_size > 0
        self._write(f"{os.getpid()}\n".encode())

    def release(self, *, clean: bool) -> None:
        """Gives the lock back; after an end that was not clean the mark stays."""
        if clean:
            self._write(b"")
        os.close(self._file)

    def _write(self, content: bytes) -> None:
        """The mark must be on the disk before the store is opened: power may fail too."""
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, content, 0)
        full_fsync(self._file)
