"""Answers a call that was made before with the same idempotency key as it was answered then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from reverie.errors import ReverieError
from reverie.store import Write

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from reverie.store import Writer
    from reveried.services import Services

__all__ = ["once", "replayed"]


class _NotSeen(ReverieError):
    """Nobody used this key before; ends the write that asks, so that it leaves nothing behind."""


async def replayed(services: Services, space: str, idempotency: tuple[str, str] | None) -> Any | None:
    """What the same call answered the first time; None where there is no key, or it is new.

    Raises:
        Conflict: the key was used for another request.
    """
    if idempotency is None:
        return None
    try:
        return (await services.submit(Write(space, "", "", _not_seen, idempotency=idempotency))).value
    except _NotSeen:
        return None


async def once(
    services: Services, space: str, idempotency: tuple[str, str] | None, work: Callable[[], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    """The answer of `work`, kept for its key: for calls that are not one write and are harmless when made twice.

    Raises:
        Conflict: the key was used for another request.
        ReverieError: what `work` raises; nothing is kept.
    """
    found: dict[str, Any] | None = await replayed(services, space, idempotency)
    if found is not None:
        return found
    answer = await work()
    if idempotency is None:
        return answer
    kept = await services.submit(Write(space, "", "", lambda _: answer, idempotency=idempotency))
    given: dict[str, Any] = kept.value
    return given


def _not_seen(_: Writer) -> NoReturn:
    raise _NotSeen("nobody used this key before")
