"""Starts and ends the daemon's process, and waits until it is really so."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.errors import DaemonNotRunning, ReverieError, StorageFailed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reverie import wire
    from reverie.client import Client

__all__ = ["Started", "end", "is_alive", "start"]

START_MAX_S = 30.0
STOP_MAX_S = 30.0
POLL_S = 0.05
LOG_MAX_BYTES = 5 * 1024 * 1024
_LOG_TAIL_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Started:
    """A daemon that answers, and whether it is this call that started it."""

    health: wire.Health
    is_new: bool


def start(client: Client, log_file: Path, environment: Mapping[str, str]) -> Started:
    """The daemon, started in the background unless it runs already; back when it answers.

    Raises:
        StorageFailed: it ended before it answered, with the last line it said.
    """
    try:
        return Started(client.health(), is_new=False)
    except DaemonNotRunning:
        pid = _spawn(log_file, environment)
    deadline = time.monotonic() + START_MAX_S
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            raise _ended(os.waitstatus_to_exitcode(status), log_file)
        try:
            return Started(client.health(), is_new=True)
        except DaemonNotRunning:
            time.sleep(POLL_S)
    os.kill(pid, signal.SIGTERM)
    raise StorageFailed(
        f"the daemon did not answer within {START_MAX_S:g} s and was ended", hint=f"read {log_file}, then try again"
    )


def end(pid: int, client: Client) -> None:
    """Ask the daemon to finish what it does and stop; back when it has.

    Raises:
        StorageFailed: it is still there after STOP_MAX_S.
    """
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_MAX_S
    while time.monotonic() < deadline:
        if not is_alive(pid):
            return
        time.sleep(POLL_S)
    client.close()
    raise StorageFailed(
        f"the daemon (process {pid}) is still finishing its work after {STOP_MAX_S:g} s",
        hint="run `reverie logs` to see what it does, then `reverie down` again",
    )


def is_alive(pid: int) -> bool:
    """Whether the process is there and has not ended; one of our own children that ended is collected."""
    try:
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            return False
    except ChildProcessError:
        pass  # not our child: the next line decides
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _spawn(log_file: Path, environment: Mapping[str, str]) -> int:
    """A process of its own session, so that closing this terminal does not end it; its id."""
    log_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if log_file.exists() and log_file.stat().st_size > LOG_MAX_BYTES:
        log_file.replace(log_file.with_name(log_file.name + ".1"))
    appended = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-P", "-m", "reveried.cli", "serve"],
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log_file), appended, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )


def _ended(status: int, log_file: Path) -> ReverieError:
    with log_file.open("rb") as file:
        file.seek(max(0, log_file.stat().st_size - _LOG_TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    said = lines[-1].strip() if lines else "it said nothing"
    return StorageFailed(f"the daemon ended at once with status {status}: {said}", hint="run `reverie doctor`")
