"""Asyncio locks by name and space, and a wait for thread work that a cancellation does not cut short.

A lock is created when it is first requested and freed when nothing refers to it any more.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Awaitable

__all__ = ["finish_before_cancel", "keyed_lock"]

T = TypeVar("T")

# Per event loop, because an asyncio lock belongs to the loop that first waits for it (tests run one loop each).
_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakValueDictionary[tuple[str, str], asyncio.Lock]] = (
    WeakKeyDictionary()
)


def keyed_lock(name: str, space: str) -> asyncio.Lock:
    """Return the running loop's lock of `name` ("files", "memories", an import's id) in `space`."""
    locks = _locks.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    lock = locks.get((name, space))
    if lock is None:
        lock = locks[name, space] = asyncio.Lock()
    return lock


async def finish_before_cancel(work: Awaitable[T]) -> T:
    """Return the result of `work`; a cancelled caller gets its CancelledError only after `work` has ended.

    For work in a thread: cancelling its awaitable would not stop the thread, and a lock released around it would let
    the next holder run beside it. Raises what `work` raises.
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
        running.exception()  # mark it as retrieved: the caller is gone, and asyncio would log it as lost
    raise cancelled
