"""Access counts of memories: counted in memory by recalls, and written later in batches.

A recall must not wait for a durable commit, so it only counts here. The daemon writes the batches every few seconds and
when it stops; a process that is killed loses the counts since then, and nothing else.

A reader adds what is not written yet to what the store has. Which batches are written follows from a cursor that each
batch updates in its own transaction: so a snapshot has both or neither, and no access is counted twice or left out.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import msgspec

from reverie import wire
from reverie.store import AccessCursor, AccessRecord, Kind, MemoryRecord, Reader, RecordCache, Write, Writer

R = TypeVar("R")
M = TypeVar("M", MemoryRecord, wire.Memory)

BATCH_MEMORIES: Final = 256  # memories in one write: a few milliseconds of the writer
BATCHES_MAX: Final = 64  # of a space; while the store takes no writes, further accesses are not counted
_NEVER: Final = AccessRecord()


@dataclass(slots=True)
class _Batch:
    """The accesses of some memories since the batch before: how many, and the time of the last."""

    number: int
    counts: dict[str, AccessRecord] = field(default_factory=dict)


@dataclass(slots=True)
class _Counted:
    """The batches of a space, oldest first, the number of the last that was committed, and what the store has."""

    batches: list[_Batch] = field(default_factory=list)
    committed: int = 0
    stored: RecordCache[AccessRecord, AccessRecord] = field(default_factory=lambda: RecordCache(AccessRecord, _same))
    cursor: RecordCache[AccessCursor, AccessCursor] = field(default_factory=lambda: RecordCache(AccessCursor, _same))

    def waiting(self) -> list[_Batch]:
        """Return the batches with accesses that were not committed yet."""
        return [batch for batch in self.batches if batch.counts and batch.number > self.committed]


class AccessCounts:
    """Accesses of memories that may not be written yet, by space. Thread-safe."""

    def __init__(self, run: str) -> None:
        """Create counts without accesses. `run` names this process among all that count in the store."""
        self._run = run
        self._number = 0
        self._spaces: dict[str, _Counted] = {}
        self._lock = threading.Lock()

    def count(self, space: str, ids: Iterable[str], *, at: str) -> None:
        """Count one access of each of these memories, in this process until it is written."""
        with self._lock:
            batches = self._spaces.setdefault(space, _Counted()).batches
            for memory_id in ids:
                batch = batches[-1] if batches else None
                if batch is None or (memory_id not in batch.counts and len(batch.counts) >= BATCH_MEMORIES):
                    if len(batches) >= BATCHES_MAX:
                        return
                    batch = self._begin(batches)
                before = batch.counts.get(memory_id, AccessRecord())
                batch.counts[memory_id] = AccessRecord(count=before.count + 1, at=at)

    def counted(self, reader: Reader, ids: Sequence[str]) -> list[AccessRecord]:
        """Return the accesses of each memory: those in the reader's snapshot and those that it does not have yet."""
        with self._lock:
            space = self._spaces.setdefault(reader.space, _Counted())
            added = space.batches
            if added:
                written = self._number_of(space.cursor.load(reader, AccessCursor.KEY))
                added = [batch for batch in added if batch.number > written]
            return [self._total(reader, space, added, memory_id) for memory_id in ids]

    def with_accesses(self, reader: Reader, records: Sequence[M]) -> list[M]:
        """Return memories with their accesses, which are stored apart because reading is no operation."""
        counts = self.counted(reader, [record.id for record in records])
        return [
            msgspec.structs.replace(record, access_count=access.count, last_accessed_at=access.at)
            for record, access in zip(records, counts, strict=True)
        ]

    def with_access(self, reader: Reader, record: M) -> M:
        """Return a memory with its accesses, as `with_accesses`."""
        return self.with_accesses(reader, [record])[0]

    def spaces(self) -> list[str]:
        """Return the spaces with accesses that are not written yet."""
        with self._lock:
            return [space for space, counted in self._spaces.items() if counted.waiting()]

    def writes(self, space: str) -> list[Write[int]]:
        """Return a write for each batch of a space, oldest first; report its value to `committed` after its commit."""
        with self._lock:
            counted = self._spaces.setdefault(space, _Counted())
            # One that was committed stays until the next round: a reader may have a snapshot from before the commit.
            counted.batches = [batch for batch in counted.batches if batch.number > counted.committed]
            waiting = counted.waiting()
            if waiting:
                self._begin(counted.batches)  # for what is counted from now on: a batch that is written does not change
            return [self._write(space, batch) for batch in waiting]

    def committed(self, space: str, number: int) -> None:
        """Note that a space's batches up to `number` are in the store, so that they are not written again."""
        with self._lock:
            counted = self._spaces.setdefault(space, _Counted())
            counted.committed = max(counted.committed, number)
            counted.stored.clear()  # what a batch counted is another record now, and many memories are deleted by then

    @staticmethod
    def _total(reader: Reader, space: _Counted, added: Iterable[_Batch], memory_id: str) -> AccessRecord:
        """Return the stored accesses of a memory and those of the batches `added`."""
        access = space.stored.load(reader, (memory_id,)) or _NEVER
        for batch in added:
            counts = batch.counts.get(memory_id)
            if counts is not None:
                access = _sum(access, counts)
        return access

    def _begin(self, batches: list[_Batch]) -> _Batch:
        self._number += 1
        batches.append(_Batch(self._number))
        return batches[-1]

    def _write(self, space: str, batch: _Batch) -> Write[int]:
        """Return the write of a batch that no longer changes; committed twice, it counts once."""

        def body(writer: Writer) -> int:
            if batch.number > self._written(writer):
                for memory_id, added in batch.counts.items():
                    if not _may_be_read(writer, memory_id):
                        continue  # purged since it was recalled: its count must not come back
                    stored = writer.load(AccessRecord, (memory_id,)) or AccessRecord()
                    writer.save(_sum(stored, added), (memory_id,))
                writer.save(AccessCursor(run=self._run, batch=batch.number), AccessCursor.KEY)
            return batch.number

        return Write(space=space, who="recall", why="memory.access", body=body)

    def _written(self, reader: Reader) -> int:
        """Return the number of the last batch of this process in a snapshot; 0 where there is none."""
        return self._number_of(reader.load(AccessCursor, AccessCursor.KEY))

    def _number_of(self, cursor: AccessCursor | None) -> int:
        return cursor.batch if cursor is not None and cursor.run == self._run else 0


def _may_be_read(reader: Reader, memory_id: str) -> bool:
    """Return True if the memory is there, or deleted with versions from which an undo can restore it."""
    if reader.exists(Kind.MEMORY, (memory_id,)):
        return True
    return next(reader.record_versions(MemoryRecord, (memory_id,)), None) is not None


def _same(record: R) -> R:
    """Return a record as it is, for a cache of records."""
    return record


def _sum(stored: AccessRecord, added: AccessRecord) -> AccessRecord:
    return AccessRecord(count=stored.count + added.count, at=added.at)
