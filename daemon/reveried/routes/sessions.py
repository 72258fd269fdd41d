"""`/v1/sessions`, `/v1/hooks`, `/v1/compactions`, `/v1/privacy`: sessions of agents' clients, and privacy settings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from reverie import wire
from reverie.api.sessions import Sessions
from reverie.api.spaces import Spaces
from reverie.api.tools import Doors
from reverie.errors import Forbidden, NotFound, ReverieError, TooLarge, ValidationError
from reverie.usecases import imported, resume_text
from reverie.usecases import sessions as use_sessions
from reveried.actions import contexts, hooks, sessions
from reveried.actions.hooks import SessionMemory
from reveried.execute import decide
from reveried.follower import Follower
from reveried.http.route import reads, serves
from reveried.http.types import Reply
from reveried.log import logger

if TYPE_CHECKING:
    from reverie.usecases.contexts import ContextJob
    from reveried.http.types import Call
    from reveried.services import Services

_IN_THE_TEXT: Final = ("summary", "excerpts")
"""Parts that the hooks of a compaction would show, and that need not be shown again."""


async def _compact_conversation(services: Services, space: str, request: wire.CompactConversation) -> wire.Compaction:
    """Return the text for a conversation: from its thread where that has all of it, else from its own messages.

    Raises:
        ComputeFailed: it could not be made now.
    """
    job = resume_text.CompactionJob(request.client, request.messages, request.tokens)
    try:
        thread = await _thread_of_session(services, space, request)
        answer = await decide(services, "compaction", msgspec.structs.replace(job, thread=thread), wire.Compaction)
    except ReverieError as error:
        logger("reveried.compactions").warning("a thread was not used for a compaction", code=error.code)
        answer = await decide(services, "compaction", job, wire.Compaction)
    if request.session is not None and answer.source == "thread":
        key = imported.thread_id(request.client, request.session)
        now = asyncio.get_running_loop().time()
        services.made(SessionMemory).of(space, key).parts.update(dict.fromkeys(_IN_THE_TEXT, now))
    return answer


async def _thread_of_session(services: Services, space: str, request: wire.CompactConversation) -> ContextJob | None:
    """Return the snapshot of the session's thread after all that its transcript has; None without one."""
    if request.session is None:
        return None
    await services.made(Follower).catch_up(services, (space, request.client, request.session))
    try:
        thread = imported.thread_id(request.client, request.session)
        return await contexts.context_job(services, space, thread, wire.ContextQuery(placement="late"), sized=True)
    except NotFound:
        return None


@serves(Sessions.start_session, once=True)
async def begin(call: Call) -> wire.Session:
    """Record a session that begins or continues, and import its transcript from now on."""
    return await sessions.begin(call.services, call.space, call.into(wire.StartSession), agent=call.agent)


@serves(Sessions.end_session, once=True)
async def end(call: Call) -> wire.Session:
    """Record the end of a session."""
    return await sessions.end(call.services, call.space, call.params["client"], call.params["session"])


reads(Sessions.sessions)(lambda reader, call: sessions.listed(reader, call.query_as(wire.SessionsQuery)))


@serves(Sessions.compact_conversation)
async def compact(call: Call) -> wire.Compaction:
    """Return the text that takes the place of a client's conversation."""
    return await _compact_conversation(call.services, call.space, call.into(wire.CompactConversation))


@serves(Sessions.prepare_compaction)
async def prepare_compaction(call: Call) -> None:
    """Make ready for a compaction that may follow soon."""
    call.services.compute.prepare()


reads(Spaces.privacy)(lambda reader, _: sessions.privacy_answer(use_sessions.privacy_of(reader)))


@serves(Spaces.change_privacy)
async def change_privacy(call: Call) -> wire.Privacy:
    """Pause the recording of sessions or go on, ignore a folder or no longer."""
    request = call.into(wire.ChangePrivacy)
    if call.agent is not None:
        raise Forbidden("An agent may not change what a person keeps out.", hint="Ask the person to run the command.")
    if request == wire.ChangePrivacy():
        raise ValidationError("nothing is to be changed", hint="give `paused`, `ignore` or `unignore`")
    return await sessions.change_privacy(call.services, call.by, request)


@serves(Doors.hook)
async def hook(call: Call) -> Reply:
    """Return what a hook prints: JSON or text as its client expects it, often nothing."""
    client = call.params["client"]
    if client not in hooks.CLIENTS:
        clients = ", ".join(hooks.CLIENTS)
        raise NotFound(f"there are no hooks of {client[:80]!r}", hint=f"the clients are {clients}")
    if len(call.body) > wire.HOOK_MAX_BYTES:
        raise TooLarge(f"the input of a hook has at most {wire.HOOK_MAX_BYTES} bytes", hint="send what the client gave")
    query = call.query_as(wire.HookQuery)
    answer = await hooks.run(call.services, call.space, client, call.body, query, agent=call.agent)
    return Reply(body=answer.text.encode(), media="text/plain", sent=answer.sent)
