"""What people ask of sync: how it stands, to look now, and to settle a conflict."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from reverie.store import Kind
from reverie.usecases import conflicts

if TYPE_CHECKING:
    from reverie.usecases.conflicts import Keep
    from reveried.services import Services

__all__ = ["resolve", "status", "sync"]


async def resolve(
    services: Services,
    space: str,
    conflict_id: str,
    *,
    keep: Keep | None,
    content: str | None,
    who: str,
    idempotency: tuple[str, str] | None,
) -> dict[str, Any]:
    """Settles a conflict, and puts on disk what follows from it."""
    with services.store.reader(space) as reader:
        held = reader.get(Kind.CONFLICT, (conflict_id,))
        seen = None if held is None else conflicts.both_texts(reader, held)  # what is saved meanwhile nobody has seen
    paths = {held["path"], held["copy"]} if held is not None else set()
    await services.folders.read_saves(space, paths)
    write = conflicts.resolve(
        space,
        conflict_id,
        keep=keep,
        content=None if content is None else services.redactor.text(content),
        who=who,
        author="person",
        seen=seen,
        new_id=partial(services.new_id, "mem"),
        idempotency=idempotency,
    )
    done = (await services.submit(write)).value
    await services.folders.write_documents(space, paths)
    return dict(done)


async def sync(
    services: Services, space: str, *, accept_deletions: bool, accept_folder: bool, deep: bool
) -> dict[str, Any]:
    """One look at the whole folder, now, and what it led to; with `accept_folder` whichever folder is there."""
    if accept_folder:
        await services.folders.accept_folder(space)
    outcome = await services.folders.sync(space, None, whole=True, deep=deep, accept=accept_deletions)
    await services.folders.update_projections(space)
    return {
        "read": outcome.read,
        "adopted": outcome.adopted,
        "written": outcome.written,
        "deleted": outcome.deleted,
        "conflicts": outcome.conflicts,
        "status": await status(services, space),
    }


async def status(services: Services, space: str) -> dict[str, Any]:
    """How folder and store stand to each other."""
    return await asyncio.to_thread(_status, services, space)


def _status(services: Services, space: str) -> dict[str, Any]:
    told = services.folders.folder(space).status()
    with services.store.reader(space) as reader:
        return {
            **told,
            "documents": reader.count(Kind.DOCUMENT),
            "conflicts": reader.count(Kind.CONFLICT),
        }
