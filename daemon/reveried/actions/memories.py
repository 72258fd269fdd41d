"""Actions on memories: create, change, delete and recall them; their documents are updated on disk with them."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from reverie.models import MemoryType
from reverie.text_recall import RECALL_TOKENS
from reverie.usecases import memories as memory_changes
from reveried.actions.documents import (
    check_spelling,
    check_writable,
    commit_write,
    note_taken,
    redacted,
    submit_or_hold,
)
from reveried.locks import wait_together

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from reverie import wire
    from reverie.models import Candidate
    from reverie.store import MemoryRecord, Reader
    from reverie.text_recall import Found, Hit
    from reverie.usecases.put import Author
    from reveried.services import Services

WAITS = 3  # for an index that catches up, and may be behind again or in use by then; after them a thread of its own


async def remember(
    services: Services,
    space: str,
    candidate: Candidate,
    *,
    who: str,
    author: Author,
    document: str | None,
    idempotency: tuple[str, str] | None,
) -> memory_changes.RememberedMemory:
    """Create a memory, unless the document has the same one; return its record."""
    write = memory_changes.remember(
        space,
        candidate,
        who=who,
        author=author,
        new_id=partial(services.new_id, "mem"),
        document=document,
        idempotency=idempotency,
    )
    if document is not None:
        await check_spelling(services, space, document)
        check_writable(services, space, document)
    record = await submit_or_hold(services, space, write)
    await note_taken(services, space, "memory", record.id)
    await services.sync_service.write_documents(space, {record.document})
    return record


async def change(
    services: Services,
    space: str,
    memory_id: str,
    *,
    content: str | None,
    tags: Sequence[str] | None,
    who: str,
    author: Author,
) -> MemoryRecord:
    """Change the content or the tags of a memory; return its record."""
    read = _stored_memory(services, space, memory_id)
    write = memory_changes.change(
        space, memory_id, content=redacted(services, content), tags=tags, who=who, author=author, read=read
    )
    return await commit_write(services, space, read.document, write)


async def forget(services: Services, space: str, memory_id: str, *, who: str, author: Author) -> wire.MemoryDeleted:
    """Delete a memory from its document."""
    read = _stored_memory(services, space, memory_id)
    write = memory_changes.forget(space, memory_id, who=who, author=author, read=read)
    return await commit_write(services, space, read.document, write, deletes=read.content)


class Recalled(NamedTuple):
    """The hits of a recall, best first, with their records; the number of weaker hits; the threshold of relevance."""

    hits: list[tuple[Hit[MemoryRecord], MemoryRecord]]
    weaker: int
    min_score: float


async def recall(
    services: Services,
    space: str,
    query: str,
    *,
    limit: int,
    token_budget: int | None = None,
    types: Collection[str] | None = None,
    tags: Collection[str] | None = None,
    projects: Collection[str] | None = None,
    min_score: float | None = None,
    peek: bool = False,
) -> Recalled:
    """Return the memories that answer a query, and count an access of each hit unless the caller only peeks."""
    options: dict[str, Any] = {
        "limit": limit,
        "token_budget": token_budget or RECALL_TOKENS,
        "types": {MemoryType(kind) for kind in types} if types else None,
        "tags": tags or None,
        "projects": projects,
        "min_score": min_score,
    }

    def at_once() -> Recalled | None:
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


def _recalled(services: Services, reader: Reader, found: Found[MemoryRecord], *, peek: bool) -> Recalled:
    """Return the hits with the access counts of their memories; this recall is counted too, unless `peek`."""
    memories_found = [hit.memory for hit in found.hits]
    if not peek:
        services.accesses.count(reader.space, [memory.id for memory in memories_found], at=services.clock())
    records = services.accesses.with_accesses(reader, memories_found)
    return Recalled(list(zip(found.hits, records, strict=True)), found.weaker, found.min_score)


def _stored_memory(services: Services, space: str, memory_id: str) -> MemoryRecord:
    """Return the version of a memory that the caller can have read: without a person's save that is not committed."""
    with services.store.reader(space) as reader:
        return memory_changes.get(reader, memory_id)
