"""Writes a note, under an id of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.engine import notes
from reverie.ids import new_id

if TYPE_CHECKING:
    from reverie.models import NoteCategory
    from reveried.services import Services

__all__ = ["note"]

ID_RANDOM_BYTES = 10


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
        new_id("note", services.now_ms(), services.random(ID_RANDOM_BYTES)),
        content=content,
        category=category,
        at=services.clock(),
        idempotency=idempotency,
    )
    made: dict[str, Any] = (await services.submit(write)).value
    return made
