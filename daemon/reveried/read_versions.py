"""What agents have seen of the memory files, so that none of them replaces unseen what somebody else wrote."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from reverie.usecases.lost_update_merge import Seen

__all__ = ["SeenFiles"]

CHARS_MAX = 16_000_000  # of all texts together

Place: TypeAlias = tuple[str, str, str, str]
"""Space, author, thread (empty without one) and path."""


class SeenFiles:
    """The text of each file as each agent knows it; after a restart nobody has seen anything. For one thread alone."""

    def __init__(self) -> None:
        self._held: OrderedDict[Place, Seen] = OrderedDict()
        self._chars = 0

    def get(self, place: Place) -> Seen | None:
        """What is known there."""
        return self._held.get(place)

    def put(self, place: Place, seen: Seen) -> None:
        """The agent has looked, or written; what was looked at longest ago is forgotten when there is too much."""
        before = self._held.pop(place, None)
        self._chars += len(seen.text) - (len(before.text) if before is not None else 0)
        self._held[place] = seen
        while self._chars > CHARS_MAX and len(self._held) > 1:
            _, oldest = self._held.popitem(last=False)
            self._chars -= len(oldest.text)
