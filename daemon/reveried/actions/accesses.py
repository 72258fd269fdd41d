"""Write the accesses that recalls have counted: every few seconds, before memories are consolidated, and at the end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from reverie.errors import ReverieError
from reveried.log import logger

if TYPE_CHECKING:
    from reveried.services import Services

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
