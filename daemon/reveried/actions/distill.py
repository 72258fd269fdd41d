"""Distill a thread, learn from it, dream: each decided in the compute process, with its documents then put on disk.

All three write memories, so they share the lock "memories".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import wire
from reverie.errors import ReverieError, unexpected
from reverie.usecases import distill as distill_case
from reverie.usecases import dream as dream_case
from reverie.usecases import learn as learn_case
from reveried.actions.accesses import write_accesses
from reveried.execution import answer_once, execute
from reveried.keyed_lock import keyed_lock

if TYPE_CHECKING:
    from reverie.store import Reader, Write
    from reveried.services import Services

__all__ = ["distill", "dream", "learn", "register_dream_job"]

RANDOM_BYTES = 16
NOTHING_LEARNT = wire.MemoryChanges(candidates=0, counts={}, tier="", operation=None, proposals=wire.ABSENT)


async def distill(
    services: Services,
    space: str,
    thread: str,
    *,
    who: str,
    token_budget: int | None = None,
    idempotency: tuple[str, str] | None = None,
) -> wire.DistillAnswer:
    """Distill a thread; `token_budget` bounds the tokens read and written.

    Raises:
        NotFound: no such thread.
        Conflict: nothing is old enough to distill.
        TokenBudgetExceeded: not possible within the budget; nothing was written.
    """
    config = services.config
    bounds = distill_case.Bounds(
        preserve_messages=config.compaction.preserve_recent_messages,
        preserve_tokens=config.compaction.preserve_recent_max_tokens,
    )
    if token_budget is not None:
        bounds.token_budget = min(token_budget, bounds.token_budget)

    def snapshot(reader: Reader) -> distill_case.DistillJob:
        return distill_case.snapshot(
            reader,
            thread,
            bounds=bounds,
            window=config.context.window,
            memory_window=config.consolidation.window,
            literals=config.redact.literals,
            at=services.clock(),
            random=services.random(RANDOM_BYTES),
        )

    def commit(plan: distill_case.DistillPlan) -> Write[wire.DistillAnswer]:
        return distill_case.commit(plan, space=space, who=who, idempotency=idempotency)

    await write_accesses(services)
    answer = await execute(
        services,
        space,
        snapshot=snapshot,
        job="distill",
        plan=distill_case.DistillPlan,
        commit=commit,
        answers=wire.DistillAnswer,
        lock="memories",
        idempotency=idempotency,
    )
    await services.sync_service.write_all(space)
    return answer


async def learn(services: Services, space: str, thread: str, *, who: str) -> wire.MemoryChanges:
    """Learn memories from the thread's messages since it was last learnt from. Raises NotFound."""

    def snapshot(reader: Reader) -> learn_case.LearnJob:
        return learn_case.snapshot(
            reader,
            thread,
            window=services.config.consolidation.window,
            literals=services.config.redact.literals,
            at=services.clock(),
            random=services.random(RANDOM_BYTES),
        )

    await write_accesses(services)
    answer = await execute(
        services,
        space,
        snapshot=snapshot,
        skip=lambda job: None if job.entries else NOTHING_LEARNT,
        job="learn",
        plan=learn_case.LearnPlan,
        commit=lambda plan: learn_case.commit(plan, space=space, who=who),
        answers=wire.MemoryChanges,
        lock="memories",
        bulk_decide=True,
    )
    if answer.operation is not None:
        await services.sync_service.write_all(space)
    return answer


async def dream(
    services: Services,
    space: str,
    *,
    who: str,
    trigger: str,
    token_budget: int | None = None,
    dry_run: bool = False,
    idempotency: tuple[str, str] | None = None,
) -> wire.DreamAnswer:
    """Dream about what changed since the last dream; a dry run decides and writes nothing.

    Dreams of one space run one after the other: two at once would read the same memories, and one of them in vain.

    Raises:
        TokenBudgetExceeded: not possible within the budget; nothing was written.
    """

    def snapshot(reader: Reader) -> dream_case.DreamJob:
        return dream_case.snapshot(
            reader,
            token_budget=token_budget,
            max_token_budget=services.config.dream.max_token_budget,
            window=services.config.consolidation.window,
            literals=services.config.redact.literals,
            at=services.clock(),
        )

    def commit(plan: dream_case.DreamPlan) -> Write[wire.DreamAnswer] | wire.DreamAnswer:
        if dry_run or plan.archive is None:
            return dream_case.unwritten_answer(plan, dry_run=dry_run)
        return dream_case.commit(
            plan,
            space=space,
            who=who,
            dream_id=services.new_id("dream"),
            trigger=trigger,
            idempotency=idempotency,
        )

    async def run() -> wire.DreamAnswer:
        async with keyed_lock("dream", space):
            await write_accesses(services)
            return await execute(
                services,
                space,
                snapshot=snapshot,
                job="dream",
                plan=dream_case.DreamPlan,
                commit=commit,
                answers=wire.DreamAnswer,
                lock="memories",
                idempotency=idempotency,
            )

    # A dream that writes nothing has no commit that could store its answer under the key.
    answer = await answer_once(services, space, idempotency, run, wire.DreamAnswer)
    if answer.archive is not None and not dry_run:
        await services.sync_service.write_all(space)
    return answer


def register_dream_job(services: Services) -> None:
    """Register dreams as a job of schedules; the schedule's options may name a `tokenBudget`.

    Nobody waits for the answer of a scheduled dream, so one that fails is recorded among the dreams.
    """

    async def run(space: str, options: dict[str, Any]) -> None:
        token_budget = options.get("tokenBudget")
        try:
            await dream(services, space, who="schedule", trigger="schedule", token_budget=token_budget)
        except Exception as error:
            failure = dream_case.commit_failure(
                error if isinstance(error, ReverieError) else unexpected(error),
                space=space,
                who="schedule",
                dream_id=services.new_id("dream"),
                trigger="schedule",
                token_budget=token_budget or services.config.dream.max_token_budget,
                at=services.clock(),
            )
            await services.submit(failure)
            raise

    services.scheduler.register_job("dream", run)
