"""Update the search indexes of memories and messages in the background, and save them for the next start."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from reverie.errors import EmbedderFailed, ReverieError
from reveried.log import logger
from reveried.services import Services
from reveried.stored import spaces_of

FIRST_AFTER_S = 2.0  # after the start, when requests that waited for it have been answered
EVERY_S = 5.0
SAVE_AFTER_S = 60.0  # a few changes are saved together; each save writes one small file and flushes another
CHANGES_MAX = 5_000  # as many changes are saved sooner
MESSAGES_MAX = 20_000  # of the index over messages
SLICE_S = 0.5  # of work behind the requests, after which a stop of the daemon is noticed


async def keep_index(
    services: Services,
    *,
    first_after_s: float = FIRST_AFTER_S,
    every_s: float = EVERY_S,
    save_after_s: float = SAVE_AFTER_S,
) -> None:
    """Open the memory index of every space, apply new commits to it and save it from time to time, until cancelled."""

    async def update(spaces: Sequence[str], *, is_due: bool) -> None:
        await asyncio.to_thread(_save_memories, services, spaces, 0 if is_due else CHANGES_MAX)

    await _after_commits(services, update, first_after_s, every_s, save_after_s)


class _Update(Protocol):
    """The work of one turn on the indexes of some spaces; with `is_due` small changes are saved too."""

    async def __call__(self, spaces: Sequence[str], *, is_due: bool) -> None: ...


async def _after_commits(
    services: Services, update: _Update, first_after_s: float, every_s: float, save_after_s: float
) -> None:
    """Call `update` with all spaces after commits, and every `save_after_s` seconds without any, until cancelled."""
    loop = asyncio.get_running_loop()
    commits, saved_at = -1, loop.time()
    await asyncio.sleep(first_after_s)
    while True:
        is_due = loop.time() >= saved_at + save_after_s
        if is_due or commits != services.store.commits:
            commits = services.store.commits
            await update(await asyncio.to_thread(spaces_of, services.store), is_due=is_due)
            saved_at = loop.time() if is_due else saved_at
        await asyncio.sleep(every_s)


def save_indexes(services: Services) -> None:
    """Save the memory indexes that this process has opened, when the daemon stops; waits for a save that is running."""
    _save_memories(services, services.recall.opened(), 0)


def _save_memories(services: Services, spaces: Sequence[str], changes_min: int) -> None:
    """Bring the memory indexes of spaces up to date, and save those with at least `changes_min` changes; log errors."""
    for space in spaces:
        try:
            if services.recall.catch_up(space) >= changes_min:
                services.recall.save(space)
        except (OSError, ReverieError) as error:
            logger("reveried.search_index").warning("a search index is not saved", space=space, problem=str(error))


async def keep_messages(
    services: Services,
    *,
    first_after_s: float = FIRST_AFTER_S,
    every_s: float = EVERY_S,
    save_after_s: float = SAVE_AFTER_S,
) -> None:
    """Open the message index of every space, apply new commits to it and save it from time to time, until cancelled."""

    async def update(spaces: Sequence[str], *, is_due: bool) -> None:
        for space in spaces:
            while not await asyncio.to_thread(services.messages.catch_up, space, SLICE_S):
                pass
            await asyncio.to_thread(_save_messages, services, space, 1 if is_due else MESSAGES_MAX)

    await _after_commits(services, update, first_after_s, every_s, save_after_s)


async def keep_vectors(services: Services, *, first_after_s: float = FIRST_AFTER_S, every_s: float = EVERY_S) -> None:
    """Embed new messages in the background where an embedder is configured, until cancelled.

    An embedder that cannot be used is named in the log; then words alone are searched, until the next start.
    """
    if not services.config.memory.embedder:
        return
    commits = -1
    await asyncio.sleep(first_after_s)
    try:
        while True:
            if commits != services.store.commits:
                commits = services.store.commits
                for space in await asyncio.to_thread(spaces_of, services.store):
                    while not await asyncio.to_thread(services.messages.embed, space, SLICE_S):
                        await asyncio.to_thread(_save_vectors, services, space)
                    await asyncio.to_thread(_save_vectors, services, space)
            await asyncio.sleep(every_s)
    except EmbedderFailed as error:
        logger("reveried.search").warning("words alone are searched", problem=error.message, hint=error.hint)


def _save_vectors(services: Services, space: str, *, at_once: bool = False) -> None:
    """Save a space's message vectors if enough of them changed; log an error, and try again the next time."""
    try:
        services.messages.save_vectors(space, at_once=at_once)
    except (OSError, ReverieError) as error:
        logger("reveried.search").warning("vectors are not saved", space=space, problem=str(error))


def save_messages(services: Services) -> None:
    """Save the message indexes and vectors that this process has opened, when the daemon stops."""
    for space in services.messages.opened():
        _save_messages(services, space, 1, merge=False)
        _save_vectors(services, space, at_once=True)


def _save_messages(services: Services, space: str, changes_min: int, *, merge: bool = True) -> None:
    """Save a space's message index if it has `changes_min` changes or, with `merge`, many segments; log an error."""
    try:
        messages = services.messages
        if messages.unsaved(space) >= changes_min or (merge and messages.has_many_segments(space)):
            messages.save(space, merge=merge)
    except (OSError, ReverieError) as error:
        logger("reveried.search").warning("a message index is not saved", space=space, problem=str(error))
