"""`reverie service`: the units are the shipped ones, started by the program that runs; systemd's refusals are told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reveried.cli import units

if TYPE_CHECKING:
    from support.cli import Cli

SHIPPED = Path(__file__).resolve().parents[3] / "packaging" / "systemd"


@pytest.fixture
def systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A systemctl that notes what it is asked, answers `active`, and fails where a file `fail` stands beside it."""
    program = tmp_path / "bin" / "systemctl"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n[ -e {tmp_path}/fail ] && {{ echo "no bus" >&2; exit 1; }}\n'
        "[ $2 = show ] && echo active\nexit 0\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent) + ":/usr/bin:/bin")
    return tmp_path


def asked(folder: Path) -> list[str]:
    """What systemctl was asked."""
    path = folder / "asked"
    return path.read_text().splitlines() if path.exists() else []


def test_the_units_are_those_of_packaging() -> None:
    """One text for both: what the command installs is what packaging ships."""
    for unit in units.UNITS:
        inside = Path(units.__file__).parent / "systemd" / unit
        assert inside.read_bytes() == (SHIPPED / unit).read_bytes()


def test_install_and_uninstall(cli: Cli, systemctl: Path) -> None:
    """Installing writes both units and enables the socket; uninstalling takes them away and keeps memories."""
    folder = systemctl / "user" / ".config" / "systemd" / "user"
    done = cli("service", "install")
    assert (done.code, done.err) == (0, "")
    assert f"ExecStart={units.command_line()} serve" in (folder / "reverie.service").read_text()
    assert "ListenStream=%t/reverie/reverie.sock" in (folder / "reverie.socket").read_text()
    assert asked(systemctl) == [
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
    assert cli("service", "install", "--json").json["command"] == units.command_line()


def test_a_system_that_refuses(cli: Cli, systemctl: Path) -> None:
    """Without a user session nothing is written, the reason is told and the other way to start."""
    (systemctl / "fail").touch()
    done = cli("service", "install")
    assert done.code == 1
    assert "failed: no bus" in done.err
    assert "reverie up" in done.err
    assert cli("service", "status", "--json").json == {
        "installed": False,
        "service": "unknown",
        "socket": "unknown",
        "path": str(units.unit_file()),
    }


def test_uninstalling_beside_a_system_that_refuses(cli: Cli, systemctl: Path) -> None:
    """The units go even where systemd cannot be told, and that is said."""
    assert cli("service", "install").code == 0
    (systemctl / "fail").touch()
    done = cli("service", "uninstall")
    assert done.code == 0
    assert "systemd could not be told (systemctl --user" in done.out
    assert not list(units.unit_folder().iterdir())


def test_a_system_without_systemd(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without systemctl the command says what to do instead."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "start the daemon with `reverie up`" in cli("service", "install").err


def test_how_the_program_is_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By the command that runs now, quoted for systemd; else by the interpreter."""
    command = tmp_path / "with space 100%" / "reverie"
    command.parent.mkdir()
    command.touch()
    monkeypatch.setattr(sys, "argv", [str(command)])
    assert units.command_line() == f'"{tmp_path}/with space 100%%/reverie"'
    monkeypatch.setattr(sys, "argv", ["pytest"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert units.command_line() == f"{tmp_path}/python -m reveried.cli"
    (tmp_path / "reverie").touch()
    assert units.command_line() == f"{tmp_path}/reverie"


def test_where_units_belong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """XDG_CONFIG_HOME is honoured where it is absolute."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert units.unit_folder() == tmp_path / "systemd" / "user"
    assert units.socket_file().name == "reverie.socket"
