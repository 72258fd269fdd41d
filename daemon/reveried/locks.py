"""Asyncio locks by name and space, work that many callers wait for, and a wait that a cancellation does not cut short.

A lock is created when it is first requested and freed when nothing refers to it any more.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

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


# Per event loop too: the work that runs now, by name and space.
_running: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str], asyncio.Task[object]]] = (
    WeakKeyDictionary()
)


async def wait_together(name: str, space: str, work: Callable[[], Coroutine[object, object, object]]) -> None:
    """Wait until `work` has ended, which runs once for all who come while it runs.

    All of them go on at the same moment; holders of a lock would go on one after the other, each in a turn of its own
    of a busy event loop. Work that fails is ended too: a caller that needs its result does the work itself.
    """
    running = _running.setdefault(asyncio.get_running_loop(), {})
    key = (name, space)
    task = running.get(key)
    if task is None:
        task = running[key] = asyncio.ensure_future(work())

        def ended(task: asyncio.Task[object]) -> None:
            del running[key]
            if not task.cancelled():
                task.exception()  # mark it as retrieved

        task.add_done_callback(ended)
    await asyncio.wait({task})


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
