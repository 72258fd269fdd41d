"""`/v1/search`: messages, memories and sections of documents by a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import wire
from reveried.actions import search as actions
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.use_case_runner import answer_once

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]


async def search(call: Call) -> Reply:
    """Return the messages, memories or sections that answer a question, best first; nothing is counted or written."""
    body = call.into(wire.SearchRequest)

    async def found() -> wire.SearchAnswer:
        return await actions.search(call.services, call.space, body)

    return Reply(await answer_once(call.services, call.space, call.idempotency, found, wire.SearchAnswer))


ROUTES = (
    Route(
        "POST",
        "/v1/search",
        search,
        "Searches what was said, memories and documents.",
        body=wire.SearchRequest,
        answer=wire.SearchAnswer,
    ),
)
