"""Single memories as callers create, change and delete them: each write edits the memory's block in its document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace as replace_record

from reverie import tokenizer, wire
from reverie.consolidate.apply import document_of
from reverie.decode import mapped
from reverie.documents.edit import apply_changes, new_document
from reverie.documents.items import Add, Change, Delete, Update, Wording
from reverie.documents.layout import PERSON, DocumentKind, kind_of, memory_project, type_of_blocks
from reverie.documents.parse import items_by_id, parse_document
from reverie.doubts import doubted_at, without_doubt
from reverie.errors import Conflict, NotFound, ValidationError
from reverie.models import Candidate, Memory
from reverie.store import DocumentRecord, MemoriesCursor, MemoryRecord, OperationRecord, Reader, Writer
from reverie.text_types import Text
from reverie.usecases import documents, projects
from reverie.usecases.by import By, Files, writes
from reverie.usecases.forgotten import hold_if_forgotten, recall_to_mind
from reverie.usecases.parts import part_index
from reverie.usecases.put import NewText, put_texts
from reverie.words import copy_key

if TYPE_CHECKING:
    from reverie.text_recall import Found

_WORDS = ("content", "tags", "title", "fields")  # a change of these by others makes a caller's decision stale


class RememberedMemory(MemoryRecord, frozen=True, kw_only=True, rename=None):
    """A memory after it was remembered; `existed` if the same one was there already, so that nothing was added."""

    existed: bool = False


# Conversions


def record_of(memory: Memory) -> MemoryRecord:
    """Return a memory value as the record that is stored."""
    return mapped(memory, MemoryRecord)


def wording(record: MemoryRecord) -> Wording:
    """Return a stored memory's content, tags, title and fields."""
    return Wording(record.content, record.tags, record.title, record.fields)


def memory_answer(record: MemoryRecord) -> wire.Memory:
    """Return a memory as the API shows it: what is not named here is copied from the field of the same name."""
    return mapped(
        record,
        wire.Memory,
        type=record.type.value,
        tags=list(record.tags),
        fields=dict(record.fields),
        project=memory_project(record) or None,
        in_doubt_since=doubted_at(record.provenance),
    )


def recall_answer(found: Found[MemoryRecord], project: str | None) -> wire.RecallAnswer:
    """Return the hits as the API shows them, each with the terms that contributed to its score.

    `project` is the one whose memories were searched beside the person's.
    """
    hits = [
        wire.RecallHit(
            memory=memory_answer(hit.memory),
            score=round(hit.score, 4),
            why=", ".join(f"{term} {added:.2f}" for term, added in hit.why),
            relevance=round(hit.relevance, 4),
        )
        for hit in found.hits
    ]
    return wire.RecallAnswer(
        hits=hits,
        tokens=sum(hit.tokens for hit in found.hits),
        tokenizer=tokenizer.TOKENIZER,
        project=project,
        weaker=found.weaker,
        min_score=round(found.min_score, 4),
    )


# Reading


def get(reader: Reader, memory_id: str) -> MemoryRecord:
    """Return a memory, without its access count.

    Raises:
        NotFound: no memory has this id.
    """
    record = reader.load(MemoryRecord, (memory_id,))
    if record is None:
        raise _not_found(memory_id)
    return record


def history(reader: Reader, memory_id: str) -> wire.Page[wire.MemoryVersion]:
    """Return every version of a memory, oldest first, each with the operation that wrote it, and without accesses.

    Raises:
        NotFound: there never was a memory with this id.
    """
    versions = reader.record_history(MemoryRecord, (memory_id,))
    if not versions:
        raise _not_found(memory_id)
    items = []
    for number, version in enumerate(versions, 1):
        operation = reader.load(OperationRecord, (version.operation,))
        items.append(
            wire.MemoryVersion(
                version=number,
                operation=str(version.operation),
                at=version.at,
                who="" if operation is None else operation.who,
                why="" if operation is None else operation.why,
                memory=None if version.value is None else memory_answer(version.value),
            )
        )
    return wire.Page(items)


def _not_found(memory_id: str) -> NotFound:
    return NotFound(f"no memory is called {memory_id!r}", hint="reverie memories lists them")


# Writing


