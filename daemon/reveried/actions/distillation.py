"""Distils a thread and puts what it taught on disk."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from reverie.usecases import distillation
from reveried.execution import decide, retry_while_stale, stored_answer
from reveried.keyed_lock import keyed_lock

if TYPE_CHECKING:
    from reveried.services import Services

__all__ = ["distil"]

RANDOM_BYTES = 16


async def distil(
    services: Services,
    space: str,
    thread: str,
    *,
    who: str,
    token_budget: int | None = None,
    idempotency: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """What `POST /v1/threads/{id}/distill` answers.

    Raises:
        NotFound: no such thread.
        Conflict: nothing is old enough to distil.
        TokenBudgetExceeded: not to be done within the budget; nothing was written.
    """

    async def attempt() -> dict[str, Any]:
        before: dict[str, Any] | None = await stored_answer(services, space, idempotency)
        if before is not None:
            return before
        at = services.clock()
        job = await asyncio.to_thread(_snapshot, services, space, thread, token_budget, at)
        plan = await decide(services, "distill", job, distillation.DistillPlan)
        write = distillation.commit(plan, space=space, who=who, at=at, idempotency=idempotency)
        answer: dict[str, Any] = (await services.submit(write)).value
        return answer

    answer = await retry_while_stale(attempt, keyed_lock("memories", space))
    await services.folders.write_all(space)
    return answer


def _snapshot(
    services: Services, space: str, thread: str, token_budget: int | None, at: str
) -> distillation.DistillJob:
    config = services.config
    bounds = distillation.Bounds(
        preserve_messages=config.compaction.preserve_recent_messages,
        preserve_tokens=config.compaction.preserve_recent_max_tokens,
    )
    if token_budget is not None:
        bounds.token_budget = min(token_budget, bounds.token_budget)
    with services.store.reader(space) as reader:
        return distillation.snapshot(
            reader,
            space,
            thread,
            bounds=bounds,
            window=config.context.window,
            memory_window=config.consolidation.window,
            literals=config.redact.literals,
            at=at,
            random=services.random(RANDOM_BYTES),
        )
