"""Pages of a thread's messages, and the thread's outline, by which they are read."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from reverie import wire
from reverie.usecases import message_pages, thread_outline
from reverie.usecases.thread_outline import OutlinePlan
from reveried.execute import decide, read
from reveried.locks import keyed_lock

if TYPE_CHECKING:
    from reverie.usecases.thread_outline import OutlineJob
    from reveried.services import Services

INLINE_BYTES = (
    1_000_000  # of sealed entries; opening as many takes a few milliseconds, less than a cold compute process
)
EXTEND_AFTER = 128  # entries behind the outline at which it is extended in the background


async def message_page(
    services: Services, space: str, thread_id: str, *, after: int, limit: int, last: int | None = None
) -> wire.Page[wire.StoredMessage]:
    """Return one page of a thread's messages, word for word; with `last` of its last so many only. Raises NotFound."""
    snapshot = partial(message_pages.snapshot_page, thread_id=thread_id, after=after, limit=limit, last=last)
    job = await read(services, space, snapshot)
    if job is None:
        await extend_outline(services, space, thread_id)
        job = await read(services, space, partial(snapshot, outlined=True))
        assert job is not None
    if job.size <= INLINE_BYTES:
        return await asyncio.to_thread(message_pages.page, job)
    return await decide(services, "messages", job, wire.Page[wire.StoredMessage])


async def extend_outline(services: Services, space: str, thread_id: str, *, bulk: bool = False) -> None:
    """Bring a thread's outline up to date; with `bulk` only where EXTEND_AFTER entries are new. Raises NotFound."""
    async with keyed_lock("outline", f"{space}/{thread_id}"):
        if bulk and await read(services, space, partial(thread_outline.pending, thread_id=thread_id)) < EXTEND_AFTER:
            return
        snapshot = partial(thread_outline.snapshot_outline, thread_id=thread_id)
        plan = await _planned(services, await read(services, space, snapshot), bulk=bulk)
        if plan.parts is None:
            plan = await _planned(services, await read(services, space, partial(snapshot, whole=True)), bulk=bulk)
        for write in thread_outline.commit_steps(plan, space):
            await services.submit(write, bulk=True)


async def _planned(services: Services, job: OutlineJob, *, bulk: bool) -> OutlinePlan:
    if job.size <= INLINE_BYTES:
        return await asyncio.to_thread(thread_outline.plan_outline, job)
    return await decide(services, "outline", job, OutlinePlan, bulk=bulk)
