"""One process per store: a lock on a file beside it, taken before anything else is opened."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING, Self

from reverie.errors import Conflict

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["StoreLock"]

_NAME = "store.lock"


class StoreLock:
    """Held from `take` to `release`, or to the end of the process however it ends."""

    def __init__(self, fd: int, path: Path) -> None:
        self._fd: int | None = fd
        self.path = path

    @classmethod
    def take(cls, store: Path) -> Self:
        """The lock of the store in the folder `store`, which is made (0700) where it is missing.

        Raises Conflict naming the holder where another process, or another opener in this one, has it.
        """
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
        store.chmod(0o700)
        path = store / _NAME
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            pid = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
            os.close(fd)
            raise Conflict(
                f"the store in {store} is in use by process {pid or 'unknown'}",
                hint=f"stop it first: `reverie down`, or `kill {pid}`" if pid else "try again in a moment",
                pid=int(pid) if pid.isdigit() else None,
            ) from error
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        return cls(fd, path)

    @staticmethod
    def is_held(store: Path) -> bool:
        """Whether some process has the store open now."""
        path = store / _NAME
        if not path.exists():
            return False
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False

    def release(self) -> None:
        """Lets the next opener in. The file stays: removing it would let two openers hold two locks."""
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
