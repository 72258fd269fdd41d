"""Learn memories from a thread, or distill it: decided in the compute process, its documents then written.

Distilling, learning and dreaming all write memories, so they share the lock "memories".
"""

from __future__ import annotations

import asyncio
import itertools
from contextlib import suppress

from reverie import wire
from reverie.context.inputs import Limits
from reverie.errors import Busy, Conflict, ValidationError
from reverie.language_model.requests import ModelRequest, ReflectionBounds
from reverie.store import Reader
from reverie.usecases import consolidation, projects
from reverie.usecases import distill as use_distill
from reverie.usecases import learn as use_learn
from reverie.usecases.by import By
from reverie.usecases.consolidation import Terms, changes_answer
from reveried.execute import decide, execute, read
from reveried.locks import keyed_lock
from reveried.models.ask import prepared
from reveried.services import Services

RANDOM_BYTES = 16
NEAREST_TRIES = 2  # attempts to decide by the memories near the candidates; their plan is stale where others learn too
NOTHING_LEARNT = wire.MemoryChanges(candidates=0, counts={}, tier="", operation=None, proposals=wire.ABSENT)


async def learn(
    services: Services,
    by: By,
    thread: str,
    *,
    reflect: bool = False,
) -> wire.MemoryChanges:
    """Learn memories from a thread's messages since it was last learnt from; return the changes of memories.

    With `reflect` the model changes the memory files by calls of tools, whatever `distiller.learning` says.

    Raises:
        NotFound: no such thread.
    """
    attempts = itertools.count()

    def snapshot(reader: Reader) -> use_learn.LearnJob:
        return learn_snapshot(services, reader, thread, reflect=reflect, memories=services.models is not None)

    async def complete(job: use_learn.LearnJob) -> use_learn.LearnJob:
        if services.models is not None:
            return job
        return await _with_memories(services, by.space, job, nearest=next(attempts) < NEAREST_TRIES)

    def unwritten(plan: use_learn.LearnPlan) -> wire.MemoryChanges | None:
        return changes_answer(plan.memories, operation=None) if plan.last_seq == plan.since else None

    return await execute(
        services,
        by,
        use_learn.DECIDED,
        snapshot,
        skip=lambda job: None if job.entries else NOTHING_LEARNT,
        complete=complete,
        unwritten=unwritten,
    )


async def _with_memories(
    services: Services, space: str, job: use_learn.LearnJob, *, nearest: bool
) -> use_learn.LearnJob:
    """Return the job with its candidates instead of the entries, and with the memories that they may change.

    All memories are read without `nearest`: so do the last attempts, after plans that were stale perhaps because of a
    document that was not read.
    """
    job.extracted = extracted = await decide(services, "learn-candidates", job, use_learn.Extracted, bulk=True)
    job.entries = []
    window = services.config.consolidation.window
    memories = None
    if nearest:
        memories = await asyncio.to_thread(
            services.nearest.snapshot,
            space,
            extracted.candidates,
            window=window,
            at=job.terms.at,
            objections=extracted.objections,
            project=projects.of_thread(job.thread) or "",
        )
    if memories is None:
        memories = await read(services, space, lambda reader: consolidation.snapshot(reader, window=window))
    job.memories = memories
    return job


def require_tools(services: Services) -> None:
    """Raise ValidationError if no language model is configured, since only a model can call tools."""
    if services.models is None:
        raise ValidationError(
            "The extractive distiller has no model, and so no tools to reflect with.",
            hint="reverie config set distiller.kind anthropic; command can reflect too.",
            reason="no_tools",
        )


def learn_snapshot(
    services: Services, reader: Reader, thread: str, *, reflect: bool = False, memories: bool = True
) -> use_learn.LearnJob:
    """Return what learning is decided from, without `memories` all but these. Raises NotFound."""
    return use_learn.snapshot(reader, thread, terms(services, reflect=reflect), memories=memories)


def terms(services: Services, *, reflect: bool = False) -> Terms:
    """Return by what memories are decided now; with `reflect`, or that setting, a model changes them by tools."""
    reflects = reflect or services.config.distiller.learning == "reflection"
    bounds = services.config.reflection
    return Terms(
        window=services.config.consolidation.window,
        at=services.clock(),
        redact=services.redact_rules,
        random=services.random(RANDOM_BYTES),
        reflection=ReflectionBounds(bounds.max_steps, bounds.max_tokens, bounds.max_seconds) if reflects else None,
    )


async def distill(services: Services, by: By, thread: str, *, token_budget: int | None = None) -> wire.DistillAnswer:
    """Distill a thread and return the answer of the API; `token_budget` bounds the tokens read and written.

    A budget is at most the maximum that `/v1/status` advertises; without one, more may be read.

    Raises:
        NotFound: no such thread.
        Conflict: nothing is old enough to distill.
        TokenBudgetExceeded: not possible within the budget; nothing was written.
    """
    return await execute(
        services, by, use_distill.DECIDED, lambda reader: _distill_snapshot(services, reader, thread, token_budget)
    )


def start_distilling(services: Services, by: By, thread_id: str) -> wire.DistilledNow | None:
    """Start the job that distills a thread with a model, and return it; None where one runs already."""
    lock = keyed_lock(f"distilling {thread_id}", by.space)
    if lock.locked():
        return None

    async def work() -> wire.DistillAnswer:
        async with lock:
            return await distill(services, by, thread_id)

    try:
        return wire.DistilledNow(job=services.jobs.start(by.space, "distill", work, who=by.who).id)
    except Busy:  # a later append tries again
        return None


async def model_requests(services: Services, space: str, thread: str, *, reflect: bool = False) -> list[ModelRequest]:
    """Return the first requests of a distillation, or of learning if nothing is old enough to distill; send none.

    With `reflect` it is the first turn of a reflection. Raises NotFound.
    """

    def distilling(reader: Reader) -> use_distill.DistillJob:
        job = _distill_snapshot(services, reader, thread, None)
        job.outcomes = {}
        return job

    def learning(reader: Reader) -> use_learn.LearnJob:
        job = learn_snapshot(services, reader, thread, reflect=reflect)
        job.outcomes = {}
        return job

    requests: list[ModelRequest] | None = None
    if not reflect:
        with suppress(Conflict):  # nothing is old enough to distill
            job = await read(services, space, distilling)
            requests = await _asked(services, "distill", job, use_distill.DistillPlan)
    if requests is None:
        unread = await read(services, space, learning)
        requests = await _asked(services, "learn", unread, use_learn.LearnPlan) if unread.entries else []
    return [await prepared(request, services.redactor) for request in requests]


async def _asked(
    services: Services, job: str, snapshot: use_distill.DistillJob | use_learn.LearnJob, plan: type[object]
) -> list[ModelRequest]:
    """Return the requests that a compute job needs answers to; none where it can be decided without one."""
    result = await decide(services, job, snapshot, plan | list[ModelRequest])  # type: ignore[arg-type]
    return result if isinstance(result, list) else []


def _distill_snapshot(
    services: Services, reader: Reader, thread: str, token_budget: int | None
) -> use_distill.DistillJob:
    """Return what a distillation is decided from. Raises NotFound and Conflict."""
    config = services.config
    limits = Limits(
        window=config.context.window,
        preserve_messages=config.compaction.preserve_recent_messages,
        preserve_tokens=config.compaction.preserve_recent_max_tokens,
    )
    budget = None if token_budget is None else min(token_budget, config.dream.max_token_budget)
    return use_distill.snapshot(reader, thread, terms(services), limits=limits, token_budget=budget)
