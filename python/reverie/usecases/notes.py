"""Notes: what an agent said to remember, per thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.errors import NotFound
from reverie.models import Note
from reverie.store import Kind, Write
from reverie.usecases import threads
from reverie.usecases.records import record

if TYPE_CHECKING:
    from reverie.models import NoteCategory
    from reverie.store import Writer

__all__ = ["add", "delete"]


def add(
    space: str,
    who: str,
    thread_id: str,
    note_id: str,
    *,
    content: str,
    category: NoteCategory,
    at: str,
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Writes a note; the body raises NotFound for an unknown thread."""

    def body(writer: Writer) -> dict[str, Any]:
        threads.get(writer, thread_id)
        writer.put(Kind.NOTE, (thread_id, note_id), record(Note(id=note_id, content=content, category=category, at=at)))
        held: dict[str, Any] = writer.get(Kind.NOTE, (thread_id, note_id)) or {}
        return held

    return Write(space=space, who=who, why="note.add", body=body, idempotency=idempotency)


def delete(space: str, who: str, thread_id: str, note_id: str) -> Write[None]:
    """Takes a note away; the body raises NotFound where there is none."""

    def body(writer: Writer) -> None:
        if not writer.delete(Kind.NOTE, (thread_id, note_id)):
            raise NotFound(f"thread {thread_id!r} has no note {note_id!r}", hint=f"reverie note {thread_id} lists them")

    return Write(space=space, who=who, why="note.delete", body=body)
