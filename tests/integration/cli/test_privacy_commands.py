"""`reverie ignore`, `pause` and `resume` before a real daemon."""

from __future__ import annotations

from pathlib import Path

from support.cli import reverie
from support.daemon import Daemon


def test_folders_are_ignored(daemon: Daemon, tmp_path: Path) -> None:
    """A folder is given relative or absolute, listed, and removed again."""
    assert "No folder" in reverie(daemon.env, "ignore", cwd=tmp_path).out
    assert reverie(daemon.env, "ignore", "diary", cwd=tmp_path).code == 0
    assert reverie(daemon.env, "ignore", cwd=tmp_path).out == f"{tmp_path}/diary\n"
    done = reverie(daemon.env, "ignore", f"{tmp_path}/diary", "--remove", "--json", cwd=tmp_path)
    assert (done.code, done.json["ignored"]) == (0, [])
    done = reverie(daemon.env, "ignore", "diary", "--remove", cwd=tmp_path)
    assert done.code != 0
    assert "reverie ignore lists" in done.err


def test_recording_is_paused(daemon: Daemon, tmp_path: Path) -> None:
    """A second pause is a conflict, and so is a resume without one."""
    assert reverie(daemon.env, "pause", cwd=tmp_path).code == 0
    assert reverie(daemon.env, "pause", cwd=tmp_path).code == 4
    done = reverie(daemon.env, "resume", "--json", cwd=tmp_path)
    assert (done.code, done.json["paused"]) == (0, False)
    done = reverie(daemon.env, "resume", cwd=tmp_path)
    assert (done.code, "reverie pause stops it" in done.err) == (4, True)
    assert reverie(daemon.env, "pause", "--json", cwd=tmp_path).code == 0
    assert "recorded again" in reverie(daemon.env, "resume", cwd=tmp_path).out
