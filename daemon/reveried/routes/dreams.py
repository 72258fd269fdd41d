"""`/v1/dreams` and `/v1/schedules`: dreams, started by a call or by a schedule."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from reverie import cron_expression, wire
from reverie.api.dreams import Dreams
from reverie.errors import Forbidden
from reverie.store import DreamRecord
from reverie.usecases import dream as use_dream
from reveried.actions import dream
from reveried.http.route import reads, serves
from reveried.routes import jobs
from reveried.routes.pagination import record_page

if TYPE_CHECKING:
    from reverie.store import Reader
    from reveried.http.types import Call, Reply


@serves(Dreams.dream)
async def start(call: Call) -> Reply:
    """Dream about what changed since the last dream; a dry run decides and writes nothing."""
    request = call.into(wire.StartDream)
    work = partial(
        dream.dream,
        call.services,
        call.by,
        trigger="manual",
        token_budget=request.token_budget,
        dry_run=request.dry_run,
    )
    return await jobs.start_job(call, "dream", work)


@reads(Dreams.dreams)
def list_dreams(reader: Reader, call: Call) -> wire.Page[wire.DreamRecord]:
    """List past dreams, newest first."""
    return record_page(reader, call, DreamRecord, lambda _, record: use_dream.dream_answer(record), newest_first=True)


reads(Dreams.dream_record)(lambda reader, call: use_dream.get(reader, call.params["id"]))


@serves(Dreams.schedules)
async def list_schedules(call: Call) -> wire.Page[wire.Schedule]:
    """List the schedules of the space, each with its next run."""
    return wire.Page(items=call.services.scheduler.list(call.space))


@serves(Dreams.add_schedule, once=True)
async def add_schedule(call: Call) -> wire.Schedule:
    """Add a schedule, or replace the one of the same id; an agent's token replaces the agent's own alone."""
    request = call.into(wire.CreateSchedule)
    schedule_id = request.id or call.services.new_id("sch")
    if call.agent is not None:
        _require_hourly(call, request.cron, schedule_id)
    options = {} if request.options.token_budget is None else {"tokenBudget": request.options.token_budget}
    return await call.services.scheduler.add(
        call.space,
        schedule_id,
        cron=request.cron,
        timezone=request.timezone,
        job=request.job,
        options=options,
        agent=call.agent,
    )


def _require_hourly(call: Call, cron: str, schedule_id: str) -> None:
    """Refuse an agent's schedule that runs more than once in an hour, alone or with what runs many times a day already.

    Raises:
        Forbidden: it does.
    """
    others = [one.cron for one in call.services.scheduler.list(call.space) if one.id != schedule_id]
    crons = [cron_expression.parse(cron), *(one for one in map(cron_expression.parse, others) if not one.daily)]
    minutes = {minute for one in crons for minute in one.minutes}
    if len(minutes) > 1:
        raise Forbidden(
            "An agent's schedules run at most once an hour.",
            hint=f"Name one minute, such as {min(minutes)} * * * *; a person adds others: reverie schedule add",
        )


@serves(Dreams.remove_schedule)
async def remove_schedule(call: Call) -> None:
    """Delete a schedule; an agent's token deletes the agent's own alone."""
    await call.services.scheduler.remove(call.space, call.params["id"], agent=call.agent)
