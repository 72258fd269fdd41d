"""Learns from a thread and puts what was learnt on disk."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from reverie.usecases import learning
from reveried.execution import decide, retry_while_stale
from reveried.keyed_lock import keyed_lock

if TYPE_CHECKING:
    from reveried.services import Services

__all__ = ["learn"]

RANDOM_BYTES = 16
NOTHING: dict[str, Any] = {"candidates": 0, "counts": {}, "tier": "", "operation": None}


async def learn(services: Services, space: str, thread: str, *, who: str) -> dict[str, Any]:
    """What `POST /v1/threads/{id}/learn` answers: what the messages since the last time taught. Raises NotFound."""

    async def attempt() -> dict[str, Any]:
        at = services.clock()
        job = await asyncio.to_thread(_snapshot, services, space, thread, at)
        if learning.nothing_new(job):
            return NOTHING
        plan = await decide(services, "learn", job, learning.LearnPlan, bulk=True)
        answer: dict[str, Any] = (await services.submit(learning.commit(plan, space=space, who=who, at=at))).value
        return answer

    answer = await retry_while_stale(attempt, keyed_lock("memories", space))
    if answer["operation"] is not None:
        await services.folders.write_all(space)
    return answer


def _snapshot(services: Services, space: str, thread: str, at: str) -> learning.LearnJob:
    with services.store.reader(space) as reader:
        return learning.snapshot(
            reader,
            thread,
            window=services.config.consolidation.window,
            literals=services.config.redact.literals,
            at=at,
            random=services.random(RANDOM_BYTES),
        )
