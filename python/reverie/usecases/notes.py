"""Notes of a thread: what an agent asked to remember."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import wire
from reverie.errors import NotFound
from reverie.store import Kind, NoteRecord, Write
from reverie.usecases import threads

if TYPE_CHECKING:
    from reverie.models import NoteCategory
    from reverie.store import Writer

__all__ = ["add", "delete", "note_answer"]


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
) -> Write[wire.Note]:
    """Return the write that stores a note; its body returns it as stored (redacted), and raises NotFound."""

    def body(writer: Writer) -> wire.Note:
        threads.get(writer, thread_id)
        writer.save(NoteRecord(id=note_id, content=content, category=category, at=at), (thread_id, note_id))
        stored = writer.load(NoteRecord, (thread_id, note_id))
        assert stored is not None
        return note_answer(stored)

    return Write(space=space, who=who, why="note.add", body=body, idempotency=idempotency, answers=wire.Note)


def note_answer(note: NoteRecord) -> wire.Note:
    """Return a stored note as the API answers it."""
    return wire.Note(
        id=note.id, content=note.content, category=note.category, at=note.at, thread=note.thread or wire.ABSENT
    )


def delete(space: str, who: str, thread_id: str, note_id: str) -> Write[None]:
    """Return the write that deletes a note; its body raises NotFound where there is none."""

    def body(writer: Writer) -> None:
        if not writer.delete(Kind.NOTE, (thread_id, note_id)):
            raise NotFound(f"thread {thread_id!r} has no note {note_id!r}", hint=f"reverie note {thread_id} lists them")

    return Write(space=space, who=who, why="note.delete", body=body)
