"""When a folder's bookkeeping is due: its records are to be kept, and what is made of the store to be brought up."""

from __future__ import annotations

from typing import Final

__all__ = ["RECORD_S", "SETTLED_S", "Upkeep"]

SETTLED_S: Final = 1.0  # after the last change, records are kept and projections are brought up to date
RECORD_S: Final = 2.0  # after the first one, records are kept even if changes go on and on


class Upkeep:
    """Two times of a clock in seconds; both None until something was written. A crash forgets at most `RECORD_S`."""

    def __init__(self) -> None:
        self._settled: float | None = None
        self._record: float | None = None

    def written(self, now: float) -> None:
        """Something was written."""
        self._settled = now + SETTLED_S
        if self._record is None:
            self._record = now + RECORD_S

    @property
    def due(self) -> float | None:
        """When to ask `records` again."""
        return min((time for time in (self._settled, self._record) if time is not None), default=None)

    def records(self, now: float) -> bool:
        """Whether records are to be kept now; the caller does so."""
        if self.due is None or now < self.due:
            return False
        self._record = None
        return True

    def settles(self, now: float) -> bool:
        """Whether all has been quiet and the projections are to be brought up now; the caller does so."""
        if self._settled is None or now < self._settled:
            return False
        self._settled = None
        return True
