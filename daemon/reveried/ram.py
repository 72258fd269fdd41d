"""Giving memory back to the system after large requests and jobs, and once in a while after small ones.

The allocator keeps what was freed, in case it is needed again, and pages of the store's map stay resident once they
were read. So large messages would stay resident for good. Therefore, a moment after the last large piece of work,
both are given back: what is needed again is allocated again, or is still in the system's page cache. What small pieces
leave is mostly reused, but what they free lies between what stays, and half an hour of them costs some 15 MB. So
after any work both are given back within a minute; a daemon without work does nothing. What functions keep of the texts
of that minute is dropped before: it would grow with all texts that were ever looked at.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple
from weakref import WeakKeyDictionary

from reverie.store.env import MAPS_LOCK
from reverie.text_caches import clear_text_caches
from reveried.linux import release_memory, release_pages

LARGE_BYTES = 256 * 1024  # of one request or job; less is reused by the next one
QUIET_S = 2.0  # seconds without large work; giving back between two large requests would only cost time
REGULAR_S = 60.0  # seconds after the first piece of work, of any size, at the latest


class _Planned(NamedTuple):
    """A planned release of memory: its timer, and the latest loop time to which more work can postpone it."""

    timer: asyncio.TimerHandle
    latest: float


_planned: WeakKeyDictionary[asyncio.AbstractEventLoop, _Planned] = WeakKeyDictionary()


def after_work(size: int) -> None:
    """Plan to give memory back after a request or job of so many bytes: soon if it is large, else within a minute."""
    loop = asyncio.get_running_loop()
    planned = _planned.get(loop)
    if planned is not None and size < LARGE_BYTES:
        return
    now = loop.time()
    latest = now + REGULAR_S
    if planned is not None:
        planned.timer.cancel()
        latest = planned.latest
    when = latest if size < LARGE_BYTES else min(latest, now + QUIET_S)
    _planned[loop] = _Planned(loop.call_at(when, _begin, loop), latest)


def _begin(loop: asyncio.AbstractEventLoop) -> None:
    """Give memory back in a thread: it walks the whole heap, and the event loop must answer meanwhile."""
    _planned.pop(loop, None)
    loop.run_in_executor(None, _release)


def _release() -> None:
    """Empty caches, return freed memory to the system, and drop the store's mapped pages while its map cannot change.

    Were it moved or closed after its address was read, the pages of what is there by then would be emptied. Walking the
    heap takes longer, and no commit that lets the map grow has to wait for that.
    """
    clear_text_caches()
    release_memory()
    with MAPS_LOCK:
        release_pages("data.mdb")
