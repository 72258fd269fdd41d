"""A process that has loaded the daemon's modules and forks daemons: loading them is more than half of a start."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from io import FileIO
from pathlib import Path

TEMPLATE = """
import faulthandler, json, os, runpy, signal, socket, sys, time
import reveried.__main__, reveried.background, reveried.sync.service, reveried.sync.loop, uvloop
from reveried.routes import FREQUENT, routes_of
for noun in FREQUENT:
    routes_of(noun)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
ours = socket.socket(fileno=0)
while True:
    data, given, *_ = socket.recv_fds(ours, 1 << 20, 2)
    if not data:
        sys.exit()
    log, told = given
    if os.fork() == 0:  # this process waits for the daemon, and tells of its end
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ours.close()
        daemon = os.fork()
        if daemon:
            os.write(told, b"%d\\n" % daemon)
            os.close(log)
            os.write(told, b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(daemon, 0)[1]))
            os._exit(0)
        os.close(told)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        os.environ.clear()
        os.environ.update(json.loads(data))
        time.tzset()
        if "PYTHONFAULTHANDLER" in os.environ:
            faulthandler.enable()
        sys.argv = ["reveried"]
        del sys.modules["reveried.__main__"]  # runpy warns of a module that it is to run
        runpy.run_module("reveried", run_name="__main__")
    os.close(log)
    os.close(told)
"""


class Forked:
    """A forked daemon, with the methods of a `subprocess.Popen` that tests use."""

    def __init__(self, told: int) -> None:
        self._told = FileIO(told)
        self._lock = threading.Lock()
        self.pid = int(self._told.readline())
        self.returncode: int | None = None

    def __del__(self) -> None:
        self._told.close()

    def poll(self) -> int | None:
        """Return the exit status if the process has ended."""
        return self._ended(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process and return its exit status; raise TimeoutExpired after some seconds."""
        status = self._ended(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("reveried", timeout or 0.0)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL unless the process has ended."""
        self.send_signal(signal.SIGKILL)

    def _ended(self, most_s: float | None) -> int | None:
        if self.returncode is None:
            with suppress(ValueError):  # closed by another thread
                _is_readable(self._told, most_s)  # without the lock: another thread may ask meanwhile, or kill it
        with self._lock:
            if self.returncode is None and _is_readable(self._told, 0.0):
                self.returncode = int(self._told.readline())
                self._told.close()
            return self.returncode


def _is_readable(file: FileIO, most_s: float | None) -> bool:
    """Return whether there is something to read, after waiting for it as long as that, or None for ever."""
    watch = select.poll()
    watch.register(file, select.POLLIN)
    return bool(watch.poll(None if most_s is None else most_s * 1_000))


def forked(env: Mapping[str, str], log: Path) -> Forked:
    """Start a daemon with this environment, which appends to this log."""
    told, tells = os.pipe()
    with log.open("ab") as file:
        socket.send_fds(_template(), [json.dumps(dict(env)).encode()], [file.fileno(), tells])
    os.close(tells)
    return Forked(told)


def may_be_forked(env: Mapping[str, str]) -> bool:
    """Return whether the variables that an interpreter reads at its start are those here, and no lines are counted."""
    read = ("PYTHON", "COVERAGE_")
    names = {name for name in (*env, *os.environ) if name.startswith(read)} - {"PYTHONFAULTHANDLER"}
    is_counted = any(name.startswith("COVERAGE_") for name in names)
    return not is_counted and all(env.get(name) == os.environ.get(name) for name in names)


@cache
def _template() -> socket.socket:
    """Start the process that forks, which ends with this one; return the connection to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        words = [sys.executable, "-c", TEMPLATE]
        os.posix_spawn(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, theirs.fileno(), 0)])
    atexit.register(ours.close)
    return ours
