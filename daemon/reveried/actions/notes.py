"""Writes a note, under an id of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.usecases import notes

if TYPE_CHECKING:
    from reverie.models import NoteCategory
    from reveried.services import Services

__all__ = ["note"]


async def note(
    services: Services,
    space: str,
    thread: str,
    *,
    content: str,
    category: NoteCategory,
    who: str,
    idempotency: tuple[str, str] | None,
) -> dict[str, Any]:
    """The note as stored. Raises NotFound for an unknown thread."""
    write = notes.add(
        space,
        who,
        thread,
        services.new_id("note"),
        content=content,
        category=category,
        at=services.clock(),
        idempotency=idempotency,
    )
    made: dict[str, Any] = (await services.submit(write)).value
    return made
