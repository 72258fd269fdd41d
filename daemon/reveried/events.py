"""Tells those who follow the events that there are new ones; the events themselves are read from the store."""

from __future__ import annotations

import asyncio

from reverie.errors import Busy

__all__ = ["Events", "Subscription"]


class Subscription:
    """One follower: wakes when something was committed. Waking too often is harmless, the store is asked each time."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._news = asyncio.Event()

    def close(self) -> None:
        """Gives the place back; twice is once."""
        self._events.discard(self)

    def wake(self) -> None:
        """There may be something new."""
        self._news.set()

    async def wait(self, seconds: float) -> bool:
        """True when something may be new, False after `seconds` without news, or when the daemon stops."""
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            return False
        self._news.clear()
        return True

    @property
    def ended(self) -> bool:
        """Whether the daemon is stopping."""
        return self._events.ended


class Events:
    """All followers of this process."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, subscribers: int = 64) -> None:
        self._loop = loop
        self._limit = subscribers
        self._subscriptions: set[Subscription] = set()
        self.ended = False

    def subscribe(self) -> Subscription:
        """A new follower, to be closed by whoever asked.

        Raises:
            Busy: all places are taken.
        """
        if len(self._subscriptions) >= self._limit:
            raise Busy("Too many follow the events.", hint="Close another stream first.", retryAfter=5)
        subscription = Subscription(self)
        self._subscriptions.add(subscription)
        return subscription

    def discard(self, subscription: Subscription) -> None:
        """Gives a place back."""
        self._subscriptions.discard(subscription)

    @property
    def followers(self) -> int:
        """How many follow now."""
        return len(self._subscriptions)

    def committed(self) -> None:
        """Something was committed; may be called from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def end(self) -> None:
        """The daemon stops: every follower wakes and finds `ended`."""
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        for subscription in self._subscriptions:
            subscription.wake()
