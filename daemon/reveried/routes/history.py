"""`/v1/operations`, `/v1/rollback`, `/v1/history`, `/v1/diff` and `/v1/archives`: what was written, and undoing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from reverie import wire
from reverie.api.history import Events, History
from reverie.decode import mapped
from reverie.errors import CursorExpired, Forbidden, ValidationError
from reverie.store import ArchiveRecord, EventRecord, Kind, OperationRecord
from reverie.usecases import documents, history
from reverie.usecases import undo as use_undo
from reveried.actions import undo
from reveried.drive import write
from reveried.execute import read
from reveried.http.route import reads, serves
from reveried.http.types import Reply, Stream
from reveried.routes.pagination import record_page

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from reverie.store import Reader
    from reveried.http.types import Call
    from reveried.wakeups import Subscription

BATCH = 256  # events in one chunk
HEARTBEAT_S = 15.0  # a comment line after so long without events


@reads(History.operations)
def list_operations(reader: Reader, call: Call) -> wire.Page[wire.Operation]:
    """Return the operations, newest first."""
    return record_page(reader, call, OperationRecord, history.operation_answer, numbered=True, newest_first=True)


@reads(History.operation)
def get_operation(reader: Reader, call: Call) -> wire.Operation:
    """Return one operation."""
    return history.operation_answer(reader, history.get(reader, history.operation_number(call.params["id"])))


@serves(History.undo)
async def undo_operation(call: Call) -> wire.UndoAnswer:
    """Revert an operation by a new one. An agent's token reverts operations of that agent alone."""
    seq = history.operation_number(call.params["id"])
    if call.agent is not None:
        # What a person has decided or forgotten would otherwise come back at the wish of a text that an agent reads.
        operation = await read(call.services, call.space, lambda reader: history.get(reader, seq))
        if operation.who != call.agent:
            raise Forbidden(
                f"operation {seq} is by {operation.who}, and an agent's token undoes its own operations alone",
                hint=f"a person undoes it: reverie undo {seq}, without the agent's token",
            )
    return await write(call.services, use_undo.undo, call.by, seq, call.services.redactor)


@serves(History.rollback)
async def rollback(call: Call) -> wire.RollbackAnswer:
    """Restore documents, memories and notes to an earlier operation, as a new operation; never for an agent's token."""
    if call.agent is not None:
        raise Forbidden(
            "an agent's token may not roll back",
            hint="a person rolls back: reverie rollback, without the agent's token",
        )
    body = call.into(wire.Rollback)
    path = None if body.path is None else documents.readable_path(body.path)
    seq = history.operation_number(body.operation)
    return await undo.rollback(call.services, call.by, seq, path=path, memory=body.memory)


@reads(History.document_history)
def versions(reader: Reader, call: Call) -> wire.Page[wire.DocumentVersion]:
    """Return every version of a document, oldest first, each with the operation that wrote it."""
    return history.document_versions(reader, documents.readable_path(call.params["path"]))


reads(History.difference)(lambda reader, call: history.difference(reader, call.query_as(wire.DifferenceQuery)))


@reads(History.archives)
def list_archives(reader: Reader, call: Call) -> wire.Page[wire.Archive]:
    """Return the archives, by address."""
    return record_page(reader, call, ArchiveRecord, lambda _, record: mapped(record, wire.Archive))


@reads(History.archive)
def get_archive(reader: Reader, call: Call) -> Reply:
    """Return the canonical bytes of an archive; the address is their SHA-256."""
    address = call.params["sha256"]
    return Reply(body=history.archive_body(reader, address), headers={"etag": f'"{address}"'})


@serves(Events.stream)
async def events(call: Call) -> Stream:
    """Stream the events after `after` (or `Last-Event-ID`), then new ones; without either only new ones.

    Raises:
        CursorExpired: events after that number were deleted by retention, or the store, restored, is older than it.
        ValidationError: the cursor is not a number.
    """
    after = _after(call)
    with call.services.store.reader(call.space) as reader:
        newest = reader.last_seq(Kind.EVENT)
        oldest = next((int(key[0]) for key, _ in reader.records(EventRecord, limit=1)), newest + 1)
    if after is None:
        after = newest
    if not oldest <= after + 1 <= newest + 1:
        raise CursorExpired(
            "Some events after this number were deleted by retention, or the store is older than it.",
            hint="Read the current state again, then follow from `newest`.",
            oldest=oldest,
            newest=newest,
        )
    subscription = call.services.events.subscribe()
    return Stream(_follow(call, subscription, after), subscription.close)


def _after(call: Call) -> int | None:
    """Return the cursor to begin after; the header of a resuming reader wins (server-sent events standard)."""
    text = call.headers.get("last-event-id")
    if not text:
        return call.query_as(wire.EventsQuery).after
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise ValidationError("`after` must be the number of an event.", hint="Use the id of the last one you saw.")
    return int(text)


async def _follow(call: Call, subscription: Subscription, after: int) -> AsyncGenerator[bytes, None]:
    """Yield each event as one frame, and comment lines that keep the connection open and detect readers that left.

    The stream ends with the daemon, and when the caller's token is revoked.
    """
    # The first bytes tell the reader that it is subscribed, and after which number it resumes before it has an event.
    yield f": following\n\nid: {after}\n\n".encode()
    # A revocation is a commit, which wakes every reader: no event that came after it is sent.
    while not subscription.ended and not call.is_revoked():
        frames, after = _new_frames(call, after)
        if frames:
            yield frames
        elif not await subscription.wait(HEARTBEAT_S):
            yield b": still here\n\n"


def _new_frames(call: Call, after: int) -> tuple[bytes, int]:
    """Return up to BATCH events after number `after` as frames, and the number of the last one."""
    frames = []
    with call.services.store.reader(call.space) as reader:
        for key, event in reader.records(EventRecord, after=(after,), limit=BATCH):
            after = int(key[0])
            data = orjson.dumps(event.data).decode()
            frames.append(f"id: {after}\nevent: {event.type}\ndata: {data}\n\n".encode())
    return b"".join(frames), after
