"""What was written, taking it back, versions, archives, and the stream of events."""

from types import NoneType
from typing import Any

from reverie.api.endpoint import Endpoint, at
from reverie.wire import history as types
from reverie.wire.base import ListQuery, NoQuery, Page, SequenceQuery


class History:
    """Operations on the history. `undo` raises Conflict if a later operation changed the same words."""

    # fmt: off
    operations = Endpoint("GET /v1/operations", ListQuery, Page[types.Operation],
        "Lists the operations, newest first.", query=SequenceQuery)
    operation = Endpoint("GET /v1/operations/{id}", at(NoQuery), types.Operation, "Returns one operation.")
    undo = Endpoint("POST /v1/operations/{id}/undo", at(NoQuery), types.UndoAnswer, "Undoes an operation.")
    rollback = Endpoint("POST /v1/rollback", types.Rollback, types.RollbackAnswer,
        "Rolls back to an earlier operation.", long=True)
    document_history = Endpoint("GET /v1/history/{path:path}", at(NoQuery), Page[types.DocumentVersion],
        "Lists the versions of a document.")
    difference = Endpoint("GET /v1/diff", types.DifferenceQuery, types.DifferenceAnswer,
        "Returns the changes of documents between two operations.")
    archives = Endpoint("GET /v1/archives", ListQuery, Page[types.Archive], "Lists the archives.")
    archive = Endpoint("GET /v1/archives/{sha256}", at(NoQuery), bytes, "Returns the canonical bytes of an archive.",
        shows=dict[str, Any], etag=True)


class Events:
    """The stream of events; a client reads it by its method `events`."""

    # fmt: off
    stream = Endpoint("GET /v1/events", types.EventsQuery, NoneType,
        "The content-free events of the space as server-sent events; resumes with Last-Event-ID.",
        media="text/event-stream")
