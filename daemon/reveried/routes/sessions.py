"""`/v1/sessions`, `/v1/compactions` and `/v1/privacy`: sessions of agents' clients, and the privacy settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from reverie import wire
from reverie.errors import Forbidden, ValidationError
from reverie.usecases import privacy
from reveried.actions import conversation_compaction
from reveried.actions import sessions as actions
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.use_case_runner import answer_once, read

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]


async def begin(call: Call) -> Reply:
    """Record a session that begins or continues, and import its transcript from now on."""
    request = call.into(wire.StartSession)
    work = partial(actions.begin, call.services, call.space, request, agent=call.agent)
    return Reply(await answer_once(call.services, call.space, call.idempotency, work, wire.Session))


async def end(call: Call) -> Reply:
    """Record the end of a session."""
    work = partial(actions.end, call.services, call.space, call.params["client"], call.params["session"])
    return Reply(await answer_once(call.services, call.space, call.idempotency, work, wire.Session))


async def list_sessions(call: Call) -> Reply:
    """List the sessions of agents' clients, the one that was heard of last first."""
    query = call.query_as(wire.SessionsQuery)
    return Reply(await read(call.services, call.space, partial(actions.listed, query=query)))


async def compact(call: Call) -> Reply:
    """Return the text that takes the place of a client's conversation."""
    return Reply(await conversation_compaction.compact(call.services, call.space, call.into(wire.CompactConversation)))


async def prepare_compaction(call: Call) -> Reply:
    """Make ready for a compaction that may follow soon."""
    call.services.compute.prepare()
    return Reply(status=204)


async def get_privacy(call: Call) -> Reply:
    """Return the privacy settings."""
    settings = await read(call.services, call.space, privacy.settings)
    return Reply(actions.privacy_answer(settings))


async def change_privacy(call: Call) -> Reply:
    """Pause the recording of sessions or go on, ignore a folder or no longer."""
    request = call.into(wire.ChangePrivacy)
    if call.agent is not None:
        raise Forbidden("An agent may not change what a person keeps out.", hint="Ask the person to run the command.")
    if request == wire.ChangePrivacy():
        raise ValidationError("nothing is to be changed", hint="give `paused`, `ignore` or `unignore`")
    return Reply(await actions.change_privacy(call.services, call.space, request, who=call.who))


ROUTES = (
    Route(
        "GET",
        "/v1/sessions",
        list_sessions,
        "Lists the sessions of agents' clients.",
        answer=wire.Page[wire.Session],
        query=wire.SessionsQuery,
    ),
    Route(
        "POST",
        "/v1/sessions",
        begin,
        "A session begins or continues; its transcript is imported as it grows.",
        body=wire.StartSession,
        answer=wire.Session,
    ),
    Route(
        "POST",
        "/v1/sessions/{client}/{session}/end",
        end,
        "A session has ended.",
        answer=wire.Session,
    ),
    Route(
        "POST",
        "/v1/compactions",
        compact,
        "The text that takes the place of a client's conversation.",
        body=wire.CompactConversation,
        answer=wire.Compaction,
    ),
    Route(
        "POST",
        "/v1/compactions/prepare",
        prepare_compaction,
        "Makes ready for a compaction that may follow within a minute, which is quicker then.",
        status=204,
    ),
    Route("GET", "/v1/privacy", get_privacy, "What a person keeps out of the store.", answer=wire.Privacy),
    Route(
        "PATCH",
        "/v1/privacy",
        change_privacy,
        "Pauses the recording of sessions or goes on, ignores a folder or no longer.",
        body=wire.ChangePrivacy,
        answer=wire.Privacy,
    ),
)
