"""`/v1/hooks/{client}`: the input of a client's hook in, what the hook prints out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import wire
from reverie.errors import NotFound, TooLarge
from reveried.actions import hooks as actions
from reveried.http.call import Reply
from reveried.http.routing import Route

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]


async def hook(call: Call) -> Reply:
    """Return what a hook prints: JSON or text as its client expects it, often nothing."""
    client = call.params["client"]
    if client not in actions.CLIENTS:
        raise NotFound(f"there are no hooks of {client[:80]!r}", hint=f"the clients are {', '.join(actions.CLIENTS)}")
    if len(call.body) > wire.HOOK_MAX_BYTES:
        raise TooLarge(f"the input of a hook has at most {wire.HOOK_MAX_BYTES} bytes", hint="send what the client gave")
    query = call.query_as(wire.HookQuery)
    text = await actions.run(call.services, call.space, client, call.body, query, agent=call.agent)
    return Reply(body=text.encode(), media="text/plain")


ROUTES = (
    Route(
        "POST",
        "/v1/hooks/{client}",
        hook,
        "What a client's hook prints, for its standard input.",
        query=wire.HookQuery,
        raw=True,
        media="text/plain",
    ),
)
