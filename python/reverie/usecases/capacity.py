"""An estimate of how many tokens all memories of a space have, by which learning chooses the capacity tier.

It is made once and then follows the operations, so that a space of a hundred thousand memories is not read at each
learning. The exact count is that of `memory/long-term-memory.json` (seed 003).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from reverie import consolidate, tokenizer
from reverie.documents.index import long_term_entry
from reverie.models import Tier
from reverie.store import Key, Kind, MemoryRecord, Reader
from reverie.usecases.follow import changes

_STEP: Final = 2_000  # memories of one call, some 20 ms: recall waits for it
_COUNTED: Final = 16  # of so many memories one is counted in tokens; the bytes of the others give theirs
_DRIFT: Final = 0.05  # share by which the estimate may have grown, or the memories have become fewer, until then


@dataclass(slots=True)
class EstimatedTokens:
    """Running estimate of a space's memory tokens: up to some 5% too high (changes count twice), 1% sampling error.

    A changed memory is added again, and a deleted one is not taken away, until all are read anew.
    """

    _operation: int = -1  # the last operation that is in the estimate
    _bytes: int = 0  # of the memories' JSON
    _counted_bytes: int = 0  # of those that were counted in tokens
    _counted_tokens: int = 0
    _read_bytes: int = 0  # `_bytes` when all memories were read
    _memories: int = 0  # how many there were then
    _read_to: Key | None = None  # the last memory that was read
    _is_reading: bool = False

    def tier(self, reader: Reader, window: int) -> Tier | None:
        """Return the capacity tier for `window` tokens, or None while memories are still being read in steps."""
        if not self._is_reading:
            if self._follow(reader) and not (self._has_drifted(reader) and self._tier(window) is not Tier.GENEROUS):
                return self._tier(window)
            self._begin(reader)
        self._read_step(reader)
        return None if self._is_reading else self._tier(window)

    def _tier(self, window: int) -> Tier:
        tokens = self._bytes * self._counted_tokens // max(1, self._counted_bytes)
        return consolidate.tier(tokens, window)

    def _begin(self, reader: Reader) -> None:
        """Forget the estimate, to read every memory from the first one on."""
        self._operation, self._memories = reader.operation(), reader.count(Kind.MEMORY)
        self._bytes = self._counted_bytes = self._counted_tokens = 0
        self._read_to, self._is_reading = None, True

    def _read_step(self, reader: Reader) -> None:
        """Add up to `_STEP` memories. What was written since the first step is followed, and may be added twice."""
        records = list(reader.records(MemoryRecord, after=self._read_to, limit=_STEP))
        self._add(record for _, record in records)
        if len(records) == _STEP:
            self._read_to = records[-1][0]
            return
        self._is_reading, self._read_bytes = False, self._bytes
        if not self._follow(reader):
            self._operation = reader.operation()

    def _follow(self, reader: Reader) -> bool:
        """Add the memories that were written since the last call; return False where all are to be read."""
        exists = None if self._operation < 0 else changes(reader, Kind.MEMORY, self._operation)
        if exists is None:
            return False
        records = (reader.load(MemoryRecord, (name,)) for name in sorted(exists) if exists[name])
        self._add(record for record in records if record is not None)
        self._operation = reader.operation()
        return True

    def _add(self, records: Iterable[MemoryRecord]) -> None:
        for number, record in enumerate(records):
            entry = long_term_entry(record)
            self._bytes += len(entry)
            if number % _COUNTED == 0:
                self._counted_bytes += len(entry)
                self._counted_tokens += tokenizer.count(entry.decode())

    def _has_drifted(self, reader: Reader) -> bool:
        """Return True if the estimate may be far too high, so that it is worth reading all memories."""
        has_grown = self._bytes > (1 + _DRIFT) * self._read_bytes
        return has_grown or reader.count(Kind.MEMORY) < (1 - _DRIFT) * self._memories
