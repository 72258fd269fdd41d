"""Refused or released locks, sockets and inherited descriptors leave no open file descriptor behind."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from reverie.errors import Conflict, ValidationError
from reveried import server
from reveried.process_lock import ProcessLock
from reveried.server import bind_tcp, bind_unix
from support.daemon import scratch_home
from support.waiting import no_leaked_descriptors


def test_a_refused_lock_is_closed(tmp_path: Path) -> None:
    """A ProcessLock that another one has is refused, and leaves no open file."""
    held = ProcessLock(tmp_path / "lock")
    with no_leaked_descriptors(), pytest.raises(Conflict):
        ProcessLock(tmp_path / "lock")
    held.release()


def test_a_released_lock_is_closed_and_free(tmp_path: Path) -> None:
    """A released ProcessLock leaves no open file, and can be taken again at once."""
    with no_leaked_descriptors():
        for _ in range(3):
            ProcessLock(tmp_path / "lock").release()


def test_a_socket_that_cannot_listen_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Unix socket whose `listen` fails is closed, and the error is raised."""
    monkeypatch.setattr(server, "BACKLOG", "many")
    with scratch_home() as home, no_leaked_descriptors(), pytest.raises(TypeError):
        bind_unix(home / "s")


def test_a_port_in_use_is_refused_and_its_socket_closed() -> None:
    """A TCP port in use is refused with an error that names the address, and leaves no open socket."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with no_leaked_descriptors(), pytest.raises(ValidationError, match=address):
            bind_tcp(address)


CHILD = """
import os, socket
from reveried.linux import activated_sockets
os.closerange(3, 10)
listener = socket.socket()
listener.bind(("127.0.0.1", 0)); listener.listen()
datagram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
silent = socket.socket()
assert [s.fileno() for s in (listener, datagram, silent)] == [3, 4, 5]
found = activated_sockets({"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "3"}, os.getpid())
closed = []
for number in (3, 4, 5):
    try:
        os.fstat(number)
    except OSError:
        closed.append(number)
print([s.fileno() for _, s in found], closed, flush=True)
os._exit(0)
"""


def test_activated_descriptors_of_other_kinds_are_closed() -> None:
    """Descriptors from a service manager that are no listening sockets are closed, without a warning."""
    said = subprocess.run(
        [sys.executable, "-W", "error", "-c", CHILD], capture_output=True, text=True, timeout=30, check=True
    )
    assert said.stdout == "[3] [4, 5]\n"
    assert said.stderr == ""
