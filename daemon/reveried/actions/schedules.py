"""Scheduled work: dreams, and learning from every thread with something new; where configured its requests are a batch.

A batch takes up to a day, so it is waited for before the locks of a space are taken, and its answers are given to the
ordinary dream or learning. What they do not answer, since memories have changed meanwhile or since it follows from an
answer (the consolidation of what was extracted), is asked directly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.errors import ModelFailed, NotFound, ReverieError, failure_of
from reverie.language_model.requests import ModelRequest, Outcome
from reverie.store import ThreadRecord
from reverie.usecases import dream as dream_case
from reverie.usecases import learn as learn_case
from reveried.actions.accesses import write_accesses
from reveried.actions.dream import dream, dream_snapshot
from reveried.actions.learn import learn, learn_snapshot
from reveried.execute import read
from reveried.models.ask import asked, prepared
from reveried.models.batches import ITEMS_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.store import BatchEntry, Reader
    from reveried.models.batches import Batches
    from reveried.services import Services

WHO = "schedule"


def register_scheduled_jobs(services: Services) -> None:
    """Register the two jobs that a schedule can start: `dream`, whose options may name a `tokenBudget`, and `learn`."""

    async def run_dream(space: str, options: dict[str, Any]) -> None:
        await dream_by_schedule(services, space, options.get("tokenBudget"))

    async def run_learn(space: str, _: dict[str, Any]) -> None:
        await learn_from_all(services, space)

    services.scheduler.register_job("dream", run_dream)
    services.scheduler.register_job("learn", run_learn)


async def dream_by_schedule(services: Services, space: str, token_budget: int | None) -> None:
    """Make a scheduled dream; a failed one is recorded among the dreams, since no caller waits for its answer."""
    try:
        outcomes: dict[str, Outcome] = {}
        entries: list[BatchEntry] = []
        batches = _batches(services)
        if batches is not None:
            entries, outcomes, _ = await _resumed(batches, space, learning=False)
            await write_accesses(services)
            job = await read(services, space, lambda reader: dream_snapshot(services, reader, token_budget))
            job.outcomes = {}
            requests = await asked(services, "dream", job, dream_case.DreamPlan)
            sent, more = await _answered(services, batches, space, requests, known=outcomes, through={})
            entries, outcomes = [*entries, *sent], outcomes | more
        await dream(services, services.by(space, WHO), trigger="schedule", token_budget=token_budget, outcomes=outcomes)
        for entry in entries:
            assert batches is not None
            await batches.forget(entry)
    except BaseException as error:
        failure = dream_case.commit_failure.write(
            services.by(space, WHO),
            failure_of(error),
            trigger="schedule",
            token_budget=token_budget or services.config.dream.max_token_budget,
        )
        await services.submit(failure)
        raise


async def learn_from_all(services: Services, space: str) -> None:
    """Learn from each thread of a space with messages not learnt from; a failing thread does not stop the others."""
    through = await read(services, space, _unlearnt)
    batches = _batches(services)
    entries: list[BatchEntry] = []
    outcomes: dict[str, Outcome] = {}
    # The turns of a reflection follow from each other, so they are asked one by one.
    if batches is not None and services.config.distiller.learning == "extraction":
        entries, outcomes, read_before = await _resumed(batches, space, learning=True)
        through |= {thread: seq for thread, seq in read_before.items() if thread in through}
        requests: list[ModelRequest] = []
        for thread, seq in through.items():
            requests += await _first_requests(services, space, thread, seq)
        sent, more = await _answered(services, batches, space, requests, known=outcomes, through=through)
        entries, outcomes = [*entries, *sent], outcomes | more
    failed: ReverieError | None = None
    for thread, seq in through.items():
        try:
            await learn(services, services.by(space, WHO), thread, through=seq, outcomes=dict(outcomes))
        except NotFound:
            continue  # it was deleted meanwhile
        except ReverieError as error:
            failed = error
    for entry in entries:
        assert batches is not None
        await batches.forget(entry)
    if failed is not None:
        raise failed


def _batches(services: Services) -> Batches | None:
    return None if services.models is None else services.models.batches


def _unlearnt(reader: Reader) -> dict[str, int]:
    """Return the threads with entries not learnt from, each with its last entry."""
    threads = (thread for _, thread in reader.records(ThreadRecord))
    return {thread.id: thread.last_seq for thread in threads if thread.last_seq > thread.extracted_seq}


async def _first_requests(services: Services, space: str, thread: str, through: int) -> list[ModelRequest]:
    """Return the first requests to a model for learning from a thread; none where it was deleted or has nothing new."""
    try:
        job = await read(services, space, lambda reader: learn_snapshot(services, reader, thread, through=through))
    except NotFound:
        return []
    if not job.entries:
        return []
    job.outcomes = {}
    return await asked(services, "learn", job, learn_case.LearnPlan, bulk=True)


async def _resumed(
    batches: Batches, space: str, *, learning: bool
) -> tuple[list[BatchEntry], dict[str, Outcome], dict[str, int]]:
    """Wait for earlier batches of learning or dreams; return them, their outcomes, and the last entries read."""
    outcomes: dict[str, Outcome] = {}
    through: dict[str, int] = {}
    entries = batches.under_way(space, learning=learning)
    for entry in entries:
        outcomes |= await batches.answers(entry)
        through |= entry.through
    return entries, outcomes, through


async def _answered(
    services: Services,
    batches: Batches,
    space: str,
    requests: Sequence[ModelRequest],
    *,
    known: Mapping[str, Outcome],
    through: Mapping[str, int],
) -> tuple[list[BatchEntry], dict[str, Outcome]]:
    """Send the requests without an outcome as batches and wait for their end; return the batches and their outcomes.

    `through` is the last entry that was read of each thread; a dream reads none.
    """
    missing = list({request.id: request for request in requests if request.id not in known}.values())
    outcomes: dict[str, Outcome] = {}
    before = {entry.id for entry in batches.under_way(space, learning=bool(through))}
    for begin in range(0, len(missing), ITEMS_MAX):
        part = missing[begin : begin + ITEMS_MAX]
        try:
            await batches.send(space, [await prepared(request, services.redactor) for request in part], through)
        except ModelFailed as failure:
            outcomes |= {request.id: Outcome(reason=failure.reason, message=failure.message) for request in part}
    now = batches.under_way(space, learning=bool(through))
    sent = [entry for entry in now if entry.id not in before and entry.provider]
    for entry in sent:
        outcomes |= await batches.answers(entry)
    return sent, outcomes
