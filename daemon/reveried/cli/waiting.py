"""The client of the command line: it says on standard error when the daemon that it waits for does not answer."""

from __future__ import annotations

import select
import socket
import sys
import threading
from typing import TypeVar

from reverie.api.endpoint import Call
from reverie.client import Client
from reverie.errors import ReverieError
from reverie.places import Layout
from reveried.process_lock import DAEMON_LOCK

AFTER_S = 2.0  # of a command's wait, before the daemon is asked whether it is well
CHECK_S = 1.0  # it tells its health between any two steps of other work, in milliseconds
_HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: reverie\r\nConnection: close\r\n\r\n"
T = TypeVar("T")


class PatientClient(Client):
    """A client of the daemon; it prints one warning to standard error if no answer comes, and still waits."""

    _is_warned = False

    def send(self, call: Call[T]) -> T:
        """Send a prepared call and return its answer; warn once on standard error if the answer takes long."""
        if self._is_warned:
            return super().send(call)
        timer = threading.Timer(AFTER_S, self._warn)
        timer.daemon = True
        timer.start()
        try:
            return super().send(call)
        finally:
            timer.cancel()

    def _warn(self) -> None:
        self._is_warned = True
        warn_if_silent(str(self.socket_path))


def warn_if_silent(socket_path: str) -> None:
    """Write to standard error that the daemon does not answer, and how to wake it, unless a health request succeeds."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(CHECK_S)
            peer.connect(socket_path)
            peer.sendall(_HEALTH)
            poll = select.poll()
            poll.register(peer, select.POLLIN)
            if poll.poll(CHECK_S * 1000):
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
        return (Layout.current().data_dir / DAEMON_LOCK).read_text("ascii", "replace").strip() or "unknown"
    except (OSError, ReverieError):
        return "unknown"


def wake_hint(pid: str) -> str:
    """Return what to type where the daemon does not answer."""
    return f"`kill -CONT {pid}` wakes a stopped one; `kill -9 {pid}` ends it, and `reverie up` starts another"
