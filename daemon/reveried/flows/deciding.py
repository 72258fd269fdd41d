"""A snapshot to the compute process and its plan back; a plan that has become stale is made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from reverie.errors import Conflict

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from reveried.services import Services

__all__ = ["decided", "until_fresh"]

T = TypeVar("T")

TRIES = 5


async def decided(services: Services, job: str, snapshot: Any, plan: type[T], *, bulk: bool = False) -> T:
    """The plan that `job` makes of `snapshot`.

    Raises:
        ReverieError: what deciding raised, or that it could not be done now.
    """
    answer = await services.compute.run(job, msgspec.msgpack.encode(snapshot), bulk=bulk)
    return msgspec.msgpack.decode(answer, type=plan)


async def until_fresh(attempt: Callable[[], Awaitable[T]], turn: asyncio.Lock) -> T:
    """`attempt` (snapshot, decide, commit), again while somebody else was faster: an ordinary outcome, not an error.

    Whoever was overtaken tries again when it is its `turn`, for which newcomers wait too: else many at once would
    overtake each other, each time after all the work of deciding.

    Raises:
        Conflict: others were faster every time.
    """
    if not turn.locked():
        try:
            return await attempt()
        except Conflict as conflict:
            _raise_unless_stale(conflict)
    async with turn:
        for _ in range(TRIES - 1):
            try:
                return await attempt()
            except Conflict as conflict:
                _raise_unless_stale(conflict)
        return await attempt()


def _raise_unless_stale(conflict: Conflict) -> None:
    if not conflict.details.get("stale"):
        raise conflict
