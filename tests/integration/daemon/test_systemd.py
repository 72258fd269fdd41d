"""The daemon under systemd: valid units, inherited sockets, readiness and stop notifications."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.daemon import HEALTH, Daemon, Wire, check_refused, environment, running_daemon, scratch_home

UNITS = Path(__file__).resolve().parents[3] / "packaging" / "systemd"


def tool(name: str) -> str:
    """Return the path of a systemd program, or skip the test and name the package that has it."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"needs {name}: apt-get install systemd")
    return path


def test_units_are_valid(tmp_path: Path) -> None:
    """`systemd-analyze verify` reports nothing about the units."""
    program = tool("systemd-analyze")
    command = tmp_path / "reverie"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    for unit in ("reverie.service", "reverie.socket"):
        text = (UNITS / unit).read_text("utf-8").replace("%h/.local/bin/reverie", str(command))
        (tmp_path / unit).write_text(text)
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}
    process = subprocess.run(
        [program, "verify", "--user", "--man=no", str(tmp_path / "reverie.service"), str(tmp_path / "reverie.socket")],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    ours = [line for line in (process.stdout + process.stderr).splitlines() if "reverie." in line]
    assert ours == []
    assert process.returncode == 0, process.stderr


def test_service_is_confined(tmp_path: Path) -> None:
    """`systemd-analyze security` rates the exposure of the service at 4.0 of 10 at most."""
    program = tool("systemd-analyze")
    process = subprocess.run(
        [program, "security", "--offline=true", "--threshold=40", "--no-pager", str(UNITS / "reverie.service")],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert process.returncode == 0, process.stdout[-400:] + process.stderr[-400:]


def test_every_hardening_line_and_the_exit_status() -> None:
    """The systemd unit has its hardening options and `Type=notify`, and does not restart on exit status 78."""
    text = (UNITS / "reverie.service").read_text("utf-8")
    for line in (
        "Type=notify",
        "NoNewPrivileges=yes",
        "UMask=0077",
        "LockPersonality=yes",
        "PrivateUsers=yes",
        "CapabilityBoundingSet=",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
        "RestrictNamespaces=yes",
        "RestrictRealtime=yes",
        "RestrictSUIDSGID=yes",
        "SystemCallFilter=@system-service",
        "SystemCallArchitectures=native",
        "RestartPreventExitStatus=78",
    ):
        assert line in text.splitlines()
    socket_unit = (UNITS / "reverie.socket").read_text("utf-8").splitlines()
    for line in ("ListenStream=%t/reverie/reverie.sock", "SocketMode=0600", "DirectoryMode=0700"):
        assert line in socket_unit


CLAUDE = """\
#!/usr/bin/env node
let sum = 0
const twice = (number) => 2 * number
for (let number = 0; number < 5e6; number++) sum += twice(number)  // enough to be compiled
require("os").networkInterfaces()
console.log(JSON.stringify({type: "result", result: JSON.stringify({ok: true})}))
"""


@pytest.mark.parametrize(("more", "answered"), [("", True), ("MemoryDenyWriteExecute=yes", False)])
def test_the_service_runs_a_model_of_node(tmp_path: Path, *, more: str, answered: bool) -> None:
    """A program for node answers as the distiller's model under the unit's limits; one more of them would kill it."""
    tool("systemd-analyze")
    if shutil.which("node") is None:
        pytest.skip("needs node: apt-get install nodejs")
    claude = tmp_path / "claude"
    claude.write_text(CLAUDE)
    claude.chmod(0o755)
    unit = tmp_path / "reverie.service"
    unit.write_text(f"{(UNITS / unit.name).read_text('utf-8')}\n[Service]\n{more}\n")
    settings = {
        "REVERIE_DISTILLER_KIND": "command",
        "REVERIE_DISTILLER_COMMAND": json.dumps([str(claude), "-p"]),
        "REVERIE_DISTILLER_COMMAND_INPUT": "text",
    }
    with scratch_home() as home:
        limited = (sys.executable, str(Path(__file__).with_name("unit_limits.py")), str(unit))
        daemon = Daemon(home, environment(home, **settings), prefix=limited)
        try:
            answer = daemon.start().ask("POST", "/v1/distiller/check", {})
            assert daemon.stop() == 0
        finally:
            if daemon.process is not None and daemon.process.poll() is None:
                daemon.kill()
    assert (answer.status == 200) == answered, answer.body
    assert answered or b"SIGTRAP" in answer.body or b"ended with status" in answer.body


def connected(path: Path) -> Wire:
    """Return a connection to a socket that another process creates; between its bind and listen it refuses."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return Wire(path, timeout=60)
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def test_socket_activation() -> None:
    """A listening socket is inherited: the first client starts the daemon and is answered; the socket stays."""
    program = tool("systemd-socket-activate")
    with scratch_home() as home:
        path = home / "activated.sock"
        env = environment(home)
        passed = [f"--setenv={name}" for name in env]
        with subprocess.Popen(
            [program, "-l", str(path), *passed, sys.executable, "-m", "reveried"],
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as process:
            try:
                with connected(path) as wire:
                    wire.send(HEALTH)
                    answer = wire.answer()
                assert answer is not None
                if answer.status == 503:
                    check_refused(answer, 503, "starting")
                else:
                    assert answer.status == 200
                    assert answer.json()["pid"] == process.pid
                assert not (home / "run" / "reverie.sock").exists()
                process.terminate()
                assert process.wait(60) == 0
                assert path.exists()
            finally:
                process.kill()
                assert process.stderr is not None
                process.stderr.read()


def test_readiness_and_stop_are_notified() -> None:
    """READY=1 is sent once requests are served, STOPPING=1 when the shutdown begins."""
    with scratch_home() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(folder / "n"))
        manager.settimeout(60)
        with running_daemon(NOTIFY_SOCKET=str(folder / "n")) as daemon:
            assert manager.recv(100) == b"READY=1"
            assert daemon.stop() == 0
            assert manager.recv(100) == b"STOPPING=1"


def test_requests_during_the_store_check_get_starting() -> None:
    """Requests while the daemon opens its store get `starting` with Retry-After, and are not refused."""
    with scratch_home() as home:
        with running_daemon(home) as daemon:
            daemon.kill()
        slow = home / "slow" / "sitecustomize.py"
        slow.parent.mkdir()
        answered = home / "slow" / "answered"
        # Only the child that checks the store is slowed down: until a request was answered.
        slow.write_text(
            "import os, sys, time\nif 'reverie.store.check' in sys.orig_argv:\n"
            f"    while not os.path.exists({str(answered)!r}):\n        time.sleep(0.02)\n"
        )
        daemon = Daemon(home, environment(home, PYTHONPATH=str(slow.parent)))
        daemon.launch()
        try:
            with connected(daemon.socket) as wire:
                wire.send(HEALTH)
                answer = wire.answer()
            answered.touch()
            check_refused(answer, 503, "starting")
            assert answer is not None
            assert answer.headers["retry-after"] == "1"
            daemon.wait_ready()
            assert daemon.stop() == 0
        finally:
            if daemon.process is not None and daemon.process.poll() is None:
                daemon.kill()
