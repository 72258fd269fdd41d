"""A chunk of a transcript: decided in the bulk lane, committed behind the agents' writes."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from reverie.usecases import imports
from reveried.execution import decide, retry_while_stale
from reveried.keyed_lock import keyed_lock

if TYPE_CHECKING:
    from reveried.services import Services

__all__ = ["take"]

PIECE_BYTES = 512 * 1024  # of one commit when nobody else writes
PIECE_BESIDE_BYTES = 64 * 1024  # and when agents do: a write of theirs that shares the commit waits 1 or 2 ms for it


async def take(
    services: Services, space: str, import_id: str, *, offset: int, first_line: int, data: bytes, final: bool
) -> dict[str, Any]:
    """Adds the whole lines of `data`, which stand at byte `offset` of the file, to the import's thread.

    Piece by piece: what was added stays when a later piece fails, and the import stands behind it.

    Raises:
        NotFound: no such import.
        Conflict: the import stands elsewhere.
    """
    here = await asyncio.to_thread(_place, services, space, import_id)
    # Where lines may be known already, each piece would look all of them up again.
    whole = offset < here.offset or here.mixed
    done: dict[str, Any] = {}
    sums: dict[str, Any] = {"added": 0, "duplicates": 0, "redacted": 0, "counts": Counter(), "problems": []}
    begin = end = 0
    while end < len(data) or not done:
        begin, end = end, len(data) if whole else _piece_end(data, end, _piece_bytes(services))
        last = final and end == len(data)
        piece = data[begin:end]
        done = await _taken(services, space, import_id, offset=offset, first_line=first_line, data=piece, final=last)
        offset, first_line = done["offset"], done["lines"] + 1
        sums = {name: so_far + done[name] for name, so_far in sums.items()}
    return {**done, **sums}


def _piece_bytes(services: Services) -> int:
    return PIECE_BESIDE_BYTES if services.worker.is_shared() else PIECE_BYTES


async def _taken(
    services: Services, space: str, import_id: str, *, offset: int, first_line: int, data: bytes, final: bool
) -> dict[str, Any]:
    """One piece: decided, then committed; again where another import of the same file was faster."""

    async def attempt() -> dict[str, Any]:
        job = await asyncio.to_thread(
            _snapshot, services, space, import_id, offset=offset, first_line=first_line, data=data, final=final
        )
        plan = await decide(services, "import", job, imports.ChunkPlan, bulk=True)
        committed = await services.submit(imports.commit_chunk(space, import_id, offset, plan), bulk=True)
        return {
            **committed.value,
            "added": len(plan.sealed),
            "duplicates": plan.duplicates,
            "redacted": plan.redacted,
            "counts": Counter(plan.counts),
            "problems": [{"line": line, "why": why} for line, why in plan.problems],
        }

    return await retry_while_stale(attempt, keyed_lock(import_id, space))


def _piece_end(data: bytes, begin: int, size: int) -> int:
    """Where the piece from `begin` ends: at the first line's end after `size` bytes, else with `data`."""
    return data.find(b"\n", begin + size - 1) + 1 or len(data)


def _place(services: Services, space: str, import_id: str) -> imports.Place:
    with services.store.reader(space) as reader:
        return imports.place(reader, import_id)


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
