"""A notice on standard error while a command waits for a daemon that does not answer; only the standard library."""

from __future__ import annotations

import os
import select
import socket
import sys

from reverie.errors import ReverieError
from reverie.places import Layout

AFTER_S = 2.0  # of a command's wait, before the daemon is asked whether it is well
CHECK_S = 1.0  # it tells its health between any two steps of other work, in milliseconds

_HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: reverie\r\nConnection: close\r\n\r\n"


def wait_or_warn(peer: socket.socket) -> None:
    """Wait for the first byte of an answer; after AFTER_S say so on standard error if the daemon hangs."""
    if not _is_readable(peer, AFTER_S):
        warn_if_silent(peer.getpeername())


def warn_if_silent(socket_path: str) -> None:
    """Write to standard error that the daemon does not answer, and how to wake it, unless a health request succeeds."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(CHECK_S)
            peer.connect(socket_path)
            peer.sendall(_HEALTH)
            if _is_readable(peer, CHECK_S):
                return
    except TimeoutError:
        pass  # its queue of connections is full
    except OSError:
        return  # it has just ended, which the command itself says
    pid = process_id()
    sys.stderr.write(f"waiting for the daemon (process {pid}), which does not answer: it was stopped, or it hangs\n")
    sys.stderr.write(f"next: {wake_hint(pid)}\n")
    sys.stderr.flush()


def process_id() -> str:
    """Return the id of the daemon's process from its lock file, or `unknown`."""
    try:
        with open(os.path.join(Layout.current().data_dir, "daemon.lock"), encoding="ascii", errors="replace") as lock:  # noqa: PTH118, PTH123 - without pathlib
            return lock.read().strip() or "unknown"
    except (OSError, ReverieError):
        return "unknown"


def wake_hint(pid: str) -> str:
    """Return what to type where the daemon does not answer."""
    return f"`kill -CONT {pid}` wakes a stopped one; `kill -9 {pid}` ends it, and `reverie up` starts another"


def _is_readable(peer: socket.socket, seconds: float) -> bool:
    poll = select.poll()
    poll.register(peer, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
