"""`/v1/documents`: the markdown files of the space, read and changed; and `/v1/index` for an agent's first turn."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from reverie import wire
from reverie.api.documents import Documents
from reverie.decode import mapped
from reverie.documents.layout import PERSON
from reverie.errors import Conflict, ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.paths import is_reserved
from reverie.store import DocumentRecord, PendingPurge
from reverie.usecases import documents, history
from reverie.usecases.agent_writes import has_words_of_person
from reverie.usecases.by import agent_author
from reverie.usecases.projections import index_answer
from reveried.actions import projects
from reveried.drive import write
from reveried.execute import read
from reveried.http.route import serves
from reveried.routes.purge import run_purge

if TYPE_CHECKING:
    from reverie.usecases.by import By
    from reveried.http.types import Call

_ETAG = lazy_regex(r'"([0-9a-f]{64})"|(\*)')


def _if_match(call: Call) -> str | None:
    """Return the ETag that the document must have: of `If-Match`, "" for `If-None-Match: *` (no document), or None."""
    if (absent := call.headers.get("if-none-match")) is not None:
        if absent.strip() != "*":
            raise ValidationError("`If-None-Match` can only be *.", hint="Send If-None-Match: *, or If-Match.")
        return ""
    given = call.headers.get("if-match")
    if given is None:
        return None
    etag = _ETAG.fullmatch(given.strip().removeprefix("W/"))
    if etag is None:
        raise ValidationError("`If-Match` is not an ETag of a document.", hint='Send If-Match: "<etag>", or *.')
    return etag[1] or etag[2]


def _by(call: Call) -> By:
    return replace(call.by, if_match=_if_match(call))


@serves(Documents.documents)
async def list_documents(call: Call) -> wire.Page[wire.Document]:
    """Return the documents by path, with size and summary."""
    query = call.query_as(wire.DocumentsQuery)
    limit, after, prefix = query.limit, query.after or "", query.prefix or ""
    listed = await call.services.sync_service.documents(call.space)
    rest = sorted(
        (document for document in listed if document.path > after and document.path.startswith(prefix)),
        key=lambda document: document.path,
    )
    items = [mapped(document, wire.Document, etag=document.sha256) for document in rest[:limit]]
    return wire.Page(items, items[-1].path if len(rest) > limit else None)


@serves(Documents.document)
async def get_document(call: Call) -> wire.DocumentText:
    """Return a document with its text: the current version, or the one after the operation `at`."""
    document = await asyncio.to_thread(_document, call, documents.readable_path(call.params["path"]))
    return documents.text_answer(document)


def _document(call: Call, path: str) -> DocumentRecord:
    at = call.query_as(wire.DocumentQuery).at
    if at is None and is_reserved(PurePosixPath(path)):
        projected = call.services.sync_service.folder(call.space).projected_record(path)
        if projected is not None:
            return projected
    with call.services.store.reader(call.space) as reader:
        if at is not None:
            operation = history.operation_number(at)
            history.require(reader, operation)
            return documents.at_operation(reader, path, operation)
        return documents.get(reader, path)


@serves(Documents.put_document)
async def put_document(call: Call) -> wire.Document:
    """Write a whole document; the answer comes when its file is written."""
    body = call.into(wire.PutDocument)
    named = call.agent_of(body.agent)
    await _require_read(call)
    project = PERSON
    if body.project is not None:
        project = await projects.registered(call.services, call.by, body.project)
    who = call.who if named is None else call.agent or agent_author(named)
    by = replace(_by(call), who=who, project=project)
    document = await write(call.services, documents.put, by, call.params["path"], body.content, body.summary)
    return documents.document_answer(document)


@serves(Documents.patch_document)
async def patch_document(call: Call) -> wire.PatchAnswer:
    """Replace exact texts, all or none."""
    body = call.into(wire.PatchDocument)
    patches = [(one.old_text, one.new_text) for one in body.patches]
    sent = [old for old, _ in patches]
    document = await write(call.services, documents.patch, _by(call), call.params["path"], patches, sent)
    return wire.PatchAnswer(applied_count=document.applied_count, etag=document.sha256, version=document.version)


@serves(Documents.append_entry)
async def append_entry(call: Call) -> wire.Document:
    """Append an entry to a document."""
    body = call.into(wire.AppendEntry)
    document = await write(call.services, documents.append, _by(call), call.params["path"], body.entry, body.summary)
    return documents.document_answer(document)


@serves(Documents.insert_lines)
async def insert_lines(call: Call) -> wire.Document:
    """Insert lines after a line of a document."""
    body = call.into(wire.InsertLines)
    document = await write(call.services, documents.insert, _by(call), call.params["path"], body.line, body.text)
    return documents.document_answer(document)


@serves(Documents.move_document)
async def move_document(call: Call) -> wire.DocumentsMoved:
    """Move a document, or a folder with every document below it; memories keep their ids."""
    path, to = call.params["path"], call.into(wire.MoveDocument).to
    return await write(call.services, documents.move, call.by, path, to)


@serves(Documents.delete_document)
async def delete_document(call: Call) -> wire.DocumentDeleted:
    """Delete a document and its file, or a whole folder; undo restores them, unless `purge` removes them for good."""
    query = call.query_as(wire.DeleteDocumentQuery)
    if query.folder:
        if query.purge or _if_match(call) is not None:
            raise ValidationError(
                "a folder has no version, and is not purged as a whole",
                hint="leave `purge` and If-Match out, or delete its documents one by one",
                field="folder",
            )
        unread = call.agent is not None
        return await write(call.services, documents.delete_folder, call.by, call.params["path"], unread=unread)
    try:
        if query.purge:
            return await _purge_document(call, documents.writable_path(call.params["path"]))
        await _require_read(call)
        return await write(call.services, documents.delete, _by(call), call.params["path"])
    except ValidationError as error:
        if error.details.get("reason") != "suffix":
            raise
        hint = "give a document such as facts/user.md, or add ?folder=true to delete a folder"
        raise ValidationError(error.message, hint=hint, reason="suffix") from None


async def _require_read(call: Call) -> None:
    """Refuse an agent's token that replaces a person's words without the ETag of what it has read, as the tools do.

    Raises:
        Conflict: the document has words of a person, and the request no If-Match.
    """
    if call.agent is None or _if_match(call) is not None:
        return
    path = documents.writable_path(call.params["path"])
    await call.services.sync_service.read_saves(call.space, {path})
    with call.services.store.reader(call.space) as reader:
        document = reader.load(DocumentRecord, (path,))
        if document is not None and has_words_of_person(reader, document):
            raise Conflict(
                f"{path} holds what a person wrote, and the request does not say that you have read it",
                hint="read it, and send its ETag as If-Match",
                reason="unread",
            )


async def _purge_document(call: Call, path: str) -> wire.DocumentDeleted:
    """Purge a document with its memories and every version, also one that was deleted before."""
    if_match = _if_match(call)
    if if_match is not None:
        await read(call.services, call.space, lambda reader: documents.require_version(reader, path, if_match))
    purged = await run_purge(call, PendingPurge("document", path))
    return wire.DocumentDeleted(path=path, operation=purged.operation, memories=purged.memories, purged=purged)


@serves(Documents.index)
async def index(call: Call) -> wire.IndexAnswer:
    """Return the memory index for an agent's first turn, as text and as data."""
    selection = await projects.selected(call.services, call.space, call.query_as(wire.IndexQuery))
    entries = await projects.index_entries(call.services, call.space, selection.scope)
    listed = await call.services.sync_service.documents(call.space)
    return index_answer(entries, listed, selection.project)
