"""A dream: what is new since the last one, distilled under a token budget, archived and indexed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from reverie.usecases import dreams
from reveried.execution import answer_once, decide, retry_while_stale, stored_answer
from reveried.keyed_lock import keyed_lock

if TYPE_CHECKING:
    from reveried.services import Services

__all__ = ["dream", "register_job"]


async def dream(
    services: Services,
    space: str,
    *,
    who: str,
    trigger: str,
    token_budget: int | None = None,
    dry_run: bool = False,
    idempotency: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """What `POST /v1/dreams` answers.

    Raises:
        ValidationError: a budget that is none.
        TokenBudgetExceeded: not to be done within the budget; nothing was written.
    """

    async def attempt() -> dict[str, Any]:
        before: dict[str, Any] | None = await stored_answer(services, space, idempotency)
        if before is not None:
            return before
        at = services.clock()
        job = await asyncio.to_thread(_snapshot, services, space, token_budget, at)
        plan = await decide(services, "dream", job, dreams.DreamOutcome)
        if dry_run or plan.archive is None:
            return dreams.answer(plan, dry_run=dry_run)
        dream_id = services.new_id("dream")
        write = dreams.commit(
            plan, space=space, who=who, dream_id=dream_id, trigger=trigger, at=at, idempotency=idempotency
        )
        made: dict[str, Any] = (await services.submit(write)).value
        return made

    # A dream that writes nothing has no commit of its own to keep its answer in.
    answer = await answer_once(
        services, space, idempotency, lambda: retry_while_stale(attempt, keyed_lock("memories", space))
    )
    if answer["archive"] is not None and not dry_run:
        await services.folders.write_all(space)
    return answer


def register_job(services: Services) -> None:
    """Lets schedules run dreams."""

    async def run(space: str, options: dict[str, Any]) -> None:
        await dream(services, space, who="schedule", trigger="schedule", token_budget=options.get("tokenBudget"))

    services.scheduler.register_job("dream", run)


def _snapshot(services: Services, space: str, token_budget: int | None, at: str) -> dreams.DreamJob:
    with services.store.reader(space) as reader:
        return dreams.snapshot(
            reader,
            token_budget=token_budget,
            max_token_budget=services.config.dream.max_token_budget,
            window=services.config.consolidation.window,
            literals=services.config.redact.literals,
            at=at,
        )
