"""Wake-ups for the readers of the event stream; the events themselves are read from the store."""

from __future__ import annotations

import asyncio

from reverie.errors import Busy


class Subscription:
    """One reader's wake-up, set after each commit; one without news is harmless, since the reader asks the store."""

    def __init__(self, events: Events, *, counted: bool) -> None:
        self._events = events
        self.counted = counted
        self._wake_up = asyncio.Event()

    def close(self) -> None:
        """End this subscription and free its slot; a second call does nothing."""
        self._events.discard(self)

    def wake(self) -> None:
        """Wake the reader of this subscription."""
        self._wake_up.set()

    async def wait(self, seconds: float) -> bool:
        """Return True after a wake-up (also when the daemon stops), False after `seconds` without one."""
        try:
            await asyncio.wait_for(self._wake_up.wait(), seconds)
        except TimeoutError:
            return False
        self._wake_up.clear()
        return True

    @property
    def ended(self) -> bool:
        """Return whether the daemon is stopping."""
        return self._events.ended


class Events:
    """The subscriptions of this process, at most `subscribers`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, subscribers: int = 64) -> None:
        self._loop = loop
        self._limit = subscribers
        self._subscriptions: set[Subscription] = set()
        self.ended = False

    def subscribe(self, *, counted: bool = True) -> Subscription:
        """Return a new subscription, to be closed by the caller.

        One that is not `counted` has no place among those allowed: every agent's client has such a stream all day.

        Raises:
            Busy: there are as many as allowed.
        """
        if counted and sum(one.counted for one in self._subscriptions) >= self._limit:
            raise Busy("Too many follow the events.", hint="Close another stream first.", retryAfter=5)
        subscription = Subscription(self, counted=counted)
        self._subscriptions.add(subscription)
        return subscription

    def discard(self, subscription: Subscription) -> None:
        """Remove a subscription; unknown ones are ignored."""
        self._subscriptions.discard(subscription)

    @property
    def readers(self) -> int:
        """Return the number of subscriptions."""
        return len(self._subscriptions)

    def notify(self) -> None:
        """Wake every reader after a commit; thread-safe."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def end(self) -> None:
        """Wake every reader for the last time; they find `ended` set."""
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        for subscription in self._subscriptions:
            subscription.wake()
