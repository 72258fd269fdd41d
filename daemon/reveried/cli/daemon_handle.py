"""Where this user's daemon is: layout, settings and a client at its socket, each read when first needed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.paths import Layout

if TYPE_CHECKING:
    from reverie.client import Client
    from reverie.errors import ValidationError
    from reveried.config import Config

__all__ = ["DEFAULT_SPACE", "client", "good_settings", "layout", "log_file", "root", "settings", "socket_path"]

DEFAULT_SPACE = "default"
LOG_NAME = "daemon.log"


def layout() -> Layout:
    """Every place that this environment names."""
    return Layout.current()


def settings() -> Config:
    """The settings of file and environment.

    Raises:
        ValidationError: naming the key that is wrong.
    """
    from reveried import config  # noqa: PLC0415 - most commands need no settings

    return config.load(layout(), os.environ, home=Path.home())


def good_settings() -> tuple[Config, tuple[ValidationError, ...]]:
    """The settings as far as they are good, and what is wrong with the rest: enough to mend it or to stop a daemon."""
    from reveried import config  # noqa: PLC0415 - as above

    return config.forgiving(layout(), os.environ, home=Path.home())


def socket_path() -> Path:
    """Where the daemon listens: the settings may say another place than the environment does."""
    places = layout()
    return good_settings()[0].daemon.socket if places.config_file.exists() else places.socket


def root() -> Path:
    """The folder of the default space's documents."""
    return good_settings()[0].memory.data_dir / DEFAULT_SPACE


def log_file() -> Path:
    """Where a daemon that `reverie up` started writes its log."""
    return layout().state_dir / LOG_NAME


def client(*, start_patience_s: float = 0.0) -> Client:
    """A client at this user's socket."""
    from reverie.client import Client  # noqa: PLC0415 - `reverie --help` does not need it

    return Client(socket_path(), start_patience_s=start_patience_s)
