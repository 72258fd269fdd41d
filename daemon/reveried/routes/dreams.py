"""`/v1/dreams` and `/v1/schedules`: distilling what is new, now or by the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import tokens, wire
from reverie.errors import NotFound
from reverie.store import Kind
from reveried.actions import dreams
from reveried.execution import answer_once
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.routes import jobs
from reveried.routes.listing import page

if TYPE_CHECKING:
    from reveried.http.call import Call
    from reveried.jobs import Progress

__all__ = ["ROUTES", "dream_shown"]


def dream_shown(record: dict[str, Any]) -> dict[str, Any]:
    """A past dream as the wire shows it."""
    return {
        "id": record["id"],
        "at": record["at"],
        "archive": record["archive"],
        "tokensUsed": record["tokensUsed"],
        "tokenBudget": record["tokenBudget"],
        "trigger": record["trigger"],
        "counts": record["counts"],
        "operation": record["operation"],
        "tokenizer": tokens.TOKENIZER,
    }


async def start(call: Call) -> Reply:
    """Distils what is new since the last dream; a dry run decides and writes nothing."""
    asked, idempotency = call.into(wire.StartDream), call.idempotency

    async def work(_: Progress) -> dict[str, Any]:
        return await dreams.dream(
            call.services,
            call.space,
            who=call.who,
            trigger="manual",
            token_budget=asked.token_budget,
            dry_run=asked.dry_run,
            idempotency=idempotency,
        )

    return await jobs.answer(call, "dream", work)


async def list_dreams(call: Call) -> Reply:
    """Past dreams, newest first."""
    return await page(call, Kind.DREAM, lambda _, record: dream_shown(record), newest_first=True)


async def get_dream(call: Call) -> Reply:
    """One past dream."""
    with call.services.store.reader(call.space) as reader:
        found = reader.get(Kind.DREAM, (call.params["id"],))
    if found is None:
        raise NotFound(f"no dream is called {call.params['id']!r}", hint="reverie log lists what was written")
    return Reply(dream_shown(found))


async def list_schedules(call: Call) -> Reply:
    """What runs by itself, each with its next run."""
    return Reply({"items": call.services.scheduler.list(call.space), "next": None})


async def add_schedule(call: Call) -> Reply:
    """Adds a schedule, or replaces the one of the same id."""
    asked = call.into(wire.CreateSchedule)
    services = call.services
    schedule_id = asked.id or services.new_id("sch")
    options = {} if asked.options.token_budget is None else {"tokenBudget": asked.options.token_budget}

    async def add() -> dict[str, Any]:
        return await services.scheduler.add(
            call.space, schedule_id, cron=asked.cron, timezone=asked.timezone, job=asked.job, options=options
        )

    made = await answer_once(services, call.space, call.idempotency, add)
    return Reply(made, status=201, headers={"location": f"/v1/schedules/{made['id']}"})


async def remove_schedule(call: Call) -> Reply:
    """Forgets a schedule."""
    await call.services.scheduler.remove(call.space, call.params["id"])
    return Reply(status=204)


ROUTES = (
    Route(
        "POST",
        "/v1/dreams",
        start,
        "Distils what is new.",
        takes=wire.StartDream,
        gives=wire.DreamAnswer,
        query=("wait",),
    ),
    Route(
        "GET", "/v1/dreams", list_dreams, "Past dreams.", gives=wire.Page[wire.DreamRecord], query=("limit", "after")
    ),
    Route("GET", "/v1/dreams/{id}", get_dream, "One past dream.", gives=wire.DreamRecord),
    Route("GET", "/v1/schedules", list_schedules, "What runs by itself.", gives=wire.Page[wire.Schedule]),
    Route(
        "POST",
        "/v1/schedules",
        add_schedule,
        "Adds a schedule.",
        takes=wire.CreateSchedule,
        gives=wire.Schedule,
        status=201,
    ),
    Route("DELETE", "/v1/schedules/{id}", remove_schedule, "Forgets a schedule.", status=204),
)
