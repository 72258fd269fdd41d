"""A bounded map of values by key: the least recently used are dropped, but none that is still in use."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = ["RecentlyUsed"]

V = TypeVar("V")


class RecentlyUsed(Generic[V]):
    """At most `count` values that nothing uses now; one that is in use, as its lock is, stays the same object."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._recent: OrderedDict[Hashable, V] = OrderedDict()
        self._alive: WeakValueDictionary[Hashable, V] = WeakValueDictionary()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the value of a key, made by `make` where there is none."""
        value = self._alive.get(key)
        if value is None:
            value = self._alive[key] = make()
        self._recent[key] = value
        self._recent.move_to_end(key)
        if len(self._recent) > self._count:
            self._recent.popitem(last=False)
        return value

    def remove(self, key: Hashable) -> None:
        """Remove the value of a key, if there is one."""
        self._recent.pop(key, None)
        self._alive.pop(key, None)
