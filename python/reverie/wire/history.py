"""Operations, undo, archives and events: what happened, and what it left."""

from typing import Annotated

from msgspec import Meta, field

from reverie.models import Json
from reverie.wire.base import Count, Reply, Request

__all__ = [
    "Archive",
    "Difference",
    "DifferenceAnswer",
    "DifferenceQuery",
    "DocumentVersion",
    "Event",
    "EventsQuery",
    "Operation",
    "OperationChange",
    "Rollback",
    "RollbackAnswer",
    "UndoAnswer",
]


class OperationChange(Reply):
    """One record that an operation changed, by kind and key; versions count from 1, None means absent.

    What was appended to the sequence `key`, or purged from it for good, is numbered `first..last` instead.
    """

    kind: str
    key: list[str | int]
    before: int | None = None
    after: int | None = None
    first: int | None = None
    last: int | None = None
    purged: bool = False


class Operation(Reply):
    """One committed write: who, why, when, after which, and what changed."""

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
    """The new operation that took `undone` back; None where nothing of it stands any more, so that none was made."""

    operation: str | None
    undone: str
    changes: list[OperationChange] = field(default_factory=list)


class Rollback(Request):
    """`POST /v1/rollback`: the last operation whose work is to stay; "0" is the very beginning.

    Of one document (`path`) or one memory (`memory`), or without either of the whole space.
    """

    operation: str
    path: Annotated[str, Meta(min_length=1, max_length=1024)] | None = None
    memory: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class RollbackAnswer(Reply):
    """The new operation that brought everything back to what it was after `to`; None where all is so already."""

    operation: str | None
    to: str
    documents: list[str] = field(default_factory=list)
    records: Count = 0


class DocumentVersion(Reply):
    """A document as one operation left it; `etag` and `size` are None where that operation deleted it."""

    operation: str
    at: str
    who: str
    why: str
    etag: str | None = None
    size: int | None = None
    summary: str | None = None


class DifferenceQuery(Request):
    """The query of `GET /v1/diff`: from one operation to another (the newest), of one document or of all."""

    from_: str = field(name="from")
    to: str | None = None
    path: Annotated[str, Meta(min_length=1, max_length=1024)] | None = None


class Difference(Reply):
    """One document at both ends; None where it was not there."""

    path: str
    before: str | None = None
    after: str | None = None


class DifferenceAnswer(Reply):
    """What changed in documents between two operations."""

    items: list[Difference]
    from_: str = field(name="from")
    to: str


class Archive(Reply):
    """An immutable result; `GET /v1/archives/{sha256}` gives its canonical bytes. `size` is in bytes."""

    sha256: str
    kind: str
    at: str
    size: int
    entries: int = 0
    ref: str | None = None


class EventsQuery(Request):
    """The query of `GET /v1/events`: only what came after this sequence."""

    after: Count | None = None
    limit: Annotated[int, Meta(ge=1)] | None = None


class Event(Reply):
    """A content-free announcement; `seq` is its place in the space's sequence."""

    seq: int
    type: str
    data: dict[str, Json] = field(default_factory=dict)
