"""Recall of memories, at once where their index is current, and the accesses that it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reverie.errors import ReverieError
from reverie.models import MemoryType
from reverie.store import MemoryRecord, Reader
from reverie.text_recall import RECALL_TOKENS, Found
from reveried.locks import wait_together
from reveried.log import logger
from reveried.services import Services

if TYPE_CHECKING:
    from reverie import wire

WAITS = 3  # for an index that catches up, and may be behind again or in use by then; after them a thread of its own


async def recall(
    services: Services, space: str, asked: wire.RecallRequest, projects: Collection[str] | None
) -> Found[MemoryRecord]:
    """Return the memories of these projects, None for all, that answer a query; each hit counts, but for a peek.

    They have their access counts.
    """
    query, peek = asked.query, asked.peek
    options: dict[str, Any] = {
        "limit": asked.limit,
        "token_budget": asked.token_budget or RECALL_TOKENS,
        "types": {MemoryType(kind) for kind in asked.types} if asked.types else None,
        "tags": asked.tags or None,
        "projects": projects,
        "min_score": asked.min_score,
    }

    def at_once() -> Found[MemoryRecord] | None:
        with services.store.reader(space) as reader:
            result = services.recall.recall_at_once(reader, query, **options)
            return None if result is None else _recalled(services, reader, result, peek=peek)

    # A thread costs more than a search does. It is for an index that has to catch up first, which is done once for all
    # that come meanwhile: with a thread each, hundreds of them would wait for one another's.
    for _ in range(WAITS):
        if (answer := at_once()) is not None:
            return answer
        await wait_together("recall", space, lambda: asyncio.to_thread(services.recall.catch_up, space))
    if (answer := at_once()) is not None:
        return answer
    result = await asyncio.to_thread(services.recall.recall, space, query, **options)
    with services.store.reader(space) as reader:
        return _recalled(services, reader, result, peek=peek)


def _recalled(services: Services, reader: Reader, found: Found[MemoryRecord], *, peek: bool) -> Found[MemoryRecord]:
    """Return the hits with the access counts of their memories; this recall is counted too, unless `peek`."""
    memories_found = [hit.memory for hit in found.hits]
    if not peek:
        services.accesses.count(reader.space, [memory.id for memory in memories_found], at=services.clock())
    records = services.accesses.with_accesses(reader, memories_found)
    hits = [hit._replace(memory=record) for hit, record in zip(found.hits, records, strict=True)]
    return replace(found, hits=hits)


EVERY_S = 3.0  # a process that is killed loses the counts of this time at most


async def write_accesses_regularly(services: Services, *, every_s: float = EVERY_S) -> None:
    """Write accesses every few seconds, where there are any, until cancelled."""
    while True:
        await asyncio.sleep(every_s)
        await write_accesses(services)


async def write_accesses(services: Services) -> None:
    """Write the access counts of every space in the bulk lane; counts whose write fails are written the next time."""
    for space in services.accesses.spaces():
        try:
            for write in services.accesses.writes(space):
                services.accesses.committed(space, (await services.submit(write, bulk=True)).value)
        except ReverieError as error:
            logger("reveried.accesses").warning("access counts wait", space=space, code=error.code)
