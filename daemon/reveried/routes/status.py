"""`GET /v1/status`: how much is kept, what runs by itself, and what wants a person's eye; `GET /v1/spaces`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from reverie import tokens, wire
from reverie.store import Kind
from reverie.usecases import ledger
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.routes.dreams import dream_shown

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
ARCHIVE_RETENTION = "P100Y"  # archives are kept until somebody purges them


async def status(call: Call) -> Reply:
    """Counts, schedules with their next run, the last dream, files left alone, the engine, token spend."""
    return Reply(await asyncio.to_thread(_read, call))


def _read(call: Call) -> dict[str, Any]:
    services = call.services
    with services.store.reader(call.space) as reader:
        schedules = services.scheduler.list(call.space)
        last = reader.last(Kind.DREAM)
        return {
            "space": call.space,
            "root": str(services.folders.root_of(call.space)),
            "counts": {name: reader.count(kind) for name, kind in COUNTED.items()},
            "distillation": {
                "supported": True,
                "maxTokenBudget": services.config.dream.max_token_budget,
                "scheduled": bool(schedules),
                "indexEmitted": True,
                "tokenizerName": tokens.TOKENIZER,
                "archiveRetention": ARCHIVE_RETENTION,
            },
            "model": {"engine": "extractive", "name": None},
            "spend": {**ledger.spend(reader, services.clock()), "tokenizer": tokens.TOKENIZER},
            "schedules": schedules,
            "lastDream": dream_shown(last[1]) if last else None,
            "openConflicts": reader.count(Kind.CONFLICT),
            "sync": {
                **services.folders.folder(call.space).status(),
                "documents": reader.count(Kind.DOCUMENT),
                "conflicts": reader.count(Kind.CONFLICT),
            },
            "operation": str(reader.operation()) if reader.operation() else None,
        }


async def spaces(call: Call) -> Reply:
    """The spaces that the caller may see: its own."""
    return Reply({"items": [{"id": call.space, "root": str(call.services.folders.root_of(call.space))}], "next": None})


ROUTES = (
    Route("GET", "/v1/status", status, "How much is kept, and what wants a person's eye.", gives=wire.Status),
    Route("GET", "/v1/spaces", spaces, "The caller's space and its folder.", gives=wire.Page[wire.Space]),
)
