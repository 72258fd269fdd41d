"""The daemon's clock: the system's, or in tests the time in a file under REVERIE_HOME."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CLOCK_FILE = "clock"
CLOCK_BYTES_MAX = 64


class Clock(Protocol):
    """A source of the current time."""

    @property
    def heartbeat_s(self) -> float:
        """Return the seconds after which a timer must read the clock again, since it may have jumped."""
        ...

    def now(self) -> datetime:
        """Return the current time, with its time zone."""
        ...


class SystemClock:
    """The system's clock; the heartbeat is for timers, whose monotonic time does not advance in suspend."""

    heartbeat_s = 30.0

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)


class FileClock:
    """The time written in a file (RFC 3339), so that a test can move a daemon through days."""

    heartbeat_s = 0.1

    def __init__(self, path: Path) -> None:
        self._path = path

    def now(self) -> datetime:
        """Return the time in the file, in UTC.

        Raises:
            ValidationError: the file has no time.
        """
        try:
            moment = datetime.fromisoformat(self._path.read_text("ascii")[:CLOCK_BYTES_MAX].strip())
        except (OSError, ValueError) as error:
            raise ValidationError("The test clock's file says no time.", hint="Write RFC 3339 into it.") from error
        return moment.astimezone(UTC)


def clock_of(env: Mapping[str, str], home: Path | None) -> Clock:
    """Return the clock of this process: `<REVERIE_HOME>/clock` where the variable and the file exist."""
    if home is not None and env.get("REVERIE_HOME") and (home / CLOCK_FILE).is_file():
        return FileClock(home / CLOCK_FILE)
    return SystemClock()


def text_of(moment: datetime) -> str:
    """Return a time as RFC 3339 in UTC with milliseconds, the format of every stored time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
