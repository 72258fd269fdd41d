"""Working states that were worked out a moment ago: asking again costs nothing, a turn later only what is new."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from reverie.usecases.incremental_state import StatePlan

__all__ = ["States"]

KEPT_MAX = 500  # of some tens of kilobytes each

Mark: TypeAlias = tuple[Any, ...]


class States:
    """The newest state of each thread, with the mark of what it was made from. Safe for use by many threads."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[str, str], tuple[Mark, StatePlan]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, place: tuple[str, str]) -> tuple[Mark, StatePlan] | None:
        """The newest state of a thread (`(space, thread)`), with the mark of what it was made from."""
        with self._lock:
            held = self._held.get(place)
            if held is not None:
                self._held.move_to_end(place)
            return held

    def put(self, place: tuple[str, str], mark: Mark, plan: StatePlan) -> None:
        """Keeps a state instead of the one before; the one that nobody asked for longest goes."""
        with self._lock:
            self._held[place] = (mark, plan)
            self._held.move_to_end(place)
            if len(self._held) > KEPT_MAX:
                self._held.popitem(last=False)
