"""Fixtures: a REVERIE_HOME, a function that runs `reverie`, and a fake daemon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cli import Cli, Routes, run_in_process
from support.fake_daemon import FakeDaemon, fake_daemon


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set REVERIE_HOME and HOME to new folders; return the former, which does not exist yet."""
    for name in (
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        "XDG_RUNTIME_DIR",
        "REVERIE_SOCKET",
        "REVERIE_TOKEN",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")  # commands print local times
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("REVERIE_HOME", str(tmp_path / "r"))
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "user").mkdir()
    return tmp_path / "r"


@pytest.fixture
def cli(home: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Return a function that runs `reverie` with its arguments in this process."""
    assert home.name == "r"
    return run_in_process(capsys)


@pytest.fixture
def routes() -> Routes:
    """Return the answers of the fake daemon, for the test to fill."""
    return Routes()


@pytest.fixture
def daemon(home: Path, routes: Routes) -> Iterator[FakeDaemon]:
    """Run a fake daemon at the socket of this home."""
    (home / "run").mkdir(parents=True)
    with fake_daemon(home / "run" / "reverie.sock", routes) as server:
        yield server
