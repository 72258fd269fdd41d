"""The purge of a deletion that asks for one: `DELETE …?purge=true`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.errors import Forbidden
from reveried.actions import purge

if TYPE_CHECKING:
    from reverie import wire
    from reverie.store import PendingPurge
    from reveried.http.types import Call


async def run_purge(call: Call, target: PendingPurge) -> wire.Purged:
    """Run a purge for its caller. An agent's token may delete, and not remove the history: nothing restores that."""
    if call.agent is not None:
        raise Forbidden(
            "an agent's token may not purge", hint="leave `purge` out; a person purges with `reverie forget --purge`"
        )
    return await purge.purge(call.services, call.by, target)
