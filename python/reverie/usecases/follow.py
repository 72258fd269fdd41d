"""What a process keeps of the store beside it: caches, indexes and listings, which follow the operations of a space.

A purge asks each of them to forget the space (`every`), so a new one needs no line in the purge.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar, Final, Generic, TypeVar
from weakref import WeakSet

from reverie.store import Kind, OperationRecord

if TYPE_CHECKING:
    from reverie.store import Reader

V = TypeVar("V")

BEHIND_MAX: Final = 2_000  # operations; further behind, reading all records again is faster


class Kept:
    """Something that a process keeps of the records of spaces, in memory or in files of its own."""

    writes_files: ClassVar[bool] = False
    """Whether `forget` waits for a disk, so that it is called in a thread."""

    _every: ClassVar[WeakSet[Kept]] = WeakSet()

    def __init__(self) -> None:
        Kept._every.add(self)

    def forget(self, space: str) -> None:
        """Drop what is kept of a space and may have words of it."""
        raise NotImplementedError


def every() -> list[Kept]:
    """Return all that this process keeps of spaces."""
    return list(Kept._every)  # noqa: SLF001 - of this module


class Follow(Kept, Generic[V]):
    """A value of each space that is derived from the records of one kind: built once, then updated. Thread-safe.

    A subclass says how it is built, and what a record that was written or is gone changes.
    """

    KIND: ClassVar[Kind]

    def __init__(self) -> None:
        super().__init__()
        self._held: dict[str, tuple[int, V]] = {}
        self._lock = threading.Lock()

    def build(self, reader: Reader) -> V:
        """Return the value of a snapshot, from all records."""
        raise NotImplementedError

    def apply(self, value: V, reader: Reader, name: str) -> None:
        """Change the value for a record that was written or deleted since."""
        raise NotImplementedError

    def at(self, reader: Reader) -> V:
        """Return the value of the reader's snapshot, which is changed by the next call."""
        with self._lock:
            operation, value = self._held.get(reader.space, (0, None))
            changed = None if value is None else changes(reader, self.KIND, operation)
            if value is None or changed is None:
                value, changed = self.build(reader), {}
            for name in changed:
                self.apply(value, reader, name)
            self._held[reader.space] = (reader.operation(), value)
            return value

    def forget(self, space: str) -> None:
        """Drop the value of a space; the next reader has it built."""
        with self._lock:
            self._held.pop(space, None)


def is_kept(reader: Reader, since: int) -> bool:
    """Return True if `since` is an operation of the store, and all operations after it are still stored."""
    return since <= reader.operation() and reader.first_seq(Kind.OPERATION) <= since + 1


def changes(reader: Reader, kind: Kind, since: int, most: int = BEHIND_MAX) -> dict[str, bool] | None:
    """Return the first key parts of the records of a kind that operations after `since` changed: which exist now.

    None where more than `most` operations came since, or not all of them are kept: then all records are to be read.
    """
    if reader.operation() > since + most or not is_kept(reader, since):
        return None
    exists: dict[str, bool] = {}
    for _, operation in reader.records(OperationRecord, after=(since,)) if reader.operation() > since else ():
        for change in operation.changes:
            if change.kind is kind:
                exists[str(change.key[0])] = change.after is not None and not change.purged
    return exists


def operation_checksum(reader: Reader, number: int) -> str | None:
    """Return the checksum of an operation's record, None if there is none, and the empty text for operation 0."""
    return reader.record_checksum(Kind.OPERATION, (number,)) if number > 0 else ""
