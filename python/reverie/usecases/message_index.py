"""The search index over messages and documents of one space, brought up to date with the store in small steps.

It is a projection like that over memories (`recall.py`), with one difference: a space may have a million messages, so
it is never built or caught up in one go. Each step reads some hundred entries, and steps of a build, searches and other
requests take turns. What a build has not reached yet is not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from reverie import search
from reverie.errors import ValidationError
from reverie.store import DocumentRecord, Kind, OperationRecord, Reader, ThreadRecord, to_ms
from reverie.text_index import Index, IndexEntry, Segment
from reverie.usecases.entries import speech_entry
from reverie.usecases.follow import is_kept, operation_checksum
from reverie.usecases.projects import of_thread
from reverie.usecases.saved_index import SavedIndex

STEP_ENTRIES: Final = 500  # read in one step, about 30 ms
STEP_OPERATIONS: Final = 500  # an operation is read in 10 µs
BUFFER_MAX: Final = 20_000  # messages in memory while an index is built; about 30 MB
IDS_AT_ONCE: Final = 1_000  # of messages that are removed

new_index = partial(Index, k1=search.K1, b=search.B)


class MessageIndex:
    """A search index over one space's messages and documents. Not thread-safe, except for searching in `index`.

    `saved` are its files, None where it is in memory only. `unsaved` counts the changes since it was saved.
    """

    def __init__(self, saved: SavedIndex | None = None) -> None:
        """Create an empty index, to be filled by `step`; `saved` is the index on disk, if there is one."""
        self.saved = saved
        self.unsaved = 0
        self.index = new_index()
        self.projects: dict[str, str | None] = {}  # of each thread
        self._operation: int | None = None  # the last operation that is in the index; None until it is built
        self._build: Iterator[tuple[str, int, int]] | None = None  # the runs of entries that are still to be read
        self._built_from = 0  # the last operation when the build began

    def is_current(self, reader: Reader) -> bool:
        """Return whether the index has everything that the reader's snapshot has."""
        return self._operation is not None and self._operation == reader.operation()

    def step(self, reader: Reader) -> bool:
        """Bring the index one step nearer to the reader's snapshot; return True if it has all of it. Raises OSError."""
        if self._operation is None and self._build is None and not self._load(reader):
            self._begin(reader)
        if self._build is not None:
            self._build_on(reader)
        elif self._operation is not None and self._operation != reader.operation():
            self._update(reader, self._operation)
        return self.is_current(reader)

    def forget(self) -> None:
        """Give up the index because its files cannot be used any more; the next steps build it again."""
        if self.saved is not None:
            self.saved.delete()
        self.index = new_index()
        self.unsaved, self._operation, self._build = 0, None, None

    def flush(self) -> tuple[list[Segment], int] | None:
        """Write unsaved entries to a segment; return all segments and the last operation; None while building.

        None while the index is built: it has no operation yet that a manifest could name.
        """
        if self._operation is None or self.saved is None:
            return None
        if self.index.buffered:
            self.index.flush(self.saved.new_path())
        return self.index.segments(), self._operation

    def _load(self, reader: Reader) -> bool:
        """Use the saved index if it fits the store; return True if there is one."""
        saved_index = None if self.saved is None else self.saved.open(lambda number: operation_checksum(reader, number))
        if saved_index is None or not is_kept(reader, saved_index[1]):
            return False
        self.index, self._operation = saved_index
        self.projects = {thread.id: of_thread(thread) for _, thread in reader.records(ThreadRecord)}
        return True

    def _begin(self, reader: Reader) -> None:
        """Begin to build the index from every entry and document that is there now; what comes later follows it."""
        self.index = new_index()
        self.unsaved = 0
        self._built_from = reader.operation()
        for _, document in reader.records(DocumentRecord):
            self._add(search.document_units(document.path, document.content, ms_of(document.updated_at)))
        threads = [thread for _, thread in reader.records(ThreadRecord)]
        self.projects = {thread.id: of_thread(thread) for thread in threads}
        self._build = _runs([(thread.id, thread.last_seq) for thread in threads])

    def _build_on(self, reader: Reader) -> None:
        """Index the next runs of entries; at the end the index is as of the operation at which the build began."""
        assert self._build is not None
        read = 0
        for thread, after, through in self._build:
            self._index_run(reader, thread, after, through)
            read += through - after
            if read >= STEP_ENTRIES:
                break
        else:
            self._build, self._operation = None, self._built_from
        if self.saved is not None and self.index.buffered >= BUFFER_MAX:
            with suppress(OSError):  # on a full disk they stay in memory
                self.index.flush(self.saved.new_path())

    def _update(self, reader: Reader, since: int) -> None:
        """Apply some operations after `since` to the index; forget the index if the store no longer has them."""
        if not is_kept(reader, since):
            self.forget()
            return
        runs: dict[str, list[tuple[int, int]]] = {}
        deleted: set[str] = set()
        documents: set[str] = set()
        changed: set[str] = set()
        last = since
        read = 0
        for _, operation in reader.records(OperationRecord, after=(since,), limit=STEP_OPERATIONS):
            for change in operation.changes:
                name = str(change.key[0]) if change.key else ""
                if change.kind is Kind.DOCUMENT:
                    documents.add(name)
                elif change.kind is Kind.ENTRY and change.first is not None and change.last is not None:
                    runs.setdefault(name, []).append((change.first - 1, change.last))
                    read += change.last + 1 - change.first
                elif change.kind is Kind.THREAD and change.after is not None:
                    changed.add(name)
                elif change.kind in (Kind.ENTRY, Kind.THREAD):  # purged, or deleted
                    deleted.add(name)
                    runs.pop(name, None)  # a thread of the same id that is made again has runs after this
            last = operation.seq
            if read >= STEP_ENTRIES:
                break
        for name in sorted(deleted):
            self._remove(f"thread:{name}")
            self.projects.pop(name, None)
        for name in changed:
            thread = reader.load(ThreadRecord, (name,))
            if thread is not None:  # else a later operation has deleted it
                self.projects[name] = of_thread(thread)
        for name, parts in runs.items():
            for after, through in parts:
                self._index_run(reader, name, after, through)
        for path in sorted(documents):
            self._renew_document(reader, path)
        self._operation = last

    def _index_run(self, reader: Reader, thread_id: str, after: int, through: int) -> None:
        """Index the entries `after` + 1 to `through` of a thread; nothing where it was deleted meanwhile."""
        thread = reader.load(ThreadRecord, (thread_id,))
        if thread is None:
            return
        units: list[IndexEntry] = []
        for seq, data in reader.sealed_sequence(Kind.ENTRY, (thread_id,), after=after, through=through):
            entry = speech_entry(thread_id, seq, data)
            unit = None if entry is None else search.message_unit(thread_id, thread.agent, entry, ms_of(entry.at))
            if unit is not None:
                units.append(unit)
        self._add(units)

    def _renew_document(self, reader: Reader, path: str) -> None:
        """Index a document as it is now, in place of what it was."""
        self._remove(f"document:{path}")
        document = reader.load(DocumentRecord, (path,))
        if document is not None:
            self._add(search.document_units(path, document.content, ms_of(document.updated_at)))

    def _add(self, units: Sequence[IndexEntry]) -> None:
        self.index.add_many(units)
        self.unsaved += len(units)

    def _remove(self, group: str) -> None:
        """Remove all messages or sections of a group from the index."""
        while ids := self.index.ids([[group]], "", IDS_AT_ONCE):
            for unit in ids:
                self.index.remove(unit)
            self.unsaved += len(ids)


def _runs(threads: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int, int]]:
    """Yield all entries of threads (id, last entry) in runs of at most STEP_ENTRIES: thread, entry before, last one."""
    for thread, last in threads:
        for after in range(0, last, STEP_ENTRIES):
            yield thread, after, min(after + STEP_ENTRIES, last)


def ms_of(at: str | None) -> int | None:
    """Return a stored time in milliseconds since 1970; None where it is none."""
    if at is None:
        return None
    try:
        return to_ms(at)
    except ValidationError:
        return None
