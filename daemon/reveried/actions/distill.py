"""Distill a thread, learn from it, dream: each decided in the compute process, with its documents then put on disk.

All three write memories, so they share the lock "memories".
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from reverie import wire
from reverie.errors import Busy, Conflict, ValidationError
from reverie.language_model.requests import ModelRequest
from reverie.usecases import distill as distill_case
from reverie.usecases import dream as dream_case
from reverie.usecases import learn as learn_case
from reverie.usecases.consolidation import changes_answer
from reveried.actions.access_counts import write_accesses
from reveried.keyed_lock import keyed_lock
from reveried.model_transports.ask_model import answered, one_at_a_time, prepared, reflection_bounds
from reveried.model_transports.spool_transport import LEARNT_FROM, learn_from_answers
from reveried.use_case_runner import answer_once, decide, execute, read

if TYPE_CHECKING:
    from reverie.language_model.requests import Outcome, ReflectionBounds
    from reverie.store import Reader, Write
    from reveried.jobs import Progress
    from reveried.services import Services

__all__ = [
    "distill",
    "dream",
    "dream_snapshot",
    "learn",
    "learn_from_spool",
    "learn_snapshot",
    "model_requests",
    "require_tools",
    "start_distilling",
]

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

    def snapshot(reader: Reader) -> distill_case.DistillJob:
        return _distill_snapshot(services, reader, thread, token_budget)

    def commit(plan: distill_case.DistillPlan) -> Write[wire.DistillAnswer]:
        return distill_case.commit(plan, space=space, who=who, idempotency=idempotency)

    outcomes: dict[str, Outcome] = {}
    await write_accesses(services)
    async with one_at_a_time(services, space):
        answer = await execute(
            services,
            space,
            snapshot=snapshot,
            complete=lambda job: answered(services, "distill-requests", job, outcomes, bulk=False),
            job="distill",
            plan=distill_case.DistillPlan,
            commit=commit,
            answers=wire.DistillAnswer,
            lock="memories",
            idempotency=idempotency,
        )
    await services.sync_service.write_all(space)
    return answer


async def learn(
    services: Services,
    space: str,
    thread: str,
    *,
    who: str,
    reflect: bool = False,
    through: int | None = None,
    outcomes: dict[str, Outcome] | None = None,
) -> wire.MemoryChanges:
    """Learn memories from the thread's messages since it was last learnt from.

    With `reflect` the model changes the memory files by calls of tools, whatever `distiller.learning` says. Messages
    behind entry `through` wait for the next run. `outcomes` are answers that have come already, by their requests.

    Raises:
        NotFound: no such thread.
    """
    answers: dict[str, Outcome] = {} if outcomes is None else outcomes

    def commit(plan: learn_case.LearnPlan) -> Write[wire.MemoryChanges] | wire.MemoryChanges:
        if plan.last_seq == plan.since:
            return changes_answer(plan.memories, operation=None)
        return learn_case.commit(plan, space=space, who=who)

    await write_accesses(services)
    async with one_at_a_time(services, space):
        LEARNT_FROM.set((space, thread))
        answer = await execute(
            services,
            space,
            snapshot=lambda reader: learn_snapshot(services, reader, thread, reflect=reflect, through=through),
            skip=lambda job: None if job.entries else NOTHING_LEARNT,
            complete=lambda job: answered(services, "learn-requests", job, answers, bulk=True),
            job="learn",
            plan=learn_case.LearnPlan,
            commit=commit,
            answers=wire.MemoryChanges,
            lock="memories",
            bulk_decide=True,
        )
    if answer.operation is not None:
        await services.sync_service.write_all(space)
    return answer


def require_tools(services: Services) -> None:
    """Raise ValidationError where no model is asked, so that there is none to call tools."""
    if services.models is None:
        raise ValidationError(
            "The extractive distiller has no model, and so no tools to reflect with.",
            hint="reverie config set distiller.kind anthropic; command and spool can reflect too.",
            reason="no_tools",
        )


def start_distilling(services: Services, space: str, thread_id: str, *, who: str) -> wire.DistilledNow | None:
    """Start the job that distills a thread with a model, and return it; None where one runs already."""
    lock = keyed_lock(f"distilling {thread_id}", space)
    if lock.locked():
        return None

    async def work(_: Progress) -> wire.DistillAnswer:
        async with lock:
            return await distill(services, space, thread_id, who=who)

    try:
        return wire.DistilledNow(job=services.jobs.start(space, "distill", work).id)
    except Busy:  # a later append tries again
        return None


async def model_requests(services: Services, space: str, thread: str, *, reflect: bool = False) -> list[ModelRequest]:
    """Return what a distillation of the thread would send first, else what learning from it would; nothing is sent.

    With `reflect` it is the first turn of a reflection. Raises NotFound.
    """

    def distilling(reader: Reader) -> distill_case.DistillJob:
        job = _distill_snapshot(services, reader, thread, None)
        job.outcomes = {}
        return job

    def learning(reader: Reader) -> learn_case.LearnJob:
        job = learn_snapshot(services, reader, thread, reflect=reflect)
        job.outcomes = {}
        return job

    requests: list[ModelRequest] | None = None
    if not reflect:
        with suppress(Conflict):  # nothing is old enough to distill
            job = await read(services, space, distilling)
            requests = await decide(services, "distill-requests", job, list[ModelRequest])
    if requests is None:
        requests = await decide(services, "learn-requests", await read(services, space, learning), list[ModelRequest])
    return [await prepared(request, services.redactor) for request in requests]


def _distill_snapshot(
    services: Services, reader: Reader, thread: str, token_budget: int | None
) -> distill_case.DistillJob:
    """Return what a distillation is decided from. Raises NotFound and Conflict."""
    config = services.config
    bounds = distill_case.Bounds(
        preserve_messages=config.compaction.preserve_recent_messages,
        preserve_tokens=config.compaction.preserve_recent_max_tokens,
    )
    if token_budget is not None:
        bounds.token_budget = min(token_budget, bounds.token_budget)
    job = distill_case.snapshot(
        reader,
        thread,
        bounds=bounds,
        window=config.context.window,
        memory_window=config.consolidation.window,
        literals=config.redact.literals,
        at=services.clock(),
        random=services.random(RANDOM_BYTES),
    )
    job.reflection = _reflection(services)
    return job


def learn_snapshot(
    services: Services, reader: Reader, thread: str, *, reflect: bool = False, through: int | None = None
) -> learn_case.LearnJob:
    """Return what learning is decided from. Raises NotFound."""
    job = learn_case.snapshot(
        reader,
        thread,
        window=services.config.consolidation.window,
        literals=services.config.redact.literals,
        at=services.clock(),
        random=services.random(RANDOM_BYTES),
        through=through,
    )
    job.reflection = reflection_bounds(services) if reflect else _reflection(services)
    return job


def _reflection(services: Services) -> ReflectionBounds | None:
    """Return the bounds of a reflection where threads are learnt from by one, else None."""
    return reflection_bounds(services) if services.config.distiller.learning == "reflection" else None


async def dream(
    services: Services,
    space: str,
    *,
    who: str,
    trigger: str,
    token_budget: int | None = None,
    dry_run: bool = False,
    idempotency: tuple[str, str] | None = None,
    outcomes: dict[str, Outcome] | None = None,
) -> wire.DreamAnswer:
    """Dream about what changed since the last dream; a dry run decides and writes nothing.

    Dreams of one space run one after the other: two at once would read the same memories, and one of them in vain.
    `outcomes` are answers that have come already, by their requests.

    Raises:
        TokenBudgetExceeded: not possible within the budget; nothing was written.
    """

    def snapshot(reader: Reader) -> dream_case.DreamJob:
        return dream_snapshot(services, reader, token_budget)

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

    answers: dict[str, Outcome] = {} if outcomes is None else outcomes

    async def run() -> wire.DreamAnswer:
        async with keyed_lock("dream", space), one_at_a_time(services, space):
            await write_accesses(services)
            return await execute(
                services,
                space,
                snapshot=snapshot,
                complete=lambda job: answered(services, "dream-requests", job, answers, bulk=False),
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


def dream_snapshot(services: Services, reader: Reader, token_budget: int | None) -> dream_case.DreamJob:
    """Return what a dream is decided from."""
    return dream_case.snapshot(
        reader,
        token_budget=token_budget,
        max_token_budget=services.config.dream.max_token_budget,
        window=services.config.consolidation.window,
        literals=services.config.redact.literals,
        at=services.clock(),
    )


async def learn_from_spool(services: Services) -> None:
    """Learn from threads whose answers appear in the spool, until the daemon stops; return at once without a spool."""
    settings = services.config.distiller
    if settings.kind == "spool":
        await learn_from_answers(
            settings.spool_folder,
            lambda space, thread, reflects: learn(services, space, thread, who="distiller", reflect=reflects),
        )
