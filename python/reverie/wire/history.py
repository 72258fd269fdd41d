"""Operations, undo, rollback, versions and differences of documents, archives and events."""

from typing import Annotated

from msgspec import Meta, field

from reverie.wire.base import SEQUENCE_MAX, Count, Json, OperationId, Reply, Request


class OperationChange(Reply):
    """One change of an operation: the record's kind and key, and its versions before and after; None means absent.

    Records appended to the sequence `key`, or purged from it, are numbered `first` to `last` instead.
    """

    kind: str
    key: list[str | int]
    before: int | None = None
    after: int | None = None
    first: int | None = None
    last: int | None = None
    purged: bool = False


class Operation(Reply):
    """One committed write: author, reason, time, the operation before it, and its changes."""

    id: str
    seq: int
    at: str
    who: str
    why: str
    parent: str | None = None
    changes: list[OperationChange] = field(default_factory=list)
    undoable: bool = False
    undoes: str | None = None


class UndoAnswer(Reply):
    """Result of an undo: the new operation, or None if `undone` was reverted already, so that nothing changed."""

    operation: str | None
    undone: str
    changes: list[OperationChange] = field(default_factory=list)


class Rollback(Request):
    """Body of `POST /v1/rollback`: the last operation that stays; "0" is the state before the first one.

    With `path` or `memory` only that document or memory is rolled back, else the whole space.
    """

    operation: OperationId
    path: Annotated[str, Meta(min_length=1, max_length=1024)] | None = None
    memory: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class RollbackAnswer(Reply):
    """Result of a rollback to `to`: the restored documents, and the new operation, None if nothing differed."""

    operation: str | None
    to: str
    documents: list[str] = field(default_factory=list)
    records: Count = 0


class DocumentVersion(Reply):
    """One version of a document; `etag` and `size` are None if the operation deleted it."""

    operation: str
    at: str
    who: str
    why: str
    etag: str | None = None
    size: int | None = None
    summary: str | None = None


class DifferenceQuery(Request):
    """Query of `GET /v1/diff`: from one operation to another (by default the newest), of one document or of all."""

    from_: OperationId = field(name="from")
    to: OperationId | None = None
    path: Annotated[str, Meta(min_length=1, max_length=1024)] | None = None


class Difference(Reply):
    """One document at both operations; None where it did not exist."""

    path: str
    before: str | None = None
    after: str | None = None


class DifferenceAnswer(Reply):
    """The documents that differ between two operations."""

    items: list[Difference]
    from_: str = field(name="from")
    to: str


class Archive(Reply):
    """An archive of a distillation or dream, without its bytes; `size` is in bytes."""

    sha256: str
    kind: str
    at: str
    size: int
    entries: int = 0
    ref: str | None = None


class EventsQuery(Request):
    """Query of `GET /v1/events`: only the events after this sequence number."""

    after: Annotated[int, Meta(ge=0, le=SEQUENCE_MAX)] | None = None


class Event(Reply):
    """An event of the stream, without content; `seq` is its number in the space."""

    seq: int
    type: str
    data: dict[str, Json] = field(default_factory=dict)
