"""Locks by name, one at a time for each space: made when first wanted, gone when nobody holds them."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary, WeakValueDictionary

__all__ = ["turn"]

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
