"""File locations of the installation, by its environment."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

SOCKET_PATH_BYTES_MAX = 107  # bytes; sockaddr_un.sun_path has 108 with its final NUL (unix(7))

_RUNTIME_BASE = Path("/run/user")


class Layout(msgspec.Struct, frozen=True):
    """The file locations that Reverie uses. All paths are absolute.

    `root` has one folder per space (`root_of`), which people may edit; all others are Reverie's own.
    """

    config_file: Path
    data_dir: Path
    store_dir: Path
    state_dir: Path
    socket: Path
    root: Path

    @classmethod
    def current(cls) -> Layout:
        """Return the layout for this process: its environment, home directory and user."""
        return cls.from_env(os.environ, Path.home(), os.getuid())

    @classmethod
    def from_env(cls, env: Mapping[str, str], home: Path, uid: int, *, runtime_base: Path = _RUNTIME_BASE) -> Layout:
        """Return the layout by the XDG base directories, or below `REVERIE_HOME`; `REVERIE_SOCKET` overrides both.

        Without XDG_RUNTIME_DIR (a cron job, `su`) the socket is in the runtime directory of a login session of `uid`,
        and only without that in the state directory, so that all of a user's processes use one socket.
        Raises ValidationError for a relative path, or a socket path longer than 107 bytes.
        """
        base = _absolute(env, "REVERIE_HOME")
        if base is not None:
            data, state, config, run = base / "data", base / "state", base / "config.toml", base / "run"
            root = base / "root"
        else:
            data = _xdg(env, "XDG_DATA_HOME", home / ".local" / "share") / "reverie"
            state = _xdg(env, "XDG_STATE_HOME", home / ".local" / "state") / "reverie"
            config = _xdg(env, "XDG_CONFIG_HOME", home / ".config") / "reverie" / "config.toml"
            run = _runtime(env, uid, runtime_base, state)
            root = home / "Reverie"
        socket = _absolute(env, "REVERIE_SOCKET") or run / "reverie.sock"
        _check_socket(socket)
        return cls(
            config_file=config, data_dir=data, store_dir=data / "store", state_dir=state, socket=socket, root=root
        )

    def root_of(self, space: str) -> Path:
        """Return the folder of one space's documents, which people may open and edit."""
        return self.root / space


def _xdg(env: Mapping[str, str], name: str, default: Path) -> Path:
    """Return a base directory from the environment; a relative value is ignored, as the XDG specification requires."""
    value = Path(env.get(name, ""))
    return value if value.is_absolute() else default


def _absolute(env: Mapping[str, str], name: str) -> Path | None:
    """Return an absolute path from the environment, or None if unset. Raises ValidationError for a relative one."""
    value = env.get(name)
    if not value:
        return None
    path = Path(value)
    if not path.is_absolute():
        raise ValidationError(f"{name}={value} is not an absolute path", hint=f"set {name} to a path from /")
    return path


def _runtime(env: Mapping[str, str], uid: int, runtime_base: Path, state: Path) -> Path:
    """Return the folder of the socket: XDG_RUNTIME_DIR, else that of a login session, else the state directory."""
    runtime_dir = env.get("XDG_RUNTIME_DIR", "")
    if Path(runtime_dir).is_absolute():
        return Path(runtime_dir) / "reverie"
    session = runtime_base / str(uid)
    try:
        status = session.lstat()
    except OSError:
        return state / "run"
    if stat.S_ISDIR(status.st_mode) and status.st_uid == uid:
        return session / "reverie"
    return state / "run"


def _check_socket(socket: Path) -> None:
    """Raise ValidationError if a socket path is too long for the kernel."""
    size = len(os.fsencode(socket))
    if size > SOCKET_PATH_BYTES_MAX:
        raise ValidationError(
            f"the socket path {socket} has {size} bytes; a Unix socket takes at most {SOCKET_PATH_BYTES_MAX}",
            hint="set REVERIE_SOCKET to a shorter path",
        )
