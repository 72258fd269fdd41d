"""Update the search indexes of memories behind the requests, and save them for the next start."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from reverie.errors import ReverieError
from reveried.daemon_records import spaces_of
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reveried.services import Services

__all__ = ["keep_index", "save_indexes"]

FIRST_AFTER_S = 2.0  # after the start, when requests that waited for it have been answered
EVERY_S = 5.0
SAVE_AFTER_S = 60.0  # a few changes are saved together; each save writes one small file and flushes another
CHANGES_MAX = 5_000  # as many changes are saved sooner


async def keep_index(
    services: Services,
    *,
    first_after_s: float = FIRST_AFTER_S,
    every_s: float = EVERY_S,
    save_after_s: float = SAVE_AFTER_S,
) -> None:
    """Open the index of every space, follow the store's commits and save now and then, until cancelled."""
    loop = asyncio.get_running_loop()
    commits, saved_at = -1, loop.time()
    await asyncio.sleep(first_after_s)
    while True:
        if commits != services.store.commits or loop.time() >= saved_at + save_after_s:
            commits = services.store.commits
            is_due = loop.time() >= saved_at + save_after_s
            spaces = await asyncio.to_thread(spaces_of, services.store)
            await asyncio.to_thread(_save, services, spaces, 0 if is_due else CHANGES_MAX)
            if is_due:
                saved_at = loop.time()
        await asyncio.sleep(every_s)


def save_indexes(services: Services) -> None:
    """Save the indexes that this process has opened: for the stop, which waits for a save that is running too."""
    _save(services, services.recall.opened(), 0)


def _save(services: Services, spaces: Sequence[str], changes_min: int) -> None:
    """Bring the indexes of spaces up to date, and save those with at least so many changes; errors are logged."""
    for space in spaces:
        try:
            if services.recall.catch_up(space) >= changes_min:
                services.recall.save(space)
        except (OSError, ReverieError) as error:
            logger("reveried.search_index").warning("a search index is not saved", space=space, problem=str(error))
