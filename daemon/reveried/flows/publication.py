"""Brings a space's folder in line with the store, atomically; a file that a person changed is left alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from reverie.engine import publication
from reverie.errors import ReverieError
from reveried.flows.turns import turn
from reveried.log import logger
from reveried.tables import spaces_of

if TYPE_CHECKING:
    from pathlib import Path

    from reveried.services import Services

__all__ = ["publish", "publish_all", "root_of"]

PASSES_MAX = 3  # while a person saves again and again; the next change of the store tries anew


def root_of(services: Services, space: str) -> Path:
    """The folder of a space."""
    return services.config.memory.data_dir / space


async def publish(services: Services, space: str) -> None:
    """Writes what changed in the store and not yet on disk; one at a time for each space.

    What cannot be written is logged and told by `status`; the store has it, and the next call tries again.
    """
    async with turn("files", space):
        try:
            for _ in range(PASSES_MAX):
                if not await _pass(services, space):
                    break
        except (ReverieError, OSError) as error:
            code = error.code if isinstance(error, ReverieError) else type(error).__name__
            logger("reveried.publication").error("files were not written", code=code, why=str(error))


async def _pass(services: Services, space: str) -> bool:
    """One look at the folder and what follows from it; whether a file changed meanwhile, so that another is due."""
    wanted = await asyncio.to_thread(_wanted, services, space)
    coming = publication.intend(space, wanted, at=services.clock())
    if coming is not None:
        await services.submit(coming)
        wanted = await asyncio.to_thread(_wanted, services, space)
    done = await asyncio.to_thread(publication.write, root_of(services, space), space, wanted)
    if done.records or done.forgotten:
        await services.submit(publication.remember(space, done, at=services.clock()))
    return done.again


async def publish_all(services: Services) -> None:
    """Writes, for every space, what a crash left unwritten; in the background of a start."""
    for space in await asyncio.to_thread(spaces_of, services.store):
        await asyncio.to_thread(publication.sweep, root_of(services, space))
        await publish(services, space)


def _wanted(services: Services, space: str) -> publication.Wanted:
    with services.store.reader(space) as reader:
        return publication.wanted(reader)
