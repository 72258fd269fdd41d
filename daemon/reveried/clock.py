"""The daemon's only clock: the system's, or for tests a file's, under REVERIE_HOME alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["CLOCK_FILE", "Clock", "FileClock", "SystemClock", "clock_of", "text_of"]

CLOCK_FILE = "clock"
CLOCK_BYTES_MAX = 64


class Clock(Protocol):
    """Time in UTC."""

    @property
    def heartbeat_s(self) -> float:
        """How often whoever waits for a moment looks again; the clock may have jumped."""
        ...

    def now(self) -> datetime:
        """This moment, with its zone."""
        ...


class SystemClock:
    """The system's clock. Monotonic time stands still while a machine sleeps, hence the heartbeat."""

    heartbeat_s = 30.0

    def now(self) -> datetime:
        """This moment."""
        return datetime.now(UTC)


class FileClock:
    """Stands at the time that a file says (RFC 3339), so that a test can move a daemon through days."""

    heartbeat_s = 0.1

    def __init__(self, path: Path) -> None:
        self._path = path

    def now(self) -> datetime:
        """The time in the file.

        Raises:
            ValidationError: the file does not say a time.
        """
        try:
            moment = datetime.fromisoformat(self._path.read_text("ascii")[:CLOCK_BYTES_MAX].strip())
        except (OSError, ValueError) as error:
            raise ValidationError("The test clock's file says no time.", hint="Write RFC 3339 into it.") from error
        return moment.astimezone(UTC)


def clock_of(env: Mapping[str, str], home: Path | None) -> Clock:
    """The clock of this process: `<REVERIE_HOME>/clock` where REVERIE_HOME is set and the file is there."""
    if home is not None and env.get("REVERIE_HOME") and (home / CLOCK_FILE).is_file():
        return FileClock(home / CLOCK_FILE)
    return SystemClock()


def text_of(moment: datetime) -> str:
    """RFC 3339 in UTC with milliseconds, as every time in Reverie is written."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
