"""Giving memory back to the system after large requests and jobs.

The allocator keeps what was freed, in case it is needed again, and pages of the store's map stay resident once they
were read. So large messages would stay resident for good. Therefore, a moment after the last large piece of work,
both are given back: what is needed again is allocated again, or is still in the system's page cache.
"""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from reverie.store.lmdb_env import MAPS_LOCK
from reveried.linux import release_memory, release_pages

__all__ = ["LARGE_BYTES", "QUIET_S", "after_large"]

LARGE_BYTES = 256 * 1024  # of one request or job; less is reused by the next one
QUIET_S = 2.0  # seconds without large work; giving back between two large requests would only cost time

_timers: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.TimerHandle] = WeakKeyDictionary()


def after_large(size: int) -> None:
    """Plan to give memory back, if the work that ends now was on so many bytes that there is some."""
    if size < LARGE_BYTES:
        return
    loop = asyncio.get_running_loop()
    planned = _timers.get(loop)
    if planned is not None:
        planned.cancel()
    # In a thread: it walks the whole heap, and the event loop must answer meanwhile.
    _timers[loop] = loop.call_later(QUIET_S, loop.run_in_executor, None, _release)


def _release() -> None:
    """Give memory and pages of the store's map back, these while the map stays where it is.

    Were it moved or closed after its address was read, the pages of what is there by then would be emptied. Walking the
    heap takes longer, and no commit that lets the map grow has to wait for that.
    """
    release_memory()
    with MAPS_LOCK:
        release_pages("data.mdb")
