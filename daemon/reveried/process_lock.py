"""A lock file for one daemon per data folder and per socket; the kernel releases it with the process."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from reverie.errors import Conflict
from reverie.private_folder import make_private

if TYPE_CHECKING:
    from pathlib import Path

DAEMON_LOCK = "daemon.lock"  # in the data folder
PID_BYTES_MAX = 32


class ProcessLock:
    """An exclusive lock (`flock`) on a file with the holder's process id, until `release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        """Acquire the lock without waiting.

        Raises:
            Conflict: another process has it; the message and `details["pid"]` name the process.
        """
        self.path = path
        make_private(path.parent)
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
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock; the file stays, since removing it would let two processes lock two different files."""
        os.close(self._file)


def holder(path: Path) -> int | None:
    """Return the id of the process that has the lock of a file; None if none has it, or it has not said which it is."""
    if not path.exists():
        return None
    try:
        ProcessLock(path).release()
    except Conflict as held:
        pid = held.details["pid"]
        return pid if isinstance(pid, int) else None
    return None
