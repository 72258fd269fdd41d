"""Entries that were opened a moment ago: the next context of a thread has all but the newest of them again."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from reverie.usecases.records import opened_entry

if TYPE_CHECKING:
    from reverie.models import Entry

__all__ = ["OpenedEntries"]

BYTES_MAX: Final = 8_000_000  # of sealed entries together
ENTRY_BYTES_MAX: Final = 200_000  # a larger one is opened each time


class OpenedEntries:
    """Entries by their sealed bytes, which say all of them; nobody changes what is inside. For one thread alone."""

    def __init__(self) -> None:
        self._held: OrderedDict[bytes, Entry] = OrderedDict()
        self._bytes = 0

    def open(self, thread_id: str, seq: int, data: bytes) -> Entry:
        """The entry at `seq` of a thread. Raises Damaged, naming it, where the bytes are not those that were sealed."""
        found = self._held.get(data)
        if found is not None and found.seq == seq:
            self._held.move_to_end(data)
            return found
        entry = opened_entry(thread_id, seq, data)
        if len(data) <= ENTRY_BYTES_MAX:
            self._keep(data, entry)
        return entry

    def _keep(self, data: bytes, entry: Entry) -> None:
        if data not in self._held:
            self._bytes += len(data)
        self._held[data] = entry
        self._held.move_to_end(data)
        while self._bytes > BYTES_MAX:
            oldest, _ = self._held.popitem(last=False)
            self._bytes -= len(oldest)
