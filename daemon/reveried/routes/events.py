"""`GET /v1/events`: what happened, as server-sent events that resume where a reader left off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from reverie.errors import CursorExpired, ValidationError
from reverie.store import Kind
from reveried.http.call import Stream
from reveried.http.routing import Route

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from reveried.events import Subscription
    from reveried.http.call import Call

__all__ = ["ROUTES"]

BATCH = 256
HEARTBEAT_S = 15.0


async def events(call: Call) -> Stream:
    """The events of this space after `after` (or `Last-Event-ID`), then those to come.

    Without either, only those to come.

    Raises:
        CursorExpired: events after that number are no longer kept.
        ValidationError: the number is none.
    """
    after = _after(call)
    with call.services.store.reader(call.space) as reader:
        newest = reader.last_seq(Kind.EVENT)
        oldest = next((int(key[0]) for key, _ in reader.scan(Kind.EVENT, limit=1)), newest + 1)
    if after is None:
        after = newest
    if after + 1 < oldest:
        raise CursorExpired(
            "The events after this number are no longer all kept.",
            hint="Read what you need anew, then follow from `newest`.",
            oldest=oldest,
            newest=newest,
        )
    subscription = call.services.events.subscribe()
    return Stream(_follow(call, subscription, after), subscription.close)


def _after(call: Call) -> int | None:
    """Where to begin: the header of a resuming reader wins, as the standard for server-sent events has it."""
    text = call.headers.get("last-event-id", call.query.get("after"))
    if text is None or not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise ValidationError("`after` must be the number of an event.", hint="Use the id of the last one you saw.")
    return int(text)


async def _follow(call: Call, subscription: Subscription, after: int) -> AsyncGenerator[bytes, None]:
    """Each event as one frame; a comment now and then keeps the line open and finds readers that have gone."""
    # The first bytes tell the reader that the stream stands.
    yield b": following\n\n"
    while not subscription.ended:
        frames, after = _new_frames(call, after)
        if frames:
            yield frames
        elif not await subscription.wait(HEARTBEAT_S):
            yield b": still here\n\n"


def _new_frames(call: Call, after: int) -> tuple[bytes, int]:
    """Up to BATCH events beyond `after` as frames, and the number of the last."""
    frames = []
    with call.services.store.reader(call.space) as reader:
        for key, event in reader.scan(Kind.EVENT, after=(after,), limit=BATCH):
            after = int(key[0])
            data = orjson.dumps(event["data"]).decode()
            frames.append(f"id: {after}\nevent: {event['type']}\ndata: {data}\n\n".encode())
    return b"".join(frames), after


ROUTES = (
    Route(
        "GET",
        "/v1/events",
        events,
        "What happens in this space, without content, as server-sent events; resumes with Last-Event-ID.",
        query=("after",),
    ),
)
