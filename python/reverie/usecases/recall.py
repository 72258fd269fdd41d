"""Recall: search indexes over the memories of each space, kept up to date with the store by its operations.

An index is built from all memories once. After that it follows the operations: each call first applies those that were
committed since the last one, so that what was written is found by the next recall and what was deleted is not. `save`
puts it into files, from which the next process goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

from reverie import text_recall
from reverie.models import MemoryType
from reverie.store import Kind, MemoryRecord, Reader, RecordCache, Snapshot, Store
from reverie.text_index import Index, Segment
from reverie.text_recall import Counted, Found
from reverie.usecases.follow import BEHIND_MAX, changes, operation_checksum
from reverie.usecases.saved_index import SavedIndex, SavedIndexes

T = TypeVar("T")

OPERATIONS_PER_MEMORY: Final = 2  # an operation is read in 10 µs, a memory read and indexed in 25 µs
AT_ONCE_OPERATIONS: Final = 16  # behind: applied in a millisecond, before a search that does not wait
AT_ONCE_MEMORIES: Final = 8  # changed by these
BUILD_BATCH: Final = 1_000  # memories that are in this process at one time
BUFFER_MAX: Final = 20_000  # memories in the index's buffer while it is built; about 10 MB


class MemoryIndex:
    """A search index over one space's memories. Not thread-safe.

    `saved` are its files, None if it is in memory only. `unsaved` counts changes since; a new index has each memory.
    """

    def __init__(self, saved: SavedIndex | None = None) -> None:
        """Begin without memories."""
        self.saved = saved
        self.unsaved = 0
        self._index = text_recall.SearchIndex()
        self._operation: int | None = None  # the last operation that is in the index
        self._snapshot: Snapshot | None = None  # in which the index was seen to be current
        self._many_since: int | None = None  # the operation that too much follows for a recall that does not wait
        self._found: RecordCache[MemoryRecord, Counted[MemoryRecord]] = RecordCache(MemoryRecord, text_recall.counted)

    def is_current(self, reader: Reader) -> bool:
        """Return whether the index has everything that the reader's snapshot has."""
        if self._snapshot is not None and self._snapshot == reader.snapshot:
            return True
        if self._operation is None or self._operation != reader.operation():
            return False
        self._snapshot = reader.snapshot
        return True

    def catch_up(self, reader: Reader) -> None:
        """Bring the index to the reader's snapshot: load it, apply the operations since then, or build it again."""
        if self.is_current(reader):
            return
        now = reader.operation()
        if self._operation is None:
            self._load(reader)
        if self._operation is None or not self._update(reader, self._operation):
            self._build(reader)
        self._operation, self._snapshot = now, reader.snapshot

    def build_again(self, reader: Reader) -> None:
        """Build the index again because its files cannot be used any more."""
        if self.saved is not None:
            self.saved.delete()
        self._build(reader)
        self._operation, self._snapshot = reader.operation(), reader.snapshot

    def recall(self, reader: Reader, query: str, **options: Any) -> Found[MemoryRecord]:
        """Return the best memories for `query` if it is related to them; options of `SearchIndex.recall`.

        Raises OSError for a damaged file.
        """

        def load(memory_id: str) -> Counted[MemoryRecord] | None:
            return self._found.load(reader, (memory_id,))

        return self._index.recall(query, load, **options)

    def nearest(self, query: str, limit: int, **options: Any) -> list[str]:
        """Return ids of the best memories for `query`; options of `SearchIndex.nearest`. Raises OSError."""
        return self._index.nearest(query, limit, **options)

    def forget_found(self) -> None:
        """Drop this process's copies of memories that were found by a search."""
        self._found.clear()

    def is_ready(self, reader: Reader) -> bool:
        """Return True if a recall is as fast as a search; applies a few changes first if needed. Raises OSError."""
        if not self.is_current(reader):
            since, now = self._operation, reader.operation()
            if since is None or since == self._many_since or not since < now <= since + AT_ONCE_OPERATIONS:
                return False
            if not self._update(reader, since, AT_ONCE_MEMORIES):
                self._many_since = since  # hundreds of recalls may come before the index has caught up
                return False
            self._operation, self._snapshot = now, reader.snapshot
        return True

    def ids(
        self,
        types: Collection[MemoryType] | None,
        tags: Collection[str] | None,
        projects: Collection[str] | None,
        *,
        after: str,
        limit: int,
    ) -> list[str]:
        """Return ids above `after` of memories of one of the types and projects, with all tags. Raises OSError."""
        return self._index.ids(types, tags, projects, after=after, limit=limit)

    @property
    def index(self) -> Index:
        """The index itself."""
        return self._index.index

    def flush(self) -> tuple[list[Segment], int]:
        """Write the unsaved entries to a segment; return all segments and the last operation. Raises OSError."""
        assert self.saved is not None
        assert self._operation is not None
        if self.index.buffered:
            self.index.flush(self.saved.new_path())
        return self.index.segments(), self._operation

    def _load(self, reader: Reader) -> None:
        """Take over the saved index where there is one that fits the store."""
        saved_index = None if self.saved is None else self.saved.open(lambda number: operation_checksum(reader, number))
        if saved_index is not None:
            index, self._operation = saved_index
            self._index = text_recall.SearchIndex(index)

    def _update(self, reader: Reader, since: int, most: int | None = None) -> bool:
        """Apply the operations after `since`; return False where the index is to be built again.

        Nor are changes of more than `most` memories applied.
        """
        memories = reader.count(Kind.MEMORY)
        exists = changes(reader, Kind.MEMORY, since, max(BEHIND_MAX, OPERATIONS_PER_MEMORY * memories))
        if exists is None or (most is not None and len(exists) > most):
            return False
        for ids in _batches(sorted(exists)):
            # A deleted one is not looked up: that the store has none would be verified by reading all memories.
            records = {name: reader.load(MemoryRecord, (name,)) if exists[name] else None for name in ids}
            for name, record in records.items():
                if record is None:
                    self._index.remove(name)
                    self._found.forget((name,))
            self._index.add_many(record for record in records.values() if record is not None)
        self.unsaved += len(exists)
        return len(self._index) == memories

    def _build(self, reader: Reader) -> None:
        """Build the index from every memory."""
        self._index = text_recall.SearchIndex()
        self.unsaved = 0
        for records in _batches(record for _, record in reader.records(MemoryRecord)):
            self._index.add_many(records)
            self.unsaved += len(records)
            if self.saved is not None and self._index.index.buffered >= BUFFER_MAX:
                with suppress(OSError):  # on a full disk they stay in memory
                    self._index.index.flush(self.saved.new_path())


