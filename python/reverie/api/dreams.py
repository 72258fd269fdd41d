"""Dreams, and their schedules."""

from types import NoneType
from typing import Literal

from reverie.api.endpoint import Endpoint, at
from reverie.wire import dreams as types
from reverie.wire.base import ListQuery, NoQuery, Page


def _schedule(
    cron: str,
    *,
    timezone: str = "UTC",
    token_budget: int | None = None,
    job: Literal["dream", "learn"] = "dream",
) -> types.CreateSchedule:
    return types.CreateSchedule(cron, timezone, job, types.DreamOptions(token_budget))


class Dreams:
    """Operations on dreams. A budget that cannot be met is refused with TokenBudgetExceeded."""

    # fmt: off
    dream = Endpoint("POST /v1/dreams", types.StartDream, types.DreamAnswer,
        "Dreams about what changed since the last dream.", job=True)
    start_dream = dream.started()
    dreams = Endpoint("GET /v1/dreams", ListQuery, Page[types.DreamRecord], "Past dreams.")
    dream_record = Endpoint("GET /v1/dreams/{id}", at(NoQuery), types.DreamRecord, "One past dream.")
    schedules = Endpoint("GET /v1/schedules", NoQuery, Page[types.Schedule], "The schedules of the space.")
    add_schedule = Endpoint("POST /v1/schedules", _schedule, types.Schedule, "Adds a schedule.", status=201)
    remove_schedule = Endpoint("DELETE /v1/schedules/{id}", at(NoQuery), NoneType, "Deletes a schedule.", status=204)
