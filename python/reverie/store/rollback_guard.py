"""The small file beside the store that remembers how far it had got, so that a step back is noticed.

It is written after every commit without a flush of its own (a killed process loses nothing of it), and flushed when
the store is closed. It is therefore never ahead of what was acknowledged: a store behind its anchor has lost commits.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Self

import orjson

from reverie.store.lock import StoreLock

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Anchor", "AnchorFile", "needs_check", "sync_folder"]

_NAME = "anchor"
_BYTES = 256  # fixed, so that a write replaces all of the one before


@dataclass(frozen=True, slots=True)
class Anchor:
    """How many commits the store had seen, the checksum of its header then, and whether it was closed."""

    commits: int
    header: str
    closed: bool

    def to_bytes(self) -> bytes:
        """One padded line of JSON, then its checksum."""
        line = orjson.dumps({"commits": self.commits, "header": self.header, "closed": self.closed})
        line = line.ljust(_BYTES - 17)
        return line + sha256(line).hexdigest()[:16].encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes) -> Self | None:
        """What was written, or None where it cannot be relied on."""
        line, check = data[: _BYTES - 17], data[_BYTES - 17 : -1]
        if len(data) != _BYTES or sha256(line).hexdigest()[:16].encode() != check:
            return None
        value = orjson.loads(line)
        return cls(value["commits"], value["header"], value["closed"])


class AnchorFile:
    """The anchor of an open store."""

    def __init__(self, store: Path) -> None:
        self._fd = os.open(store / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @staticmethod
    def read(store: Path) -> Anchor | None:
        """The anchor of the store in the folder `store`, or None where there is none to rely on."""
        path = store / _NAME
        return Anchor.from_bytes(path.read_bytes()) if path.exists() else None

    def write(self, anchor: Anchor, *, flush: bool = False) -> None:
        """Remember; with `flush`, beyond a loss of power."""
        os.pwrite(self._fd, anchor.to_bytes(), 0)
        if flush:
            os.fsync(self._fd)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)


def needs_check(store: Path, *, locked: bool = False) -> bool:
    """Whether the store in the folder `store` was not closed properly, so that it is to be checked before opening.

    False for a store that does not exist yet, and for one that a living process has open. `locked` says that the
    caller itself holds the lock already.
    """
    if not (store / "data.mdb").exists() or (not locked and StoreLock.is_held(store)):
        return False
    anchor = AnchorFile.read(store)
    return anchor is None or not anchor.closed


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder outlast a loss of power; LMDB does not do so for its own file."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