class Recall(SavedIndexes[MemoryIndex]):
    """The indexes over the memories of all spaces of a store.

    One lock for all of them is enough, because a search takes well under a millisecond.
    """

    def __init__(self, store: Store, folder: Path | None = None) -> None:
        """Take a store and the folder in which its indexes are saved; with None they are not saved."""
        super().__init__(store, folder)

    def recall(self, space: str, query: str, **options: Any) -> Found[MemoryRecord]:
        """Return the best memories of `space` for `query` if it is related to them; options of `SearchIndex.recall`."""
        with self._lock:
            return self._answer(space, lambda index, reader: index.recall(reader, query, **options))

    def recall_at_once(self, reader: Reader, query: str, **options: Any) -> Found[MemoryRecord] | None:
        """Return what `recall` returns, or None where the index is busy or not up to date, so that it never waits."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            index = self._indexes.get(reader.space)
            return index.recall(reader, query, **options) if index is not None and index.is_ready(reader) else None
        except OSError:
            return None  # a damaged file: `recall` builds the index again
        finally:
            self._lock.release()

    def ask(self, space: str, question: Callable[[MemoryIndex, Reader], T]) -> T:
        """Return what `question` returns for the index of a space and the reader whose snapshot it has."""
        with self._lock:
            return self._answer(space, question)

    def listed(
        self,
        space: str,
        answer: Callable[[Reader, MemoryRecord], T],
        *,
        types: Collection[MemoryType] | None,
        tags: Collection[str] | None,
        projects: Collection[str] | None = None,
        after: str,
        limit: int,
    ) -> list[tuple[str, T]]:
        """Return id and answer of up to `limit` memories after `after`: of the types and projects, with all tags."""

        def collect(index: MemoryIndex, reader: Reader) -> list[tuple[str, T]]:
            ids = index.ids(types, tags, projects, after=after, limit=limit)
            records = ((name, reader.load(MemoryRecord, (name,))) for name in ids)
            return [(name, answer(reader, record)) for name, record in records if record is not None]

        with self._lock:
            return self._answer(space, collect)

    def lines(
        self, space: str, query: str, *, limit: int, projects: Collection[str] | None = None
    ) -> list[tuple[str, str, str]]:
        """Return the memories that are related to `query` as lines of a context: text, memory id, document."""
        if not query:
            return []
        hits = self.recall(space, query, limit=limit, projects=projects).hits
        return [(text_recall.recall_line(hit.memory), hit.memory.id, hit.memory.document) for hit in hits]

    def catch_up(self, space: str) -> int:
        """Bring the index of a space up to date; return how many of its changes are not saved."""
        with self._lock:
            return self._answer(space, lambda index, _: index.unsaved)

    def forget(self, space: str) -> None:
        """Save the index of a space without any word of a memory that was deleted or replaced.

        For a purge: call it after the commit. Until then a segment has the terms of its removed memories.

        Raises:
            StorageFailed: its files can neither be written nor deleted.
        """
        with self._lock:
            index = self._answer(space, lambda index, _: index)
            index.forget_found()
        self._rewrite(space, index, lambda segments: [segments] if segments else [])

    def _answer(self, space: str, ask: Callable[[MemoryIndex, Reader], T]) -> T:
        """Return what `ask` returns for a space's index, brought up to date first; the caller has the lock."""
        with self._store.reader(space) as reader:
            index = self._indexes.get(space)
            if index is None:
                path = self._path(space)
                index = self._indexes[space] = MemoryIndex(None if path is None else SavedIndex(path))
            index.catch_up(reader)
            try:
                return ask(index, reader)
            except OSError:
                index.build_again(reader)
                return ask(index, reader)


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield lists of up to BUILD_BATCH items."""
    iterator = iter(items)
    while batch := list(islice(iterator, BUILD_BATCH)):
        yield batch
