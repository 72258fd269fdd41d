"""The systemd user units: their text for this installation, where they belong, and the manager's own command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

from reverie.errors import NotFound, ReverieError, StorageFailed

__all__ = ["UNITS", "command_line", "socket_file", "systemctl", "text_of", "unit_file", "unit_folder"]

UNITS = ("reverie.service", "reverie.socket")
_SHIPPED = "%h/.local/bin/reverie"


def unit_folder() -> Path:
    """Where a user's units are read from."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    config = Path(base) if Path(base).is_absolute() else Path.home() / ".config"
    return config / "systemd" / "user"


def unit_file() -> Path:
    """The service's own file."""
    return unit_folder() / UNITS[0]


def socket_file() -> Path:
    """The socket's file."""
    return unit_folder() / UNITS[1]


def text_of(unit: str) -> str:
    """A unit as it is shipped, starting the program that runs now."""
    text = resources.files("reveried.cli").joinpath("systemd", unit).read_text(encoding="utf-8")
    return text.replace(_SHIPPED, command_line())


def command_line() -> str:
    """How systemd starts this `reverie`: the command itself, or the interpreter where it was started as a module."""
    started = Path(sys.argv[0])
    if started.name == "reverie" and started.exists():
        return _quoted(started.absolute())
    beside = Path(sys.executable).with_name("reverie")
    return _quoted(beside) if beside.exists() else f"{_quoted(Path(sys.executable))} -m reveried.cli"


def systemctl(*words: str) -> str:
    """What `systemctl --user` says.

    Raises:
        NotFound: this system has no systemd.
        StorageFailed: it refused, with its reason.
    """
    program = shutil.which("systemctl")
    if program is None:
        raise NotFound("there is no systemctl here", hint="start the daemon with `reverie up` instead")
    done = subprocess.run([program, "--user", *words], check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode != 0:
        raise _refused(words, done.stderr.strip() or done.stdout.strip())
    return done.stdout.strip()


def _refused(words: tuple[str, ...], why: str) -> ReverieError:
    reason = why.splitlines()[0] if why else "it gave no reason"
    return StorageFailed(
        f"systemctl --user {' '.join(words)} failed: {reason}",
        hint="without a systemd user session, start the daemon with `reverie up`",
    )


def _quoted(path: Path) -> str:
    """A path as systemd reads it: `%` doubled, quoted where it holds a space."""
    text = str(path).replace("%", "%%")
    return f'"{text}"' if " " in text else text
