"""Scheduled work: dreams, and learning from every thread with something new."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reverie import wire
from reverie.errors import NotFound, ReverieError, failure_of
from reverie.store import Reader, ThreadRecord
from reveried.execute import read, stored_answer
from reveried.services import Services

WHO = "schedule"


def register_scheduled_jobs(services: Services) -> None:
    """Register the two jobs that a schedule can start: `dream`, whose options may name a `tokenBudget`, and `learn`."""

    async def run_dream(space: str, options: dict[str, Any], run: str) -> None:
        await dream_by_schedule(services, space, options.get("tokenBudget"), run)

    async def run_learn(space: str, _options: dict[str, Any], _run: str) -> None:
        await learn_from_all(services, space)

    async def is_dreamt(space: str, run: str) -> bool:
        return await stored_answer(services, space, _key(run), wire.DreamAnswer) is not None

    services.scheduler.register_job("dream", run_dream, is_done=is_dreamt)
    services.scheduler.register_job("learn", run_learn)


async def dream_by_schedule(services: Services, space: str, token_budget: int | None, run: str) -> None:
    """Make a scheduled dream; a failed one is recorded among the dreams, since no caller waits for its answer.

    Its idempotency key is the name of its `run`: one that was committed before a crash is not made again, and a repeat
    writes the files that the first one may not have come to.
    """
    # Imported where they run, here and below: at the start they are only registered.
    from reverie.usecases import dream as use_dream  # noqa: PLC0415
    from reveried.actions.dream import dream  # noqa: PLC0415

    by = replace(services.by(space, WHO), key=_key(run))
    try:
        await dream(services, by, trigger="schedule", token_budget=token_budget)
    except BaseException as error:
        failure = use_dream.commit_failure.write(
            services.by(space, WHO),
            failure_of(error),
            trigger="schedule",
            token_budget=token_budget or services.config.dream.max_token_budget,
        )
        await services.submit(failure)
        raise


def _key(run: str) -> tuple[str, str]:
    return f"dream\n{run}", ""  # no client's key has a line feed


async def learn_from_all(services: Services, space: str) -> None:
    """Learn from each thread of a space with messages not learnt from; a failing thread does not stop the others."""
    from reveried.actions.learn import learn  # noqa: PLC0415

    failed: ReverieError | None = None
    for thread in await read(services, space, _unlearnt):
        try:
            await learn(services, services.by(space, WHO), thread)
        except NotFound:
            continue  # it was deleted meanwhile
        except ReverieError as error:
            failed = error
    if failed is not None:
        raise failed


def _unlearnt(reader: Reader) -> list[str]:
    threads = (thread for _, thread in reader.records(ThreadRecord))
    return [thread.id for thread in threads if thread.last_seq > thread.extracted_seq]
