"""Writes of changed documents into folders on behalf of callers: those that wait for one folder share a pass."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable


@dataclass(slots=True)
class _Pass:
    """A write pass that has not begun yet: the paths that its callers named, and its task."""

    task: asyncio.Task[None]
    paths: set[str] = field(default_factory=set)


class JoinedWrites:
    """Per space at most one write pass that runs and one that waits, which all callers that come meanwhile join.

    After a commit of a hundred writes a hundred callers wait for the file of one document. A pass reads the store when
    it begins, so whoever joined it before finds the own write in the file.
    """

    def __init__(self, write: Callable[[str, set[str]], Awaitable[None]]) -> None:
        """Prepare; `write` brings paths of a space's folder up to date, and reports its errors itself."""
        self._write = write
        self._waiting: dict[str, _Pass] = {}
        self._running: dict[str, asyncio.Task[None]] = {}

    async def write(self, space: str, paths: Iterable[str]) -> None:
        """Return when a pass that began after this call has written these paths; a cancelled caller stops no pass."""
        waiting = self._waiting.get(space)
        if waiting is None:
            task = asyncio.create_task(self._run(space, self._running.get(space)))
            waiting = self._waiting[space] = _Pass(task)
        waiting.paths.update(paths)
        await asyncio.shield(waiting.task)

    async def _run(self, space: str, before: asyncio.Task[None] | None) -> None:
        """Run one pass after the one before it has ended."""
        if before is not None:
            await asyncio.wait((before,))
        this = self._waiting.pop(space)
        self._running[space] = this.task
        try:
            await self._write(space, this.paths)
        finally:
            del self._running[space]

    def cancel(self) -> None:
        """Cancel all passes: the folders are being closed. What is in the store is written at the next start."""
        for task in (*(waiting.task for waiting in self._waiting.values()), *self._running.values()):
            task.cancel()
        self._waiting.clear()
