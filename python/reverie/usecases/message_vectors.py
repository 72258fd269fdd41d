"""Vectors of the messages of all spaces, one per message, embedded in small steps behind the requests, and saved."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from reverie import search
from reverie.embedding import Embedder, Vectors
from reverie.embedding.table import numpy
from reverie.errors import EmbedderFailed, ReverieError
from reverie.files import write_atomic
from reverie.private_folder import make_private
from reverie.store import Kind, OperationRecord, Reader, Store, ThreadRecord
from reverie.text_index import Filter
from reverie.usecases.entries import speech_entry
from reverie.usecases.follow import is_kept, operation_checksum
from reverie.usecases.message_index import ms_of

STEP_ENTRIES: Final = 32  # embedded at once, between looks whether something else waits
STEP_OPERATIONS: Final = 2_000
TEXT_CHARS: Final = 2_000  # of a message: what a model reads of it
SAVED_SHARE: Final = 50  # the file is written again when a fiftieth of the vectors is new


class _MessageVectors:
    """The vectors of one space. Not thread-safe but for `near`. `unsaved` counts changes since it was saved."""

    def __init__(self, embedder: Embedder, path: Path | None) -> None:
        """Create a table without vectors; the first step loads those saved at `path` (None: nothing is saved)."""
        self._embedder = embedder
        self._path = path
        self._np = numpy()
        self.unsaved = 0
        self._operation: int | None = None  # the last operation whose deletions are known; None: nothing is loaded
        self._through: dict[str, int] = {}  # the last embedded entry of each thread
        self._waiting: dict[str, None] = {}  # threads that may have more
        self._lock = threading.Lock()  # of `vectors`; not held while texts are embedded
        self.vectors = Vectors(self._np, embedder.name, embedder.dimensions)

    def step(self, reader: Reader) -> bool:
        """Embed some messages that have no vector yet; return True if all of this snapshot's messages have one.

        Raises:
            EmbedderFailed: the embedder cannot be used.
        """
        self.follow(reader)
        for thread in list(self._waiting):
            if not self._embed_some(reader, thread):
                return False
            del self._waiting[thread]
        return self._operation == reader.operation()

    def follow(self, reader: Reader) -> None:
        """Remove the vectors of deleted threads, and note the threads with new messages; nothing is embedded."""
        if self._operation is None:
            self._load(reader)
        while self._operation is not None and self._operation != reader.operation():
            if not is_kept(reader, self._operation):
                self._load(reader)
                return
            self._apply(reader, self._operation)

    def near(self, text: str, limit: int, threads: Collection[str] | None, within: Filter) -> list[tuple[str, float]]:
        """Return ids and cosines of the messages nearest to a question, in the given threads (None: all) and time.

        Callable while another thread makes a step.
        """
        vector = self._embedder.embed([text[:TEXT_CHARS]])[0]
        with self._lock:
            return self.vectors.near(vector, limit, threads=threads, since=within.since, before=within.before)

    def save(self, reader: Reader, *, at_once: bool = False) -> None:
        """Write the vectors to their file where much has changed, with `at_once` where anything has.

        Raises StorageFailed, DiskFull.
        """
        due = self.unsaved > 0 if at_once else self.unsaved * SAVED_SHARE > len(self.vectors)
        if self._path is None or self._operation is None or not due:
            return
        record = operation_checksum(reader, self._operation)
        if record is not None:
            state = {"operation": self._operation, "record": record, "through": self._through}
            make_private(self._path.parent)
            with self._lock:
                encoded = self.vectors.encoded(state)
            write_atomic(self._path, encoded)
            self.unsaved = 0

    def _load(self, reader: Reader) -> None:
        """Load the saved vectors if they fit the store and the embedder; then every thread is checked once."""
        self._forget()
        saved_vectors = None
        if self._path is not None:
            with suppress(OSError):
                saved_vectors = Vectors.decoded(self._np, self._path.read_bytes(), self._embedder.name)
        if saved_vectors is not None:
            vectors, state = saved_vectors
            operation = state["operation"]
            if operation_checksum(reader, operation) == state["record"] and is_kept(reader, operation):
                self.vectors, self._through, self._operation = vectors, dict(state["through"]), operation
        if self._operation is None:
            self._operation = reader.operation()
        self._waiting = {thread.id: None for _, thread in reader.records(ThreadRecord)}

    def _forget(self) -> None:
        self.vectors = Vectors(self._np, self._embedder.name, self._embedder.dimensions)
        self._operation, self._through, self._waiting, self.unsaved = None, {}, {}, 0

    def _apply(self, reader: Reader, after: int) -> None:
        """Apply the next operations of the store: drop vectors of deleted threads, note threads with new messages."""
        deleted: set[str] = set()
        for _, operation in reader.records(OperationRecord, after=(after,), limit=STEP_OPERATIONS):
            for change in operation.changes:
                name = str(change.key[0]) if change.key else ""
                if change.kind is Kind.ENTRY and change.first is not None and not change.purged:
                    self._waiting[name] = None
                elif change.kind is Kind.ENTRY or (change.kind is Kind.THREAD and change.after is None):
                    deleted.add(name)
            self._operation = operation.seq
        self._remove(deleted)

    def _remove(self, threads: set[str]) -> None:
        for thread in threads:
            self._through.pop(thread, None)
            self._waiting[thread] = None  # it may have been made again
        if threads:
            with self._lock:
                self.unsaved += self.vectors.remove(threads)

    def _embed_some(self, reader: Reader, name: str) -> bool:
        """Embed the next messages of a thread; return True if it has no further ones."""
        thread = reader.load(ThreadRecord, (name,))
        last = 0 if thread is None else thread.last_seq
        after = self._through.get(name, 0)
        if after > last:
            self._remove({name})
            after = 0
        if after == last:
            return True
        through = min(after + STEP_ENTRIES, last)
        keys: list[tuple[int, int | None]] = []
        texts: list[str] = []
        for seq, data in reader.sealed_sequence(Kind.ENTRY, (name,), after=after, through=through):
            entry = speech_entry(name, seq, data)
            if entry is not None and (text := search.message_text(entry)):
                keys.append((seq, ms_of(entry.at)))
                texts.append(text[:TEXT_CHARS])
        if texts:
            made = self._embedder.embed(texts)
            with self._lock:
                self.vectors.add(name, keys, made)
        self._through[name] = through
        self.unsaved += len(texts)
        return through == last


PAUSE_S: Final = 0.005  # between two steps


class SimilarMessages:
    """The vectors of a store. Thread-safe: steps, savings and purges take turns, a search waits for none of them."""

    def __init__(self, store: Store, embedder: Callable[[], Embedder], path_of: Callable[[str], Path | None]) -> None:
        """Take a store and an embedder, opened at its first use; `path_of` returns a space's file, None for no file."""
        self._store = store
        self._open = embedder
        self._path_of = path_of
        self._embedder: Embedder | None = None
        self._spaces: dict[str, _MessageVectors] = {}
        self._working = threading.Lock()

    def catch_up(self, space: str, seconds: float) -> bool:
        """Embed messages for at most so many seconds; return whether all are. Raises EmbedderFailed."""
        ends = time.monotonic() + seconds
        while True:
            with self._working:
                vectors = self._vectors(space)
                with self._store.reader(space) as reader:
                    if vectors.step(reader):
                        return True
            if time.monotonic() >= ends:
                return False
            time.sleep(PAUSE_S)

    def near(self, space: str, query: str, threads: Collection[str] | None, within: Filter) -> list[tuple[str, float]]:
        """Return ids and cosines of the nearest messages that have a vector; none where no step was made yet."""
        vectors = self._spaces.get(space)
        if vectors is None:
            return []
        with suppress(EmbedderFailed):  # the steps behind the requests tell it; words are searched all the same
            return vectors.near(query, search.NEAR, threads, within)
        return []

    def save(self, space: str, *, at_once: bool) -> None:
        """Save the vectors of a space where enough has changed, or with `at_once` where anything has."""
        vectors = self._spaces.get(space)
        if vectors is not None:
            with self._working, self._store.reader(space) as reader:
                vectors.save(reader, at_once=at_once)

    def rewrite(self, space: str) -> bool:
        """Save the vectors without those of deleted messages; return False where that is not possible."""
        try:
            with self._working, self._store.reader(space) as reader:
                vectors = self._vectors(space)
                vectors.follow(reader)
                vectors.unsaved += 1  # the file may have what memory has not any more
                vectors.save(reader, at_once=True)
        except (OSError, ReverieError):
            self._spaces.pop(space, None)
            return False
        return True

    def _vectors(self, space: str) -> _MessageVectors:
        if self._embedder is None:
            self._embedder = self._open()
        if space not in self._spaces:
            self._spaces[space] = _MessageVectors(self._embedder, self._path_of(space))
        return self._spaces[space]
