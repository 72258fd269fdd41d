"""`POST /v1/backups`: a compact, verified copy of the whole store, made while the daemon serves."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from reverie import wire
from reverie.errors import Forbidden
from reverie.store.backup import backup
from reveried.execution import answer_once
from reveried.http.call import Reply
from reveried.http.routing import Route

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]

DRAFT_RANDOM_BYTES = 16


async def make(call: Call) -> Reply:
    """Copy the store to a file. It contains every space, so a token, which is bound to one, may not request it."""
    body = call.into(wire.CreateBackup)
    if call.agent is not None:
        raise Forbidden("a token may not copy the whole store", hint="run `reverie backup FILE` as the daemon's owner")
    path = Path(body.path)

    async def copy() -> wire.BackupMade:
        suffix = call.services.random(DRAFT_RANDOM_BYTES).hex()
        made = await asyncio.to_thread(backup, call.services.store, path, draft_suffix=suffix)
        return wire.BackupMade(path=str(made.path), size=made.byte_count, counts=made.counts)

    return Reply(await answer_once(call.services, call.space, call.idempotency, copy, wire.BackupMade))


ROUTES = (
    Route(
        "POST", "/v1/backups", make, "Copies the whole store to a file.", body=wire.CreateBackup, answer=wire.BackupMade
    ),
)
