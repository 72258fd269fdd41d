"""The tokens that requests to a model used, until they are written in the commit of the result that they led to.

A use case that asks a model opens `Settlements`. Each answered request is added there instead of being settled at once;
the next reservation, or the commit of the result, writes it in its own transaction. What is left at the end, where no
result was written, is settled alone.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from reverie.usecases.usage import settle

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from reverie.store import Write, Writer
    from reverie.usecases.usage import ReservedCall, UsedTokens

T = TypeVar("T")
Settlement: TypeAlias = "tuple[ReservedCall, UsedTokens | None]"


class Settlements:
    """Ended requests of one use case whose use is not written yet."""

    def __init__(self) -> None:
        """Create an empty list of settlements."""
        self.waiting: list[Settlement] = []
        self._alone: Callable[[Sequence[Settlement]], Awaitable[None]] | None = None

    def add(self, settlement: Settlement, alone: Callable[[Sequence[Settlement]], Awaitable[None]]) -> None:
        """Add a settlement; `alone` is the function that commits the settlements that no other commit has written."""
        self.waiting.append(settlement)
        self._alone = alone

    def written(self, settled: Sequence[Settlement]) -> None:
        """Remove settlements that a commit has written from the waiting ones."""
        self.waiting = [entry for entry in self.waiting if entry not in settled]

    def with_result(self, write: Write[T]) -> tuple[Write[T], list[Settlement]]:
        """Return a result's write extended by the waiting settlements, for one transaction, and these settlements."""
        settled = list(self.waiting)
        if not settled:
            return write, settled

        def in_system(writer: Writer) -> None:
            write_settlements(writer, settled)

        return replace(write, in_system=in_system), settled

    async def write_rest(self) -> None:
        """Settle the remaining requests in a separate commit."""
        if self.waiting and self._alone is not None:
            settled = list(self.waiting)
            self.written(settled)
            await self._alone(settled)


SETTLEMENTS: ContextVar[Settlements | None] = ContextVar("settlements", default=None)
"""Those of the use case that runs; None where a request is settled as soon as its end is known."""


@asynccontextmanager
async def settlements() -> AsyncIterator[Settlements]:
    """Open settlements for the block; those that it leaves are written at its end."""
    opened = Settlements()
    token = SETTLEMENTS.set(opened)
    try:
        yield opened
    finally:
        SETTLEMENTS.reset(token)
        await opened.write_rest()


def write_settlements(writer: Writer, settled: Sequence[tuple[Any, Any]]) -> None:
    """Write the token use of ended requests into the ledger; settled requests are not changed."""
    for call, used in settled:
        settle(writer, call, used)
