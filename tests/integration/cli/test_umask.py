"""Folders and files that Reverie makes are its user's alone, whatever the umask is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

from support.daemon import environment, scratch_home


def test_a_umask_of_zero_opens_nothing() -> None:
    """Not the folders above a setting's folder either, which `mkdir` makes with the mode that the umask leaves."""
    with scratch_home() as above:
        home = above / "new" / "home"
        env = environment(home)

        def reverie(*words: str) -> None:
            command = [sys.executable, "-m", "reveried.cli", *words]
            subprocess.run(command, env=env, umask=0, check=True, capture_output=True, timeout=120)

        reverie("config", "set", "log.level", "info")
        reverie("up")
        try:
            reverie("remember", "the tests run with make")
            reverie("backup", str(above / "copy.reverie"))
            reverie("sync", "now")
        finally:
            reverie("down")
        below = [above / "new", home, above / "copy.reverie", *home.rglob("*")]
        assert {str(path.relative_to(above)): mode for path in below if (mode := _open_bits(path))} == {}


def _open_bits(path: Path) -> str:
    """Return the mode of a file that others than its user may use, empty for any other."""
    status = os.lstat(path)
    mode = stat.S_IMODE(status.st_mode)
    return oct(mode) if mode & 0o077 and not stat.S_ISLNK(status.st_mode) else ""
