"""The lines that threads have for the brief of their project: made in the compute process, and stored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from reverie.errors import NotFound, ReverieError
from reverie.usecases import briefs
from reveried.execute_use_cases import decide, read
from reveried.keyed_locks_and_shared_waits import keyed_lock
from reveried.log import logger

if TYPE_CHECKING:
    from reveried.services import Services

__all__ = ["refresh", "refresh_ended"]


async def refresh(services: Services, space: str, project: str) -> None:
    """Make the lines of the threads of a project that have grown since theirs were made, the newest first."""
    for thread in await read(services, space, partial(services.briefs.stale, project=project)):
        try:
            await _make(services, space, thread)
        except NotFound:  # deleted meanwhile
            continue


async def refresh_ended(services: Services, space: str, thread: str) -> None:
    """Make the lines of a thread that was imported or has ended; if that fails, the next brief makes them."""
    try:
        await _make(services, space, thread, bulk=True)
    except ReverieError as error:
        logger("reveried.brief_lines").info("the lines of a thread are left for later", code=error.code)


async def _make(services: Services, space: str, thread: str, *, bulk: bool = False) -> None:
    async with keyed_lock("brief", f"{space}/{thread}"):
        job = await read(services, space, partial(briefs.snapshot_thread, thread_id=thread))
        if job is None:  # they are current
            return
        plan = await decide(services, "brief", job, briefs.ThreadPlan, bulk=bulk)
        await services.submit(briefs.commit_thread(plan, space=space), bulk=True)
