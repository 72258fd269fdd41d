"""Compactions of clients' conversations: the text that takes their place."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from reverie import wire
from reverie.errors import NotFound, ReverieError
from reverie.usecases import conversation_compaction, imported_threads
from reveried.actions import threads
from reveried.log import logger
from reveried.use_case_runner import decide

if TYPE_CHECKING:
    from reverie.usecases.contexts import ContextJob
    from reveried.services import Services

__all__ = ["compact"]

_IN_THE_TEXT: Final = ("summary", "excerpts")
"""Parts that the hooks of a compaction would show, and that need not be shown again."""


async def compact(services: Services, space: str, request: wire.CompactConversation) -> wire.Compaction:
    """Return the text for a conversation: from its thread where that has all of it, else from its own messages.

    Raises:
        ComputeFailed: it could not be made now.
    """
    job = conversation_compaction.CompactionJob(request.client, request.messages, request.tokens)
    try:
        thread = await _thread(services, space, request)
        answer = await decide(services, "compaction", msgspec.structs.replace(job, thread=thread), wire.Compaction)
    except ReverieError as error:
        logger("reveried.compactions").warning("a thread was not used for a compaction", code=error.code)
        answer = await decide(services, "compaction", job, wire.Compaction)
    if request.session is not None and answer.source == "thread":
        key = imported_threads.thread_id(request.client, request.session)
        now = asyncio.get_running_loop().time()
        services.hooks.of(space, key).parts.update(dict.fromkeys(_IN_THE_TEXT, now))
    return answer


async def _thread(services: Services, space: str, request: wire.CompactConversation) -> ContextJob | None:
    """Return the snapshot of the session's thread after all that its transcript has; None without one."""
    if request.session is None:
        return None
    await services.follower.catch_up(services, (space, request.client, request.session))
    try:
        thread = imported_threads.thread_id(request.client, request.session)
        return await threads.context_job(services, space, thread, query=None, sized=True)
    except NotFound:
        return None
