"""Applies the retention rules once a day, behind everything else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from reverie.errors import ReverieError
from reverie.usecases import retention
from reveried.log import logger
from reveried.system_records import spaces_of

if TYPE_CHECKING:
    from reveried.services import Services

__all__ = ["keep_rules", "prune"]

FIRST_AFTER_S = 300.0  # a start has better things to do
EVERY_S = 24 * 3600.0


async def keep_rules(services: Services, *, first_after_s: float = FIRST_AFTER_S, every_s: float = EVERY_S) -> None:
    """Prunes again and again until it is cancelled; a failure is logged, and the next day tries anew."""
    await asyncio.sleep(first_after_s)
    while True:
        try:
            removed = await prune(services)
            if removed:
                logger("reveried.retention").info("what was old enough is gone", records=removed)
        except ReverieError as error:
            logger("reveried.retention").error("retention stopped", code=error.code)
        await asyncio.sleep(every_s)


async def prune(services: Services) -> int:
    """One pass over every space: how many records went."""
    days = services.config.retention
    rules = retention.Rules(
        version_days=days.version_days, event_days=days.event_days, key_days=days.key_days, job_days=days.job_days
    )
    removed = 0
    for space in await asyncio.to_thread(spaces_of, services.store):
        cursor: str | None = None
        while True:
            done = await services.submit(retention.step(space, rules, cursor), bulk=True)
            removed += done.value.removed
            cursor = done.value.cursor
            if cursor is None:
                break
    return removed
