"""`/v1/imports`: another program's transcript, taken in chunk by chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import wire
from reverie.errors import TooLarge
from reverie.usecases import imports
from reveried.actions import imports as flow
from reveried.execution import answer_once
from reveried.http.call import Reply
from reveried.http.routing import Route

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]


def _shown(place: imports.Place) -> dict[str, Any]:
    return {
        "id": place.id,
        "thread": place.thread,
        "offset": place.offset,
        "lines": place.lines,
        "checkFrom": place.check_from,
        "sha256": place.sha256,
    }


async def begin(call: Call) -> Reply:
    """Where a session's file stands: nowhere yet, or as far as it was taken in before."""
    asked = call.into(wire.StartImport)

    async def place() -> dict[str, Any]:
        write = imports.begin(call.space, asked.client, asked.session, asked.source, at=call.services.clock())
        opened = await call.services.submit(write, bulk=True)
        with call.services.store.reader(call.space) as reader:
            return _shown(imports.place(reader, opened.value["id"]))

    return Reply(await answer_once(call.services, call.space, call.idempotency, place))


async def chunk(call: Call) -> Reply:
    """Adds the whole lines of a chunk; the answer says where to go on from."""
    if len(call.body) > wire.CHUNK_MAX_BYTES:
        raise TooLarge(
            f"a chunk holds at most {wire.CHUNK_MAX_BYTES} bytes, not {len(call.body)}", hint="send smaller chunks"
        )
    asked = wire.parse_query(wire.ChunkQuery, call.query)
    answer = await flow.take(
        call.services,
        call.space,
        call.params["id"],
        offset=asked.offset,
        first_line=asked.first_line,
        data=call.body,
        final=asked.final,
    )
    return Reply(answer)


ROUTES = (
    Route(
        "POST", "/v1/imports", begin, "Where a session's file stands.", takes=wire.StartImport, gives=wire.ImportPlace
    ),
    Route(
        "PUT",
        "/v1/imports/{id}/chunks",
        chunk,
        "Adds a chunk of the file.",
        gives=wire.ChunkAnswer,
        query=("offset", "firstLine", "final"),
        raw=True,
    ),
)
