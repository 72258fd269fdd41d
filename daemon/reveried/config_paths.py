"""Checks the places that settings name: none may be a system folder, overlap our own, or be open to others."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import ValidationError

if TYPE_CHECKING:
    from reverie.paths import Layout

__all__ = ["check_root", "check_secret_file", "check_socket"]

SOCKET_PATH_BYTES_MAX = 107
SECRET_FILE_BYTES_MAX = 1024 * 1024
SYSTEM_FOLDERS = ("/etc", "/proc", "/sys", "/dev", "/boot", "/usr", "/bin", "/sbin", "/lib", "/run", "/var")
SYSTEM_FOLDERS_WITH_USERS = ("/run/user", "/var/lib", "/var/tmp")  # noqa: S108 - names a place, makes nothing there


def check_root(text: str, layout: Layout, home: Path) -> Path:
    """The folder for people's markdown; the layout's where nothing is set.

    Raises:
        ValidationError: it is relative, `/`, the home folder, a system folder, or overlaps what is ours.
    """
    root = _absolute("memory.dataDir", text, home) if text else layout.root
    real = root.resolve()
    if real == Path("/") or real == home.resolve():
        raise _refused("memory.dataDir", f"{root} is too wide", "Name a folder of its own, such as ~/Reverie.")
    if _in_system(real):
        raise _refused("memory.dataDir", f"{root} belongs to the system", "Name a folder such as ~/Reverie.")
    for ours in (layout.store_dir, layout.state_dir, layout.data_dir, layout.socket.parent, layout.config_file):
        if _overlap(real, ours.resolve()):
            raise _refused(
                "memory.dataDir",
                f"{root} overlaps {ours}, where Reverie keeps its own files",
                "Keep the documents in a folder of their own.",
            )
    return root


def check_socket(text: str, layout: Layout, home: Path) -> Path:
    """Where to listen; the layout's place where nothing is set.

    Raises:
        ValidationError: it is relative, or longer than a socket's address can be.
    """
    path = _absolute("daemon.socket", text, home) if text else layout.socket
    length = len(os.fsencode(path))
    if length > SOCKET_PATH_BYTES_MAX:
        raise _refused(
            "daemon.socket",
            f"the path has {length} bytes, a socket's address holds {SOCKET_PATH_BYTES_MAX}",
            "Choose a shorter one.",
        )
    return path


def check_secret_file(text: str, home: Path) -> tuple[Path, tuple[str, ...]]:
    """The file and its lines, without empty ones.

    Raises:
        ValidationError: it is not there, too large, not UTF-8, or others may read it.
    """
    path = _absolute("redact.literalsFile", text, home)
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode) or mode & 0o077:
                raise _refused("redact.literalsFile", f"{path} can be read by others", f"chmod 600 {path}")
            data = file.read(SECRET_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise _refused("redact.literalsFile", f"{path}: {error.strerror}", "Check the path.") from error
    if len(data) > SECRET_FILE_BYTES_MAX:
        raise _refused("redact.literalsFile", f"{path} is larger than 1 MiB", "Keep only secrets in it.")
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise _refused("redact.literalsFile", f"{path} is not UTF-8", "Save it as UTF-8.") from error
    return path, tuple(line.strip() for line in lines if line.strip())


def _absolute(key: str, text: str, home: Path) -> Path:
    """`~/x` or `/x` as an absolute path without `..`."""
    path = home / text[2:] if text.startswith("~/") else Path(text)
    if not path.is_absolute() or ".." in path.parts:
        raise _refused(key, "the path must be absolute, or begin with ~/", f'Write {key} = "~/…".')
    return path


def _in_system(path: Path) -> bool:
    inside = any(path.is_relative_to(folder) for folder in SYSTEM_FOLDERS)
    allowed = any(path.is_relative_to(folder) and path != Path(folder) for folder in SYSTEM_FOLDERS_WITH_USERS)
    return inside and not allowed


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _refused(key: str, why: str, hint: str) -> ValidationError:
    return ValidationError(f"{key} in the configuration: {why}.", hint=hint, key=key)
