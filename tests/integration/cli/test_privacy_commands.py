"""`reverie ignore`, `pause` and `resume` before a real daemon."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from support.daemon import Daemon


def reverie(daemon: Daemon, *words: str, cwd: Path) -> tuple[int, str, str]:
    """Run a command; return its exit code and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "reveried.cli", *words],
        env=daemon.env,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_folders_are_ignored(daemon: Daemon, tmp_path: Path) -> None:
    """A folder is given relative or absolute, listed, and removed again."""
    assert "No folder" in reverie(daemon, "ignore", cwd=tmp_path)[1]
    assert reverie(daemon, "ignore", "diary", cwd=tmp_path)[0] == 0
    assert reverie(daemon, "ignore", cwd=tmp_path)[1] == f"{tmp_path}/diary\n"
    code, out, _ = reverie(daemon, "ignore", f"{tmp_path}/diary", "--remove", "--json", cwd=tmp_path)
    assert (code, json.loads(out)["ignored"]) == (0, [])
    code, _, err = reverie(daemon, "ignore", "diary", "--remove", cwd=tmp_path)
    assert code != 0
    assert "reverie ignore lists" in err


def test_recording_is_paused(daemon: Daemon, tmp_path: Path) -> None:
    """A second pause is a conflict, and so is a resume without one."""
    assert reverie(daemon, "pause", cwd=tmp_path)[0] == 0
    assert reverie(daemon, "pause", cwd=tmp_path)[0] == 4
    code, out, _ = reverie(daemon, "resume", "--json", cwd=tmp_path)
    assert (code, json.loads(out)["paused"]) == (0, False)
    code, _, err = reverie(daemon, "resume", cwd=tmp_path)
    assert (code, "reverie pause stops it" in err) == (4, True)
    assert reverie(daemon, "pause", "--json", cwd=tmp_path)[0] == 0
    assert "recorded again" in reverie(daemon, "resume", cwd=tmp_path)[1]
