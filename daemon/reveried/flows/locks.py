"""Locks by name, one at a time for each space, and work that keeps its turn until it has ended.

A lock is made when it is first wanted, and gone when nobody holds it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Awaitable

__all__ = ["to_the_end", "turn"]

T = TypeVar("T")

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakValueDictionary[tuple[str, str], asyncio.Lock]] = (
    WeakKeyDictionary()
)


def turn(what: str, space: str) -> asyncio.Lock:
    """The lock of `what` (files, memories, an import's id) in `space`, within the running loop."""
    turns = _turns.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    lock = turns.get((what, space))
    if lock is None:
        lock = turns[what, space] = asyncio.Lock()
    return lock


async def to_the_end(work: Awaitable[T]) -> T:
    """What `work` gives. A caller that is cancelled is so once it has ended: nothing stops what a thread does.

    Raises what `work` raises.
    """
    running = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return running.result()
    if not running.cancelled():
        running.exception()  # nobody is left to be told of it
    raise cancelled
