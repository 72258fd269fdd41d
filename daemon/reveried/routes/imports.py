"""`/v1/imports`: another program's transcript, imported chunk by chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import wire
from reverie.errors import Forbidden, TooLarge
from reveried.actions import imports as actions
from reveried.http.call import Reply
from reveried.http.routing import Route

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]


async def begin(call: Call) -> Reply:
    """Open the import of a session's file, and return the position from which to send it."""
    request = call.into(wire.StartImport)
    if request.again and call.agent is not None:
        raise Forbidden("An agent may not bring back what a person deleted.", hint="Ask the person to run the import.")
    position = await actions.begin(
        call.services,
        call.space,
        client=request.client,
        session=request.session,
        source=request.source,
        again=request.again,
        idempotency=call.idempotency,
    )
    return Reply(position)


async def chunk(call: Call) -> Reply:
    """Append the whole lines of a chunk; the answer has the position from which to go on."""
    if len(call.body) > wire.CHUNK_MAX_BYTES:
        raise TooLarge(
            f"a chunk holds at most {wire.CHUNK_MAX_BYTES} bytes, not {len(call.body)}", hint="send smaller chunks"
        )
    query = call.query_as(wire.ChunkQuery)
    answer = await actions.take_chunk(
        call.services,
        call.space,
        call.params["id"],
        offset=query.offset,
        first_line=query.first_line,
        data=call.body,
        final=query.final,
    )
    return Reply(answer)


ROUTES = (
    Route(
        "POST",
        "/v1/imports",
        begin,
        "The position in a session's file.",
        body=wire.StartImport,
        answer=wire.ImportPlace,
    ),
    Route(
        "PUT",
        "/v1/imports/{id}/chunks",
        chunk,
        "Imports a chunk of the file.",
        answer=wire.ChunkAnswer,
        query=wire.ChunkQuery,
        raw=True,
    ),
)
