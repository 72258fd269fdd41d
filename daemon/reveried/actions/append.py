"""What follows from appended messages: their weight, how full the window is, a distillation when it is too full."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from reverie.errors import Conflict, ReverieError
from reverie.usecases import listing, thread_seed, threads, turns
from reverie.usecases import usage as usage_of
from reveried.actions import distillation
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Entry, Json
    from reverie.usecases.thread_seed import Carried
    from reveried.services import Services

__all__ = ["begins_with", "followed", "index_text", "weighed"]

INLINE_BYTES = 64 * 1024  # more is counted beside the event loop, which must answer others meanwhile


async def weighed(said: Sequence[tuple[str, Json]], usage: dict[str, Any] | None, at: str, *, size: int) -> list[Entry]:
    """Messages as entries with their tokens counted; `size` is the body's length in bytes."""
    if size <= INLINE_BYTES:
        return threads.spoken(said, usage, at)
    return await asyncio.to_thread(threads.spoken, said, usage, at)


async def followed(services: Services, space: str, thread_id: str, *, who: str) -> dict[str, Any]:
    """What an append led to, as its answer tells it: a distillation where the thread has passed its threshold.

    Within a turn none takes place, however full the thread is: it waits for the reply that ends the turn. An append
    that is made again with its key is answered as it was committed, and leads to nothing.
    """
    config = services.config.context
    with services.store.reader(space) as reader:
        thread = threads.get(reader, thread_id)
        full = usage_of.is_full(
            thread, window=config.window, distil_at=config.distil_at, absolute_cap=config.absolute_cap
        )
        if not full or turns.is_open(reader, thread_id):
            return {}
    distilled = await _distilled(services, space, thread_id, who)
    return {"context": usage_of.context_use(_thread(services, space, thread_id), config.window), "distilled": distilled}


async def _distilled(services: Services, space: str, thread_id: str, who: str) -> dict[str, Any] | None:
    """The messages are safe already: a distillation that cannot be done now is done at a later append."""
    try:
        made = await distillation.distil(services, space, thread_id, who=who)
    except Conflict:
        return None
    except ReverieError as error:
        logger("reveried.appending").warning("a full thread was not distilled", code=error.code)
        return None
    return {"archive": made["archive"], "number": made["number"]}


async def begins_with(services: Services, space: str, agent: str | None) -> Carried:
    """What a new thread of `agent` begins with, of what its earlier ones knew."""

    def read() -> Carried:
        with services.store.reader(space) as reader:
            return thread_seed.carried(reader, agent)

    return await asyncio.to_thread(read)


async def index_text(services: Services, space: str) -> str | None:
    """The memory index as a new thread opens with it; None where nothing is remembered yet."""
    return listing.index_text(await services.folders.index_entries(space))


def _thread(services: Services, space: str, thread_id: str) -> dict[str, Any]:
    with services.store.reader(space) as reader:
        return threads.get(reader, thread_id)
