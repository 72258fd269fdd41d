"""What a process keeps of the store beside it: caches, indexes and listings, which follow the operations of a space.

A purge asks each of them to forget the space (`every`), so a new one needs no line in the purge.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Self, TypeVar
from weakref import WeakSet

from reverie.store import Kind, OperationRecord, StoredRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.store import Reader

R = TypeVar("R", bound=StoredRecord)
V = TypeVar("V")

UNKNOWN: Final = -1  # the operation of values that are to be made anew
BEHIND_MAX: Final = 2_000  # operations; further behind, reading all records again is faster


class Kept(ABC):
    """Something that a process keeps of the records of spaces, in memory or in files of its own."""

    writes_files: ClassVar[bool] = False
    """Whether `forget` waits for a disk, so that it is called in a thread."""

    _every: ClassVar[WeakSet[Kept]] = WeakSet()

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Register each object, whatever its class does when it is made."""
        made = super().__new__(cls)
        Kept._every.add(made)
        return made

    @abstractmethod
    def forget(self, space: str) -> None:
        """Drop what is kept of a space and may have words of it."""


def every() -> list[Kept]:
    """Return all that this process keeps of spaces."""
    return list(Kept._every)  # noqa: SLF001 - of this module


class Follow(Kept, Generic[R, V]):
    """What is made of each record of a type, by the first part of its key: made once, then for records that changed.

    `make` returns None for a record of which nothing is kept. Thread-safe.
    """

    def __init__(self, record_type: type[R], make: Callable[[Reader, R], V | None]) -> None:
        self._type = record_type
        self._make = make
        self._held: dict[str, tuple[int, dict[str, V]]] = {}
        self._lock = threading.Lock()

    def at(self, reader: Reader) -> dict[str, V]:
        """Return the values of the reader's snapshot; they are not changed later."""
        return self.caught_up(reader)[0]

    def caught_up(self, reader: Reader) -> tuple[dict[str, V], set[str]]:
        """Return what `at` returns, and the names of the records that changed since the last call."""
        with self._lock:
            operation, values = self._held.get(reader.space, (UNKNOWN, {}))
            changed = None if operation == UNKNOWN else changes(reader, self._type.KIND, operation)
            if changed is None:
                before = values
                every = ((str(key[0]), self._make(reader, record)) for key, record in reader.records(self._type))
                values = {name: value for name, value in every if value is not None}
                names = {name for name in {*before, *values} if before.get(name) != values.get(name)}
            else:
                names = set(changed)
                values = {**values} if names else values  # others may be reading them
                for name in names:
                    record = reader.load(self._type, (name,))
                    value = None if record is None else self._make(reader, record)
                    if value is None:
                        values.pop(name, None)
                    else:
                        values[name] = value
            self._held[reader.space] = (reader.operation(), values)
            return values, names

    def forget(self, space: str) -> None:
        """Drop the values of a space; the next reader has them made."""
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
