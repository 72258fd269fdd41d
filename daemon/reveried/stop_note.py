"""The file that says what a stopping daemon waits for: it answers no request any more, and `reverie down` reads it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NAME = "daemon.stopping"
CHARS_MAX = 200


class StopNote:
    """The note in a data folder; it is there from the first `say` to the end of the process."""

    def __init__(self, data_dir: Path) -> None:
        """Remove the note of a process that was killed while it stopped."""
        self._path = data_dir / NAME
        self.remove()

    def say(self, what: str) -> None:
        """Write what is waited for next. A disk without room for it hinders no stop."""
        with suppress(OSError):
            self._path.write_text(what, encoding="utf-8")
            self._path.chmod(0o600)

    def remove(self) -> None:
        """Remove the note."""
        with suppress(OSError):
            self._path.unlink()

    @staticmethod
    def read(data_dir: Path) -> str:
        """Return what the daemon of this folder waits for; empty where it neither opens its store nor stops."""
        try:
            return (data_dir / NAME).read_text(encoding="utf-8")[:CHARS_MAX]
        except (OSError, UnicodeDecodeError):
            return ""
