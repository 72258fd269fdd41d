"""Actions on the history: undo and rollback, with the folder in sync before and after; and the daily retention."""

from __future__ import annotations

import asyncio

from reverie import wire
from reverie.errors import ReverieError
from reverie.store.versions import Rules
from reverie.usecases import history, undo
from reverie.usecases.by import By
from reveried.actions.compact import compact_if_sparse
from reveried.drive import write
from reveried.locks import keyed_lock
from reveried.log import logger
from reveried.services import Services
from reveried.stored import spaces_of

WHO = "retention"
FIRST_AFTER_S = 300.0  # the first minutes after a start belong to callers and to the first scans of the folders
EVERY_S = 24 * 3600.0
STEPS_LOGGED = 400  # steps of the work on old versions between two lines of the log: some 10,000 versions


async def rollback(
    services: Services, by: By, seq: int, *, path: str | None, memory: str | None
) -> wire.RollbackAnswer:
    """Roll back to an operation. All saves of people are committed before, so that their texts stay in the history.

    The lock keeps consolidations out, whose plans a rollback would make stale one after the other.
    """
    async with keyed_lock("memories", by.space):
        await services.sync_service.sync(by.space, None, whole=True)
        return await write(services, undo.rollback, by, seq, path=path, memory=memory)


async def prune_daily(services: Services, *, first_after_s: float = FIRST_AFTER_S, every_s: float = EVERY_S) -> None:
    """Apply the retention rules once a day until cancelled; an error is logged, and the next day tries again."""
    await asyncio.sleep(first_after_s)
    while True:
        try:
            await shorten_versions(services)
            removed = await prune(services)
            if removed:
                logger("reveried.retention").info("what was old enough is gone", records=removed)
            await compact_if_sparse(services)
        except ReverieError as error:
            logger("reveried.retention").error("retention stopped", code=error.code)
        await asyncio.sleep(every_s)


async def shorten_versions(services: Services) -> None:
    """Convert versions that older releases stored as whole texts to edits, in small writes behind agents' writes.

    Once for each space: a step saves how far it came, so that the next start goes on from there.
    """
    for space in await asyncio.to_thread(spaces_of, services.store):
        steps = 1
        while not await write(services, history.shorten_step, By(space, WHO)):
            steps += 1
            if steps % STEPS_LOGGED == 0:
                logger("reveried.retention").info("old versions are being made smaller", space=space, steps=steps)


async def prune(services: Services) -> int:
    """Apply the retention rules to every space, in steps behind other writes; return the number of deleted records."""
    days = services.config.retention
    rules = Rules(
        version_days=days.version_days,
        event_days=days.event_days,
        key_days=days.key_days,
        failure_days=days.failure_days,
    )
    removed = 0
    for space in await asyncio.to_thread(spaces_of, services.store):
        cursor: str | None = None
        while True:
            step = await write(services, history.prune_step, By(space, WHO), rules, cursor)
            removed += step.removed
            cursor = step.cursor
            if cursor is None:
                break
    return removed
