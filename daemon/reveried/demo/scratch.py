"""A daemon of its own for the demo: a temporary folder that holds everything, and nothing of yours is touched."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.client import Client
from reverie.paths import Layout
from reveried.cli import process
from reveried.cli.daemon_handle import LOG_NAME
from reveried.cli.progress import working

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Scratch", "scratch"]


@dataclass(frozen=True, slots=True)
class Scratch:
    """The demo's folder, the client of its daemon, and the daemon's process id."""

    home: Path
    client: Client
    pid: int


@contextmanager
def scratch(*, keep: bool, quiet: bool = False) -> Iterator[Scratch]:
    """Starts a daemon under a new REVERIE_HOME; afterwards it and the folder go, unless they are to be kept."""
    home = Path(tempfile.mkdtemp(prefix="reverie-demo-"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
    environment["REVERIE_HOME"] = str(home)
    places = Layout.from_env(environment, Path.home(), os.getuid())
    kept = False
    started: process.Started | None = None
    try:
        with Client(places.socket) as client:
            try:
                with working("Starting a daemon for the demo", quiet=quiet):
                    started = process.start(client, places.state_dir / LOG_NAME, environment)
                yield Scratch(home, client, started.health.pid)
                kept = keep
            finally:
                if started is not None and not kept:
                    process.end(started.health.pid, client)
    finally:
        if not kept:
            shutil.rmtree(home, ignore_errors=True)
