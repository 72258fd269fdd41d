"""Clients of other users, passed descriptors, floods of connections, and few file descriptors."""

from __future__ import annotations

import array
import io
import os
import resource
import socket
import subprocess
import time
from pathlib import Path

import pytest

from reveried import log
from reveried.http.limits import Admission, Limits
from support.daemon import (
    HEALTH,
    Daemon,
    Wire,
    check_refused,
    check_serving,
    cpu_seconds,
    request,
    running_daemon,
    serves,
)
from support.soak import count
from support.waiting import wait_until


def test_passed_descriptors_are_closed(daemon: Daemon) -> None:
    """Descriptors that a client passes over the socket are closed."""
    check_serving(daemon)
    before = daemon.open_files()
    with daemon.wire() as wire, open(os.devnull, "rb") as null:  # noqa: PTH123 - a descriptor is what is needed
        rights = array.array("i", [null.fileno()] * 253)
        wire.socket.sendmsg([HEALTH], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        answer = wire.answer()
        assert answer is not None
        assert answer.status == 200
        assert daemon.open_files() <= before + 1


def test_out_of_band_byte_is_ignored(daemon: Daemon) -> None:
    """A request with an out-of-band byte in it is answered or disconnected, and the daemon still serves."""
    with daemon.wire() as wire:
        wire.send(HEALTH[:10])
        wire.socket.send(b"!", socket.MSG_OOB)
        wire.send(HEALTH[10:])
        answer = wire.answer()
        assert answer is None or answer.status in {200, 400}
    check_serving(daemon)


def test_other_kinds_of_socket(daemon: Daemon) -> None:
    """A datagram socket cannot connect to the daemon's socket, and no abstract socket has its path as a name."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as peer, pytest.raises(OSError, match="wrong type"):
        peer.connect(str(daemon.socket))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer, pytest.raises(ConnectionRefusedError):
        peer.connect("\0" + str(daemon.socket))


def test_cancelled_requests_leak_nothing(daemon: Daemon) -> None:
    """After 500 abandoned requests the daemon has no more open descriptors than before, and serves."""
    check_serving(daemon)
    before = daemon.open_files()
    for number in range(500):
        with daemon.wire() as wire:
            wire.send(HEALTH if number % 2 else HEALTH[: number % len(HEALTH)])
    wait_until(lambda: daemon.open_files() <= before + 2, "the end of the connections that were left")
    check_serving(daemon)


def test_event_streams_are_bounded() -> None:
    """Event streams over the limit are `busy`; a closed one frees its slot; the daemon stops though some are open."""
    with running_daemon(REVERIE_DAEMON_SUBSCRIBERS="3") as daemon:
        wires = [daemon.wire() for _ in range(3)]
        for wire in wires:
            wire.send(request("GET", "/v1/events"))
            wire.answer()
        check_refused(daemon.ask("GET", "/v1/events"), 503, "busy")
        wires.pop().socket.close()
        wait_until(
            lambda: "reverie_event_streams 2\n" in daemon.ask("GET", "/metrics").body.decode(), "the end of a stream"
        )
        with daemon.wire() as wire:
            wire.send(request("GET", "/v1/events"))
            answer = wire.answer()
            assert answer is not None
            assert answer.status == 200
        assert daemon.stop() == 0
        for wire in wires:
            wire.socket.close()


def test_connection_flood() -> None:
    """Connections over the limit get `busy` at once; open ones are served; later there are free slots again."""
    with running_daemon(REVERIE_DAEMON_CONNECTIONS="20") as daemon:
        first = daemon.wire()
        first.send(HEALTH)
        assert first.answer() is not None
        flood = [daemon.wire() for _ in range(200)]
        refused = [answer for answer in (wire.answer() for wire in flood[100:]) if answer is not None]
        assert len(refused) == 100
        for answer in refused:
            check_refused(answer, 503, "busy")
        assert refused[0].headers["retry-after"] == "1"
        first.send(HEALTH)
        served = first.answer()
        assert served is not None
        assert served.status == 200
        for wire in [first, *flood]:
            wire.socket.close()
        wait_until(lambda: serves(daemon), "room for a connection")


def test_few_descriptors() -> None:
    """With 64 descriptors a flood neither ends the daemon nor makes it spin; afterwards it serves normally."""
    with running_daemon() as daemon:
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (64, 64))
        wires = []
        for _ in range(150):
            wire = Wire(daemon.socket, timeout=0.2)
            wires.append(wire)
            wire.send(HEALTH)
        wait_until(lambda: cpu_in_a_second(daemon.pid) < 0.2, "a second of rest without descriptors")
        for wire in wires:
            wire.socket.close()
        wait_until(lambda: serves(daemon), "room for a connection")


def cpu_in_a_second(pid: int) -> float:
    """Return the processor seconds that a process uses during the next second."""
    before = cpu_seconds(pid)
    time.sleep(1.0)
    return cpu_seconds(pid) - before


STRANGER = """
import socket, sys

answers = 0
for _ in range(100):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(sys.argv[1])
    try:
        peer.sendall(b"GET /v1/health HTTP/1.1\\r\\n\\r\\n")
        answers += bool(peer.recv(100))
    except OSError:
        pass
    peer.close()
print(answers, "answers of 100")
"""


def test_another_user_is_refused(daemon: Daemon) -> None:
    """A connection of another user is refused."""
    if os.getuid() != 0:
        pytest.skip("needs root, to become another user")
    folders = [daemon.home, daemon.socket.parent, daemon.socket]
    modes = [path.stat().st_mode for path in folders]
    try:
        for path in folders:
            path.chmod(0o777)
        client = subprocess.run(
            [
                "setpriv",
                "--reuid=65534",
                "--clear-groups",
                "/usr/bin/python3",
                "-I",
                "-S",
                "-c",
                STRANGER,
                str(daemon.socket),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd="/",
        )
    finally:
        for path, mode in zip(folders, modes, strict=True):
            path.chmod(mode)
    if client.returncode != 0:
        pytest.skip(f"cannot run Python as another user: {client.stderr[-200:]}")
    assert client.stdout.strip() == "0 answers of 100"
    assert "another user" in daemon.log_text()
    check_serving(daemon)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can connect as root: sudo make test")
def test_root_may_connect_and_is_logged(tmp_path: Path) -> None:
    """Root, who can read a user's files anyway, may connect, and each connection is logged."""
    output = io.StringIO()
    log.configure("info", output)
    try:
        with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as peer:
            listener.bind(str(tmp_path / "s"))
            listener.listen()
            peer.connect(str(tmp_path / "s"))
            connection, _ = listener.accept()
            with connection:
                assert Admission(Limits(), own_uid=65534).admits(connection)
    finally:
        log.configure("info")
    assert "connection of root" in output.getvalue()


def test_slow_clients_do_not_block_others(daemon: Daemon) -> None:
    """All requests of an ordinary client are served beside many slow ones."""
    wires = []
    for _ in range(min(count(100, 500), 450)):
        wire = daemon.wire()
        wire.send(b"G")
        wires.append(wire)
    with daemon.wire() as wire:
        for _ in range(300):
            wire.send(HEALTH)
            answer = wire.answer()
            assert answer is not None
            assert answer.status == 200
    for wire in wires:
        wire.socket.close()
