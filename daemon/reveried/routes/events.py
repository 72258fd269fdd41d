"""`GET /v1/events`: the events of a space as a stream of server-sent events that can be resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from reverie import wire
from reverie.errors import CursorExpired, ValidationError
from reverie.store import EventRecord, Kind
from reveried.http.call import Stream
from reveried.http.routing import Route

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from reveried.event_wakeups import Subscription
    from reveried.http.call import Call

__all__ = ["ROUTES"]

BATCH = 256  # events in one chunk
HEARTBEAT_S = 15.0  # a comment line after so long without events


async def events(call: Call) -> Stream:
    """Stream the events after `after` (or `Last-Event-ID`), then new ones; without either only new ones.

    Raises:
        CursorExpired: events after that number were deleted by retention.
        ValidationError: the cursor is not a number.
    """
    after = _after(call)
    with call.services.store.reader(call.space) as reader:
        newest = reader.last_seq(Kind.EVENT)
        oldest = next((int(key[0]) for key, _ in reader.records(EventRecord, limit=1)), newest + 1)
    if after is None:
        after = newest
    if after + 1 < oldest:
        raise CursorExpired(
            "Some events after this number were deleted by retention.",
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
    # The first bytes tell the reader that it is subscribed.
    yield b": following\n\n"
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


ROUTES = (
    Route(
        "GET",
        "/v1/events",
        events,
        "The content-free events of the space as server-sent events; resumes with Last-Event-ID.",
        query=wire.EventsQuery,
        media="text/event-stream",
    ),
)
