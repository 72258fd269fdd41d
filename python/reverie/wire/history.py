"""Operations, undo, archives and events: what happened, and what it left."""

from typing import Annotated

from msgspec import Meta, field

from reverie.models import Json
from reverie.wire.base import Count, Reply, Request

__all__ = ["Archive", "Event", "EventsQuery", "Operation", "OperationChange", "UndoAnswer"]


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
    """The new operation that took `undone` back."""

    operation: str
    undone: str
    changes: list[OperationChange] = field(default_factory=list)


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
