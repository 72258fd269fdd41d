"""Dream: decided in the compute process, with its documents then put on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import wire
from reverie.usecases import dream as dream_case
from reveried.actions.accesses import write_accesses
from reveried.actions.learn import terms
from reveried.execute import execute
from reveried.locks import keyed_lock
from reveried.models.ask import one_at_a_time

if TYPE_CHECKING:
    from reverie.store import Reader, Write
    from reverie.usecases.by import By
    from reveried.services import Services


async def dream(
    services: Services,
    by: By,
    *,
    trigger: str,
    token_budget: int | None = None,
    dry_run: bool = False,
) -> wire.DreamAnswer:
    """Run a dream over what changed since the last one, and return its result; a dry run writes nothing.

    Dreams of one space run one after the other: two at once would read the same memories, and one of them in vain.

    Raises:
        TokenBudgetExceeded: not possible within the budget; nothing was written.
    """

    def commit(plan: dream_case.DreamPlan) -> Write[wire.DreamAnswer] | wire.DreamAnswer:
        if dry_run or plan.archive is None:
            return dream_case.unwritten_answer(plan, dry_run=dry_run)
        return dream_case.commit.write(by, plan, trigger=trigger)

    async with keyed_lock("dream", by.space), one_at_a_time(services, by.space):
        await write_accesses(services)
        answer = await execute(
            services,
            by,
            snapshot=lambda reader: dream_snapshot(services, reader, token_budget),
            outcomes={},
            job="dream",
            plan=dream_case.DreamPlan,
            commit=commit,
            answers=wire.DreamAnswer,
            lock="memories",
        )
    if answer.archive is not None and not dry_run:
        await services.sync_service.write_all(by.space)
    return answer


def dream_snapshot(services: Services, reader: Reader, token_budget: int | None) -> dream_case.DreamJob:
    """Return a DreamJob: the memories, token budget, settings and time that a dream is decided from."""
    most = services.config.dream.max_token_budget
    return dream_case.snapshot(reader, terms(services), token_budget=token_budget, max_token_budget=most)
