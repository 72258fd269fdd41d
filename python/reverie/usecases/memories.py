"""Single memories as callers make, change and forget them: each is an edit of the block that holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.consolidate.apply import document_of
from reverie.documents.document_kind import DocumentKind, kind_of, type_of_blocks
from reverie.documents.items import Add, Change, Delete, Update, Wording
from reverie.documents.write import apply_changes, new_document
from reverie.errors import Conflict, NotFound, ValidationError
from reverie.models import Candidate, Memory
from reverie.store import Kind, Write
from reverie.usecases.documents import checked, held_by
from reverie.usecases.records import value
from reverie.usecases.writing import Author, Given, put_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.store import Reader, Writer

__all__ = ["change", "forget", "get", "remember"]

SAID = ("content", "tags", "title", "fields")


def get(reader: Reader, memory_id: str) -> dict[str, Any]:
    """A memory's record.

    Raises:
        NotFound: no memory of that id.
    """
    found = reader.get(Kind.MEMORY, (memory_id,))
    if found is None:
        raise NotFound(f"no memory is called {memory_id!r}", hint="reverie memories lists them")
    return found


def remember(
    space: str,
    candidate: Candidate,
    *,
    who: str,
    author: Author,
    new_id: Callable[[], str],
    document: str | None = None,
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Adds a memory as a block of a document, which is made where there is none; the body answers with its record.

    The words have passed the redactor. Without a `document` it is the one that its type belongs to. Raises
    ValidationError for a document that holds no memories, or those of another type.
    """
    path = None if document is None else checked(document)

    def body(writer: Writer) -> dict[str, Any]:
        at = writer.at
        place = path or document_of(candidate, at=at)
        _refuse_elsewhere(place, candidate, at)
        words = Wording(candidate.content, candidate.tags, candidate.title, candidate.fields, at[:10])
        name = new_id()
        _edit(writer, place, Add(name, words), author=author, who=who)
        return get(writer, name)

    return Write(space=space, who=who, why="memory.add", body=body, idempotency=idempotency)


def change(
    space: str,
    memory_id: str,
    *,
    content: str | None,
    tags: Sequence[str] | None,
    who: str,
    author: Author,
    seen: dict[str, Any] | None = None,
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Other words or other tags for a memory; only its block is edited. The body answers with its record.

    `seen` is the record that the caller could have read. The body raises Conflict where the memory says something else.
    """
    if content is None and tags is None:
        raise ValidationError("nothing is to be changed", hint="give `content`, `tags` or both")

    def body(writer: Writer) -> dict[str, Any]:
        memory = _as_seen(writer, memory_id, seen)
        words = Wording(
            memory.content if content is None else content,
            memory.tags if tags is None else tuple(tags),
            memory.title,
            memory.fields,
        )
        _document_of(writer, memory)
        _edit(writer, memory.document, Update(memory_id, words), author=author, who=who)
        return get(writer, memory_id)

    return Write(space=space, who=who, why="memory.change", body=body, idempotency=idempotency)


def forget(
    space: str,
    memory_id: str,
    *,
    who: str,
    author: Author,
    seen: dict[str, Any] | None = None,
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Takes a memory's block out of its document; `undo` brings it back. `seen` as in `change`."""

    def body(writer: Writer) -> dict[str, Any]:
        memory = _as_seen(writer, memory_id, seen)
        held = _document_of(writer, memory)
        if kind_of(memory.document, held["content"]) is DocumentKind.WHOLE:
            put_texts(writer, {memory.document: None}, author=author, at=writer.at, new_id=_none_new)
        else:
            _edit(writer, memory.document, Delete(memory_id), author=author, who=who)
        return {"id": memory_id, "document": memory.document, "operation": str(writer.number)}

    return Write(space=space, who=who, why="memory.forget", body=body, idempotency=idempotency)


def _edit(writer: Writer, path: str, change: Change, *, author: Author, who: str) -> None:
    """Edits one block of a document, made where there is none, and brings its summary and day up to date."""
    held = writer.get(Kind.DOCUMENT, (path,))
    day = writer.at[:10]
    if held is not None:
        made = apply_changes(path, held["content"], held["ids"], [change], day=day)
    else:
        made = new_document(path, [(change.id, change.words)] if isinstance(change, Add) else [], day=day)
    put_texts(
        writer,
        {path: None if made.text is None else Given(made.text, made.ids)},
        author=author,
        at=writer.at,
        new_id=_none_new,
        provenance={"by": who},
    )


def _as_seen(reader: Reader, memory_id: str, seen: dict[str, Any] | None) -> Memory:
    """A memory that says what it said to the caller: nobody replaces a person's words who has not read them."""
    record = get(reader, memory_id)
    if seen is not None and any(record[name] != seen[name] for name in SAID):
        raise Conflict(f"memory {memory_id} was changed just now", hint="read it again, then decide")
    return value(Memory, record)


def _document_of(reader: Reader, memory: Memory) -> dict[str, Any]:
    held = held_by(reader, memory.document)
    if memory.id not in held["ids"]:
        raise Conflict(f"memory {memory.id} is not in {memory.document}", hint="reverie check")
    return held


def _refuse_elsewhere(path: str, candidate: Candidate, at: str) -> None:
    """A memory has the type that its document's name says: in one of another type it would become something else."""
    kind = type_of_blocks(path)
    if kind is None:
        raise ValidationError(
            f"{path} does not hold memories", hint="name a document under facts/ or episodes/", field="document"
        )
    if kind is not candidate.type:
        place = document_of(candidate, at=at)
        raise ValidationError(
            f"{path} holds memories of type {kind}, not {candidate.type}",
            hint=f"leave out the document, and it goes to {place}, or leave out the type",
            field="type",
        )


def _none_new() -> str:
    raise AssertionError("every block of this write has its id")
