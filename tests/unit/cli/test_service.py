"""`reverie service`: installing, removing and showing the systemd units, also when systemctl fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reveried.cli import daemon
from reveried.process_lock import DAEMON_LOCK, ProcessLock
from support.cli import Cli

SHIPPED = Path(__file__).resolve().parents[3] / "packaging" / "systemd"


@pytest.fixture
def systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a fake systemctl on PATH: it logs its arguments, answers `active`, and fails if a file `fail` exists."""
    program = tmp_path / "bin" / "systemctl"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n[ -e {tmp_path}/fail ] && {{ echo "no bus" >&2; exit 1; }}\n'
        "[ $2 = show ] && echo active\nexit 0\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent) + ":/usr/bin:/bin")
    return tmp_path


def systemctl_calls(folder: Path) -> list[str]:
    """Return the arguments of each systemctl call."""
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


def test_the_units_are_those_of_packaging() -> None:
    """The units that the command installs are those of packaging/."""
    for unit in daemon.UNITS:
        inside = Path(daemon.__file__).parent / "systemd" / unit
        assert inside.read_bytes() == (SHIPPED / unit).read_bytes()


@pytest.mark.parametrize("allowed", [True, False])
def test_a_unit_asks_for_no_namespace_that_is_refused(monkeypatch: pytest.MonkeyPatch, *, allowed: bool) -> None:
    """Where users may have no namespaces, the unit has neither of the two settings that need one."""
    monkeypatch.setattr(daemon, "has_namespaces", lambda: allowed)
    lines = daemon.unit_text("reverie.service").splitlines()
    assert [line in lines for line in ("PrivateUsers=yes", "CapabilityBoundingSet=")] == [allowed, allowed]
    assert "NoNewPrivileges=yes" in lines


def test_install_and_uninstall(cli: Cli, systemctl: Path) -> None:
    """Installing writes both units and enables the socket; uninstalling removes them."""
    folder = systemctl / "user" / ".config" / "systemd" / "user"
    done = cli("service", "install")
    assert (done.code, done.err) == (0, "")
    assert f"ExecStart={daemon.command_line()} serve" in (folder / "reverie.service").read_text()
    assert f"ListenStream={systemctl}/r/run/reverie.sock\n" in (folder / "reverie.socket").read_text()
    assert systemctl_calls(systemctl) == [
        "--user show --property=Version --value",
        "--user daemon-reload",
        "--user enable --now reverie.socket",
    ]
    assert "active" in cli("service", "status").out
    assert cli("service", "status", "--json").json["installed"] is True
    assert "removed" in cli("service", "uninstall").out
    assert not list(folder.iterdir())
    assert "not installed" in cli("service", "uninstall").out
    assert cli("service", "uninstall", "--json").json == {"removed": [], "systemd": None}
    assert cli("service", "install", "--json").json["command"] == daemon.command_line()


def test_install_beside_a_daemon(cli: Cli, home: Path, systemctl: Path) -> None:
    """Beside a daemon of `reverie up` nothing is installed; that of the service itself may run."""
    lock = ProcessLock(home / "data" / DAEMON_LOCK)
    done = cli("service", "install")
    assert (done.code, "reverie down, then reverie service install" in done.err) == (4, True)
    assert not daemon.unit_file().exists()
    program = systemctl / "bin" / "systemctl"
    program.write_text(program.read_text().replace("echo active", f"echo {os.getpid()}"))
    assert cli("service", "install").code == 0
    lock.release()


def test_the_units_name_the_places_of_this_installation(
    cli: Cli, home: Path, systemctl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service gets the variables that say where the folders are, and its socket is the one that commands use."""
    monkeypatch.setenv("REVERIE_SOCKET", f"{systemctl}/my 100%/own.sock")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(systemctl / "etc"))
    assert cli("service", "install").code == 0
    assert f"\nListenStream={systemctl}/my 100%%/own.sock\n" in daemon.socket_file().read_text()
    lines = daemon.unit_file().read_text().splitlines()
    assert [line for line in lines if line.startswith("Environment=")] == [
        f"Environment=REVERIE_HOME={home}",
        f'Environment="REVERIE_SOCKET={systemctl}/my 100%%/own.sock"',
        f"Environment=XDG_CONFIG_HOME={systemctl}/etc",
    ]
    if program := shutil.which("systemd-analyze", path="/usr/bin:/bin"):
        words = [program, "verify", "--user", "--man=no", str(daemon.unit_file()), str(daemon.socket_file())]
        env = {"XDG_RUNTIME_DIR": str(systemctl), "HOME": str(systemctl)}
        told = subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=60).stderr
        assert [line for line in told.splitlines() if "reverie." in line] == []


def test_a_system_that_refuses(cli: Cli, systemctl: Path) -> None:
    """If systemctl fails, no unit is written, and the error names its reason and `reverie up`."""
    (systemctl / "fail").touch()
    done = cli("service", "install")
    assert done.code == 1
    assert "failed: no bus" in done.err
    assert "reverie up" in done.err
    assert cli("service", "status", "--json").json == {
        "installed": False,
        "service": "unknown",
        "socket": "unknown",
        "path": str(daemon.unit_file()),
    }


def test_uninstalling_beside_a_system_that_refuses(cli: Cli, systemctl: Path) -> None:
    """Uninstalling removes the units even if systemctl fails, and prints its reason."""
    assert cli("service", "install").code == 0
    (systemctl / "fail").touch()
    done = cli("service", "uninstall")
    assert done.code == 0
    assert "systemd did not stop it (systemctl --user" in done.out
    assert not list(daemon.unit_folder().iterdir())


def test_a_system_without_systemd(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without systemctl the error names `reverie up`."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "start the daemon with `reverie up`" in cli("service", "install").err


def test_command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """ExecStart is the running script, quoted for systemd; else the script beside the interpreter, else the module."""
    command = tmp_path / "with space 100%" / "reverie"
    command.parent.mkdir()
    command.touch()
    monkeypatch.setattr(sys, "argv", [str(command)])
    assert daemon.command_line() == f'"{tmp_path}/with space 100%%/reverie"'
    monkeypatch.setattr(sys, "argv", ["pytest"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert daemon.command_line() == f"{tmp_path}/python -m reveried.cli"
    (tmp_path / "reverie").touch()
    assert daemon.command_line() == f"{tmp_path}/reverie"


def test_unit_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The unit folder is below XDG_CONFIG_HOME if that is absolute."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert daemon.unit_folder() == tmp_path / "systemd" / "user"
    assert daemon.socket_file().name == "reverie.socket"
