"""A chunk of a transcript: decided in the bulk lane, committed behind the agents' writes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from reverie.engine import imports
from reveried.flows.deciding import decided, until_fresh

if TYPE_CHECKING:
    from reveried.services import Services

__all__ = ["take"]


async def take(
    services: Services, space: str, import_id: str, *, offset: int, first_line: int, data: bytes, final: bool
) -> dict[str, Any]:
    """Adds the whole lines of `data`, which stand at byte `offset` of the file, to the import's thread.

    Raises:
        NotFound: no such import.
        Conflict: the import stands elsewhere.
    """

    async def attempt() -> dict[str, Any]:
        job = await asyncio.to_thread(
            _snapshot, services, space, import_id, offset=offset, first_line=first_line, data=data, final=final
        )
        plan = await decided(services, "import", job, imports.ChunkPlan, bulk=True)
        committed = await services.submit(imports.commit_chunk(space, import_id, offset, plan), bulk=True)
        return {
            **committed.value,
            "added": len(plan.sealed),
            "duplicates": plan.duplicates,
            "redacted": plan.redacted,
            "counts": plan.counts,
            "problems": [{"line": line, "why": why} for line, why in plan.problems],
        }

    return await until_fresh(attempt)


def _snapshot(
    services: Services, space: str, import_id: str, *, offset: int, first_line: int, data: bytes, final: bool
) -> imports.ChunkJob:
    with services.store.reader(space) as reader:
        here = imports.place(reader, import_id)
        again = offset < here.offset
        return imports.ChunkJob(
            data=data,
            first_line=first_line,
            final=final,
            stood=here.offset,
            inside="nothing" if again else here.inside,
            reply=None if again else here.reply,
            seen=imports.seen(reader, here.thread) if again or here.mixed or here.lines == 0 else [],
            literals=list(services.config.redact.literals),
        )
