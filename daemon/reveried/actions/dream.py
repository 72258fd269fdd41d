"""Dream: decided in the compute process; `execute` writes its documents to the folder at the end."""

from __future__ import annotations

from reverie import wire
from reverie.store import Reader
from reverie.usecases import dream as use_dream
from reverie.usecases.by import By
from reveried.actions.learn import terms
from reveried.execute import execute
from reveried.locks import keyed_lock
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

    def snapshot(reader: Reader) -> use_dream.DreamJob:
        most = services.config.dream.max_token_budget
        return use_dream.snapshot(reader, terms(services), token_budget=token_budget, max_token_budget=most)

    def unwritten(plan: use_dream.DreamPlan) -> wire.DreamAnswer | None:
        return use_dream.unwritten_answer(plan, dry_run=dry_run) if dry_run or plan.archive is None else None

    async with keyed_lock("dream", by.space):
        return await execute(
            services,
            by,
            use_dream.DECIDED,
            snapshot,
            unwritten=unwritten,
            trigger=trigger,
        )
