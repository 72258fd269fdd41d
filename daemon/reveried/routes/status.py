"""`GET /v1/status`: record counts, schedules, folder state and what needs a person; `GET /v1/spaces`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from reverie import tokens, wire
from reverie.store import DreamRecord, Kind
from reverie.usecases import dream, token_ledger
from reveried.http.call import Reply
from reveried.http.routing import Route

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]

COUNTED = {
    "threads": Kind.THREAD,
    "memories": Kind.MEMORY,
    "documents": Kind.DOCUMENT,
    "archives": Kind.ARCHIVE,
    "dreams": Kind.DREAM,
    "operations": Kind.OPERATION,
    "events": Kind.EVENT,
}
ARCHIVE_RETENTION = "P100Y"  # ISO 8601: archives stay until they are purged


async def status(call: Call) -> Reply:
    """Return counts, schedules with their next run, the last dream, the folder's state, the engine, token spend."""
    return Reply(await asyncio.to_thread(_read, call))


def _read(call: Call) -> wire.Status:
    services = call.services
    with services.store.reader(call.space) as reader:
        schedules = services.scheduler.list(call.space)
        last = reader.last_record(DreamRecord)
        return wire.Status(
            space=call.space,
            root=str(services.folders.root_of(call.space)),
            counts={name: reader.count(kind) for name, kind in COUNTED.items()},
            distillation=wire.DistillationSupport(
                supported=True,
                max_token_budget=services.config.dream.max_token_budget,
                scheduled=bool(schedules),
                index_emitted=True,
                tokenizer_name=tokens.TOKENIZER,
                archive_retention=ARCHIVE_RETENTION,
            ),
            model=wire.ModelInUse(engine="extractive"),
            spend=token_ledger.spend(reader, services.clock()),
            schedules=schedules,
            last_dream=dream.dream_answer(last[1]) if last else None,
            open_conflicts=reader.count(Kind.CONFLICT),
            sync=services.folders.folder(call.space).status(),
            operation=str(reader.operation()) if reader.operation() else None,
        )


async def spaces(call: Call) -> Reply:
    """List the spaces that the caller may see: only its own."""
    space = wire.Space(id=call.space, root=str(call.services.folders.root_of(call.space)))
    return Reply(wire.Page(items=[space]))


ROUTES = (
    Route("GET", "/v1/status", status, "Counts, schedules, folder state, and what needs a person.", answer=wire.Status),
    Route("GET", "/v1/spaces", spaces, "The caller's space and its folder.", answer=wire.Page[wire.Space]),
)
