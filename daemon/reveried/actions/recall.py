"""Searches what is remembered; whatever is found counts as read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from reverie.models import MemoryType
from reverie.store import Kind
from reverie.usecases.memory_index import accessed, with_access

if TYPE_CHECKING:
    from collections.abc import Collection

    from reverie.recall import Hit
    from reveried.services import Services

__all__ = ["RECALL_TOKENS", "recalled"]

RECALL_TOKENS = 1_500


async def recalled(
    services: Services,
    space: str,
    query: str,
    *,
    limit: int,
    token_budget: int | None = None,
    types: Collection[str] | None = None,
    tags: Collection[str] | None = None,
) -> list[tuple[Hit, dict[str, Any]]]:
    """The memories that answer a query, best first, each with its record; within 1,500 tokens unless told."""
    hits: list[Hit] = await asyncio.to_thread(
        services.recall.search,
        space,
        query,
        limit=limit,
        token_budget=token_budget or RECALL_TOKENS,
        types={MemoryType(kind) for kind in types} if types else None,
        tags=tags or None,
    )
    if hits:
        await services.submit(accessed(space, [hit.memory.id for hit in hits], at=services.clock()), bulk=True)
    with services.store.reader(space) as reader:
        found = [(hit, reader.get(Kind.MEMORY, (hit.memory.id,))) for hit in hits]
        return [(hit, with_access(reader, record)) for hit, record in found if record is not None]
