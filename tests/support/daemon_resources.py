"""The resources that a daemon has open: readers of its store, descriptors, threads, memory."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import lmdb

from support.daemon import status_bytes

if TYPE_CHECKING:
    from support.daemon import Daemon


@dataclass(frozen=True, slots=True)
class Sample:
    """The resources that a daemon has open at one moment."""

    second: float
    readers: int  # slots in LMDB's table
    descriptors: int
    threads: int
    rss: int  # bytes of anonymous memory
    store: int  # bytes of data.mdb


def sample(daemon: Daemon, began: float) -> Sample:
    """Return the resources of a daemon now."""
    folder = daemon.home / "data" / "store"
    with contextlib.closing(lmdb.open(str(folder), readonly=True, create=False, lib_version=0)) as env:
        readers = env.readers().count("\n") - 1
    return Sample(
        round(time.monotonic() - began, 1),
        max(0, readers),
        daemon.open_files(),
        len(list(Path(f"/proc/{daemon.pid}/task").iterdir())),
        status_bytes(daemon.pid, "RssAnon"),
        (folder / "data.mdb").stat().st_size,
    )
