"""Exponential back-off between the retries of a failed write or scan."""

from __future__ import annotations

from typing import Final

RETRY_S: Final = 1.0  # seconds before the first retry of what failed, doubled each time
# Seconds between two retries from then on: so long may a folder that can be read or written again, such as one on a
# mount that is back, wait for its sync. Set by hand.
RETRY_MOST_S: Final = 10.0


class Backoff:
    """Exponential back-off in seconds: 1, 2, 4, 8, and then always 10."""

    def __init__(self) -> None:
        self._next: float | None = None

    def next_delay(self) -> float:
        """Return the seconds until the next try, after another failure."""
        delay = RETRY_S if self._next is None else self._next
        self._next = min(2 * delay, RETRY_MOST_S)
        return delay

    def reset(self) -> None:
        """Reset the back-off after a success."""
        self._next = None
