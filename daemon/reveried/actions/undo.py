"""Takes operations back, and returns to earlier points: what people saved is taken in first, the files follow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from reverie.usecases import history
from reveried.keyed_lock import keyed_lock

if TYPE_CHECKING:
    from reveried.services import Services

__all__ = ["rollback", "undo"]


async def undo(
    services: Services, space: str, seq: int, *, who: str, idempotency: tuple[str, str] | None
) -> dict[str, Any]:
    """What `POST /v1/operations/{id}/undo` answers."""
    write = history.undo(
        space, seq, who=who, author="agent", new_id=partial(services.new_id, "mem"), idempotency=idempotency
    )
    done = (await services.submit(write)).value
    await services.folders.write_all(space)
    return dict(done)


async def rollback(
    services: Services,
    space: str,
    seq: int,
    *,
    who: str,
    path: str | None,
    memory: str | None,
    idempotency: tuple[str, str] | None,
) -> dict[str, Any]:
    """What `POST /v1/rollback` answers. Everything that people saved is in the history before anything goes back."""
    async with keyed_lock("memories", space):
        await services.folders.sync(space, None, whole=True)
        write = history.rollback(
            space,
            seq,
            who=who,
            author="agent",
            new_id=partial(services.new_id, "mem"),
            path=path,
            memory=memory,
            idempotency=idempotency,
        )
        done = (await services.submit(write)).value
        await services.folders.write_all(space)
    return dict(done)
