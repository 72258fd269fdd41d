"""Compact the store: after a purge, where most of the file is free pages, and where a small file has half empty pages.

Records are inserted between others, so that LMDB splits full pages in the middle: of the file with 1,600 memories that
were written one by one, 55 % are records, and 95 % after a compaction.
"""

from __future__ import annotations

import asyncio

from reverie.errors import Busy, ReverieError
from reverie.store import SYSTEM_SPACE, CompactionCursor
from reverie.usecases import purge_steps
from reverie.usecases.by import By
from reveried.drive import write
from reveried.log import logger
from reveried.services import Services

FREE_SHARE = 0.5  # of a large file, by free pages: from here on a compaction by itself is worth its work
# From so many bytes on only free pages count, once a day: writes wait for a copy, half a second for so much.
LARGE_BYTES = 64 << 20
SMALL_BYTES = 1 << 20  # a smaller file stays as it is
FILLED_SHARE = 0.75  # of the file, by bytes of records: below, a third or more of it can be saved
GROWTH = 1.25  # a file is looked at again once it has grown by this: copies then cost 5 bytes for each new one at most
QUIET_S = 10.0  # between two looks; where nothing was written in between, nobody waits for the copy
BUSY_TRIES = 5  # of a compaction that meets long reads


async def compact(services: Services) -> int:
    """Compact the store's file and clear the bytes of deleted records; return how many bytes shorter it is.

    Raises:
        Busy: reads stayed open; DiskFull: no room for the copy. The store is as it was.
    """
    with services.store.reader(SYSTEM_SPACE) as reader:
        due = reader.load(CompactionCursor, CompactionCursor.KEY)
    saved: int | None = None
    tries = BUSY_TRIES
    while saved is None:
        try:
            saved = await services.worker.run_alone(services.store.compact)
        except Busy:
            tries -= 1
            if not tries:
                raise
            await asyncio.sleep(1)
    if due is not None:
        await write(services, purge_steps.compacted, By(SYSTEM_SPACE, "purge"), due)
    return saved


async def compact_if_sparse(services: Services) -> None:
    """Compact the store where most of its file is free pages."""
    if _size(services) >= LARGE_BYTES and await asyncio.to_thread(lambda: services.store.free_share) > FREE_SHARE:
        await _compact_by_itself(services)


async def compact_when_quiet(services: Services, *, quiet_s: float = QUIET_S) -> None:
    """Compact a small store whose pages are half empty, when nothing is being written, until cancelled."""
    looked_at = 0  # bytes of the file at the last look
    commits = services.store.commits
    while True:
        await asyncio.sleep(quiet_s)
        is_quiet, commits = services.store.commits == commits, services.store.commits
        size = _size(services)
        if not is_quiet or not SMALL_BYTES <= size < LARGE_BYTES or size < GROWTH * looked_at:
            continue
        try:
            if await asyncio.to_thread(lambda: services.store.filled_share) < FILLED_SHARE:
                await _compact_by_itself(services)
        except ReverieError as error:
            logger("reveried.compaction").warning("the store was not compacted", code=error.code)
        looked_at, commits = _size(services), services.store.commits


async def _compact_by_itself(services: Services) -> None:
    saved = await compact(services)
    logger("reveried.compaction").info("the store was compacted", bytes=saved)


def _size(services: Services) -> int:
    return (services.store.path / "data.mdb").stat().st_size
