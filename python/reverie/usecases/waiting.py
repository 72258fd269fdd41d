"""The number of candidates that wait for a person, without reading all of them for each answer."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from reverie.store import CandidateRecord, Kind, Reader

BEHIND_MAX: Final = 2_000  # operations; further behind, reading all candidates again is faster


@dataclass(slots=True)
class _Known:
    """The ids of the candidates that wait, as of an operation."""

    operation: int
    ids: set[str]


class WaitingCandidates:
    """Counts the candidates of each space that wait: all are read once, later only those that changed. Thread-safe."""

    def __init__(self) -> None:
        """Create counts of which none has been read yet."""
        self._spaces: dict[str, _Known] = {}
        self._lock = threading.Lock()

    def count(self, reader: Reader) -> int:
        """Return how many candidates wait in the reader's snapshot."""
        with self._lock:
            cache = self._spaces.get(reader.space)
            now = reader.operation()
            if cache is None or not self._can_catch_up(reader, cache.operation, now):
                ids = {record.id for _, record in reader.records(CandidateRecord) if record.state == "waiting"}
                self._spaces[reader.space] = _Known(now, ids)
                return len(ids)
            if now > cache.operation:
                for name in reader.touched(Kind.CANDIDATE, cache.operation):
                    record = reader.load(CandidateRecord, (name,))
                    if record is not None and record.state == "waiting":
                        cache.ids.add(name)
                    else:
                        cache.ids.discard(name)
                cache.operation = now
            return len(cache.ids)

    @staticmethod
    def _can_catch_up(reader: Reader, since: int, now: int) -> bool:
        """Return True if only a few operations came after `since`, and the store still has all of them."""
        return since <= now <= since + BEHIND_MAX and reader.first_seq(Kind.OPERATION) <= since + 1