def _named(_: Reader, document: str | None = None, **__: Any) -> Files:
    path = None if document is None else documents.writable_path(document)
    return Files(written=[] if path is None else [path], named=path)


def _of_memory(reader: Reader, memory_id: str, **_: Any) -> Files:
    """Return the memory's file; the caller has read it without a person's save that is not committed yet."""
    memory = get(reader, memory_id)
    return Files({memory.document}, {memory.document}, seen=memory)


def _forgotten(reader: Reader, memory_id: str) -> Files:
    files = _of_memory(reader, memory_id)
    return files._replace(deleted={files.seen.document: files.seen.content})


@writes("memory.add", answers=RememberedMemory, files=_named, found=lambda memory, /, **_: ("memory", memory.id))
def remember(to: Writer, by: By, candidate: Candidate, document: str | None = None) -> RememberedMemory:
    """Create a memory in a document, which is created if there is none; return its record.

    Where the document, or another part of it, has a near copy of the words, that memory is returned and none is added:
    it gets the tags that it has not, unless an agent would change a person's line for that. The words have passed the
    redactor. Without a `document` it is the one for its type; of one that is full, the next part (`documents.parts`).
    With a `project` in the candidate it belongs to that, wherever it is written. Raises ValidationError for a document
    that has no memories, or memories of another type, and HeldForPerson where an agent remembers what a person forgot.
    """
    day = to.at[:10]
    if document is None:
        target = documents.as_spelled(to, document_of(candidate, at=to.at))
    else:
        target = documents.writable_path(document)
    _check_type(target, candidate, to.at)
    words = Wording(candidate.content, candidate.tags, candidate.title, candidate.fields, day)
    index = part_index(to)
    similar, room = index.with_line(to, target, words), index.with_room(to, target)
    index.keep(to)
    for part in similar:
        existing = _same_memory(to, part, words, day, candidate.project)
        if existing is not None:
            return mapped(_said_by(to, by, _with_tags(to, by, *existing)), RememberedMemory, existed=True)
    memory_id = by.new_id("mem")
    edit_block(to, replace(by, project=candidate.project), room, Add(memory_id, words))
    record = get(to, memory_id)
    hold_if_forgotten(to, record, who=by.who)
    recall_to_mind(to, record, who=by.who)
    return mapped(record, RememberedMemory, existed=False)


def _same_memory(
    reader: Reader, path: str, words: Wording, day: str, project: str
) -> tuple[str, tuple[str, ...]] | None:
    """Return the id of the memory in a document that is a near copy of these words, and their tags as read; or None.

    One of another project is none: this one would not know it.
    """
    document = reader.load(DocumentRecord, (path,))
    if document is None:
        return None
    (new,) = parse_document(path, new_document(path, [("", words)], day=day).text or "").items or (None,)
    if new is None:
        return None
    key = copy_key(new.content)
    for memory_id, item in items_by_id(path, document.content, document.ids).items():
        if (item.title, item.fields) == (new.title, new.fields) and copy_key(item.content) == key:
            record = reader.load(MemoryRecord, (memory_id,))
            own = PERSON if record is None else projects.at_path(reader, path, memory_project(record))
            if own in (PERSON, projects.at_path(reader, path, project)):
                return memory_id, new.tags
    return None


def _with_tags(to: Writer, by: By, memory_id: str, tags: tuple[str, ...]) -> MemoryRecord:
    """Add tags to a memory and return it; a person's line stays as it is for an agent."""
    memory = get(to, memory_id)
    joined = tuple(dict.fromkeys((*memory.tags, *tags)))
    if joined == memory.tags or (memory.trust == "person" and by.author != "person"):
        return memory
    words = Wording(memory.content, joined, memory.title, memory.fields)
    edit_block(to, by, memory.document, Update(memory_id, words))
    return get(to, memory_id)


def _said_by(to: Writer, by: By, memory: MemoryRecord) -> MemoryRecord:
    """Return a memory that was there as the person's who says it: neither a doubt nor a purge of a session takes it."""
    if by.author != "person" or memory.trust == "person":
        return memory
    said = replace_record(memory, trust="person", provenance={**without_doubt(memory.provenance), "by": by.who})
    to.save(said, (memory.id,))
    to.save(MemoriesCursor(operation=to.number), MemoriesCursor.KEY)
    recall_to_mind(to, said, who=by.who)
    return said


