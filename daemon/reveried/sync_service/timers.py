"""When a folder's bookkeeping is due: its records are to be kept, and what is made of the store to be brought up."""

from __future__ import annotations

from typing import Final

__all__ = ["MOST_S", "RECORD_S", "REST_TIMES", "SETTLED_S", "Pause", "Upkeep"]

SETTLED_S: Final = 1.0  # after the last change, records are kept and projections are brought up to date
MOST_S: Final = 60.0  # after the first one, they are brought up even if changes go on and on
REST_TIMES: Final = 20  # so many times longer than they took nothing is brought up again: 5 % of a CPU at most
RECORD_S: Final = 2.0  # after the first change, records are kept even if changes go on and on
RETRY_S: Final = 1.0  # before what failed is tried again, twice as long each time
RETRY_MOST_S: Final = 10.0


class Pause:
    """How long what fails again and again has to wait, in seconds."""

    def __init__(self) -> None:
        self._next: float | None = None

    def longer(self) -> float:
        """It has failed: seconds until the next try."""
        now = RETRY_S if self._next is None else self._next
        self._next = min(2 * now, RETRY_MOST_S)
        return now

    def over(self) -> None:
        """It has worked."""
        self._next = None


class Upkeep:
    """Times of a clock in seconds; None until something was written. A crash forgets at most `RECORD_S`.

    What fails waits longer each time, and holds nothing else up.
    """

    def __init__(self) -> None:
        self._since: float | None = None
        self._settled: float | None = None
        self._record: float | None = None
        self._rested = 0.0
        self._held = 0.0  # no records before
        self._records_wait, self._settles_wait = Pause(), Pause()

    def written(self, now: float) -> None:
        """Something was written."""
        if self._since is None:
            self._since = now
        self._settled = max(min(now + SETTLED_S, self._since + MOST_S), self._rested)
        if self._record is None:
            self._record = max(now + RECORD_S, self._held)

    def checks(self, now: float) -> None:
        """What only Reverie writes may have been changed or removed: it is brought up as soon as it may be."""
        if self._settled is None:
            self._since, self._settled = now, max(now, self._rested)

    @property
    def due(self) -> float | None:
        """When to ask `records` and `settles` again."""
        return min((time for time in (self._settled, self._record) if time is not None), default=None)

    def records(self, now: float) -> bool:
        """Whether records are to be kept now; the caller does so."""
        if self.due is None or now < max(self.due, self._held):
            return False
        self._record = None
        return True

    def settles(self, now: float) -> bool:
        """Whether all has been quiet and the projections are to be brought up now; the caller does so."""
        if self._settled is None or now < self._settled:
            return False
        self._settled = self._since = None
        return True

    def took(self, seconds: float, now: float) -> None:
        """How long the projections took that are done now: the more there is in a store, the less often they come."""
        self._rested = now + REST_TIMES * seconds
        self._settles_wait.over()

    def kept(self) -> None:
        """The records are kept."""
        self._held = 0.0
        self._records_wait.over()

    def records_failed(self, now: float) -> None:
        """They could not be kept."""
        self._record = self._held = now + self._records_wait.longer()

    def settles_failed(self, seconds: float, now: float) -> None:
        """The projections could not be brought up, and that took so long."""
        self._rested = now + max(REST_TIMES * seconds, self._settles_wait.longer())
        self._since, self._settled = now, self._rested
