"""Distill a thread: decided in the compute process, with its documents then put on disk.

Distilling, learning and dreaming all write memories, so they share the lock "memories".
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from reverie import wire
from reverie.errors import Busy, Conflict
from reverie.usecases import distill as use_distill
from reverie.usecases import learn
from reveried.actions.learn import learn_snapshot, terms
from reveried.execute import execute, read
from reveried.locks import keyed_lock
from reveried.models.ask import asked, prepared

if TYPE_CHECKING:
    from reverie.language_model.requests import ModelRequest
    from reverie.store import Reader
    from reverie.usecases.by import By
    from reveried.services import Services


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
        return wire.DistilledNow(job=services.jobs.start(by.space, "distill", work).id)
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

    def learning(reader: Reader) -> learn.LearnJob:
        job = learn_snapshot(services, reader, thread, reflect=reflect)
        job.outcomes = {}
        return job

    requests: list[ModelRequest] | None = None
    if not reflect:
        with suppress(Conflict):  # nothing is old enough to distill
            job = await read(services, space, distilling)
            requests = await asked(services, "distill", job, use_distill.DistillPlan)
    if requests is None:
        unread = await read(services, space, learning)
        requests = await asked(services, "learn", unread, learn.LearnPlan) if unread.entries else []
    return [await prepared(request, services.redactor) for request in requests]


def _distill_snapshot(
    services: Services, reader: Reader, thread: str, token_budget: int | None
) -> use_distill.DistillJob:
    """Return what a distillation is decided from. Raises NotFound and Conflict."""
    config = services.config
    bounds = use_distill.Bounds(
        preserve_messages=config.compaction.preserve_recent_messages,
        preserve_tokens=config.compaction.preserve_recent_max_tokens,
    )
    if token_budget is not None:
        bounds.token_budget = min(token_budget, config.dream.max_token_budget)
        bounds.is_budgeted = True
    return use_distill.snapshot(reader, thread, terms(services), bounds=bounds, window=config.context.window)