@writes("memory.change", files=_of_memory, found=lambda memory, /, **_: ("document", memory.document))
def change(
    to: Writer, by: By, memory_id: str, *, content: Text | None = None, tags: Sequence[Text] | None = None
) -> MemoryRecord:
    """Change a memory's content or tags, editing its block alone; return its record.

    Raises:
        Conflict: the words are no longer those that the caller can have read.
    """
    if content is None and tags is None:
        raise ValidationError("nothing is to be changed", hint="give `content`, `tags` or both")
    memory = _unchanged(to, memory_id, by.seen)
    words = Wording(
        memory.content if content is None else content,
        memory.tags if tags is None else tuple(tags),
        memory.title,
        memory.fields,
    )
    _document_with(to, memory)
    edit_block(to, by, memory.document, Update(memory_id, words))
    changed = get(to, memory_id)
    hold_if_forgotten(to, changed, who=by.who)
    return changed


@writes("memory.forget", files=_forgotten, found=lambda memory, /, **_: ("document", memory.document))
def forget(to: Writer, by: By, memory_id: str) -> wire.MemoryDeleted:
    """Delete a memory's block from its document; `undo` restores it. Raises Conflict as `change` does.

    Sessions that say the same again do not bring it back, until somebody writes or remembers it.
    """
    memory = _unchanged(to, memory_id, by.seen)
    remove(to, by, memory, forgets=True)
    return wire.MemoryDeleted(id=memory_id, document=memory.document, operation=str(to.number))


def remove(to: Writer, by: By, memory: MemoryRecord, *, forgets: bool = False) -> None:
    """Delete a memory's block, or its document if that is the memory; if it `forgets`, it is not learnt again."""
    document = _document_with(to, memory)
    if kind_of(memory.document, document.content) is DocumentKind.WHOLE:  # the memory is the whole document
        put_texts(to, {memory.document: None}, by, forgets=forgets)
    else:
        edit_block(to, by, memory.document, Delete(memory.id), forgets=forgets)


def edit_block(
    to: Writer,
    by: By,
    path: str,
    change: Change,
    *,
    records: dict[str, MemoryRecord] | None = None,
    forgets: bool = False,
) -> list[str]:
    """Edit one block of a document, or create it, update its summary and day, and return the paths that changed."""
    document = to.load(DocumentRecord, (path,))
    day = to.at[:10]
    if document is not None:
        edited = apply_changes(path, document.content, document.ids, [change], day=day)
    else:
        edited = new_document(path, [(change.id, change.words)] if isinstance(change, Add) else [], day=day)
    text = None if edited.text is None else NewText(edited.text, edited.ids)
    return put_texts(to, {path: text}, by, records=records, before={path: document}, forgets=forgets)


def _unchanged(reader: Reader, memory_id: str, read: MemoryRecord | None) -> MemoryRecord:
    """Return a memory whose words are still those that the caller has read.

    Without this check a caller would replace words that a person saved a moment ago, unread.
    """
    record = get(reader, memory_id)
    if read is not None and any(getattr(record, name) != getattr(read, name) for name in _WORDS):
        raise Conflict(f"memory {memory_id} was changed just now", hint="read it again, then decide")
    return record


def _document_with(reader: Reader, memory: MemoryRecord) -> DocumentRecord:
    document = documents.get(reader, memory.document)
    if memory.id not in document.ids:
        raise Conflict(f"memory {memory.id} is not in {memory.document}", hint="reverie check")
    return document


def _check_type(path: str, candidate: Candidate, at: str) -> None:
    """Refuse a document of another type: a block's type follows from its document, so the memory would change type."""
    kind = type_of_blocks(path)
    if kind is None:
        raise ValidationError(
            f"{path} does not hold memories", hint="name a document under facts/ or episodes/", field="document"
        )
    if kind is not candidate.type:
        document = document_of(candidate, at=at)
        raise ValidationError(
            f"{path} holds memories of type {kind}, not {candidate.type}",
            hint=f"leave out the document, and it goes to {document}, or leave out the type",
            field="type",
        )
