"""Paths, settings and client of this user's daemon, each read when a command first needs it; pagination over a list."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from reverie.errors import Busy, Starting, ValidationError
from reverie.places import Layout
from reveried.process_lock import DAEMON_LOCK, holder

if TYPE_CHECKING:
    from reverie import wire
    from reverie.client import Client
    from reveried.config import Config

DEFAULT_SPACE = "default"
LOG_NAME = "daemon.log"
HEALTH_S = 5.0  # health is answered between any two steps of other work, in milliseconds
TOKEN_VARIABLE = "REVERIE_TOKEN"  # noqa: S105 - the name of a variable

T = TypeVar("T")


def layout() -> Layout:
    """Return the locations of settings file, data, store, socket and root for this process's environment."""
    return Layout.current()


def settings() -> Config:
    """Return the settings of file and environment.

    Raises:
        ValidationError: naming the key that is wrong.
    """
    from reveried import config

    return config.load(layout(), os.environ, home=Path.home())


def valid_settings() -> tuple[Config, tuple[ValidationError, ...]]:
    """Return the settings with defaults in place of invalid ones, and the errors of those.

    Enough for the commands that repair the settings or stop a daemon.
    """
    from reveried import config

    return config.load_valid(layout(), os.environ, home=Path.home())


def socket_path() -> Path:
    """Return the path of the daemon's socket: the settings may override the environment."""
    paths = layout()
    return valid_settings()[0].daemon.socket if paths.config_file.exists() else paths.socket


def root() -> Path:
    """Return the folder of the default space's documents."""
    return valid_settings()[0].memory.data_dir / DEFAULT_SPACE


def log_file() -> Path:
    """Return the log file of a daemon that `reverie up` started."""
    return layout().state_dir / LOG_NAME


def client(*, start_patience_s: float = 0.0, with_token: bool = True, timeout_s: float = 60.0) -> Client:
    """Return a client of this user's daemon: in the space of the token in the environment, else as the owner.

    `with_token=False` is for commands about the process, which work whatever the token is.
    """
    from reverie.client import Client
    from reveried.cli.waiting import PatientClient

    token = access_token() if with_token else None
    kind = PatientClient if timeout_s > HEALTH_S else Client  # for the others `hanging` says it
    return kind(socket_path(), token=token, start_patience_s=start_patience_s, timeout_s=timeout_s)


def health() -> wire.Health:
    """Return the health of the running daemon, which answers at once whatever it is doing.

    Raises:
        DaemonNotRunning: there is none.
        Starting: it is opening its store.
        Busy: it accepts connections and does not answer; the hint says how to wake or end its process.
    """
    try:
        with client(with_token=False, timeout_s=HEALTH_S) as own:
            return own.health()
    except Starting:
        raise
    except Busy as error:
        raise hanging() from error


def running() -> int | None:
    """Return the id of the daemon's process by its lock, None without one: to connect starts a service's."""
    return holder(layout().data_dir / DAEMON_LOCK)


def hanging() -> Busy:
    """Return the error for a daemon that accepts connections and does not answer; its hint wakes or ends it."""
    from reveried.cli.waiting import process_id, wake_hint

    pid = process_id()
    return Busy(
        f"the daemon (process {pid}) has not answered for {HEALTH_S:g} s: it was stopped, or it hangs",
        hint=wake_hint(pid),
    )


def access_token() -> str | None:
    """Return the token of REVERIE_TOKEN, which `--token` sets too; None where it is unset or empty.

    Raises:
        ValidationError: it has a character that no token has, such as the newline of a file that it was read from.
    """
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise ValidationError(f"{TOKEN_VARIABLE} is not a token", hint="reverie token create makes one")
    return token or None
