"""The resources of the server: working state and notes of the client's thread, the index, and the documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from reverie.distill import state_rendering
from reverie.errors import NotFound, ValidationError
from reverie.store import DocumentRecord, NoteRecord
from reverie.usecases import projections
from reverie.usecases.documents import readable_path
from reverie.usecases.projections import holds_only
from reveried.actions import projects, threads
from reveried.mcp.client_identity import project_of
from reveried.use_case_runner import read

if TYPE_CHECKING:
    from reverie.store import Reader
    from reverie.usecases.projections import ListedDocument
    from reveried.http.call import Call
    from reveried.mcp.client_identity import Client

__all__ = [
    "DOCUMENT",
    "INDEX",
    "NOTES",
    "STATE",
    "TEMPLATES",
    "contents",
    "listed",
    "path_of",
    "resource_page",
    "uri_of",
]

STATE, NOTES, INDEX = "memory://working-state", "memory://notes", "memory://index"
DOCUMENT = "memory://documents/"
PAGE = 200
_FIXED: tuple[dict[str, Any], ...] = (
    {
        "uri": STATE,
        "name": "working-state",
        "title": "Working state",
        "description": "Task, next steps, decisions and blockers of this thread, kept up to date automatically.",
        "mimeType": "text/markdown",
    },
    {
        "uri": NOTES,
        "name": "notes",
        "title": "Notes",
        "description": "The notes that were written in this thread, newest first.",
        "mimeType": "text/markdown",
    },
    {
        "uri": INDEX,
        "name": "index",
        "title": "Memory index",
        "description": "The memory files of this project and of the person, each with a summary.",
        "mimeType": "text/plain",
    },
)
TEMPLATES: tuple[dict[str, Any], ...] = (
    {
        "uriTemplate": DOCUMENT + "{+path}",
        "name": "document",
        "title": "Memory file",
        "description": "One memory file by its path, such as facts/user.md.",
        "mimeType": "text/markdown",
    },
)


def uri_of(path: str) -> str:
    """Return the URI of a document."""
    return DOCUMENT + quote(path)


def path_of(uri: str) -> str | None:
    """Return the path of a document's URI; None for another URI."""
    return unquote(uri.removeprefix(DOCUMENT)) if uri.startswith(DOCUMENT) else None


async def listed(call: Call, project: str | None) -> list[ListedDocument]:
    """Return the documents of a project and of the person, by path; all of them for None."""
    documents = sorted(await call.services.sync_service.documents(call.space), key=lambda document: document.path)
    if project is None:
        return documents
    indexed = {entry.path for entry in await call.services.sync_service.index_entries(call.space)}
    shown = {entry.path: entry for entry in await projects.index_entries(call.services, call.space, project)}
    others = {document.path for document in documents} - indexed
    others = await read(call.services, call.space, lambda reader: holds_only(reader, others, project))
    return [
        replace(document, summary=shown[document.path].summary) if document.path in shown else document
        for document in documents
        if document.path in shown or document.path in others
    ]


async def resource_page(call: Call, project: str | None, after: str) -> dict[str, Any]:
    """Return one page of the resources that a client in `project` is shown.

    `after` is the path of the last document of the page before, or empty.
    """
    rest = [document for document in await listed(call, project) if document.path > after]
    resources = [] if after else [dict(resource) for resource in _FIXED]
    resources += [_document(document) for document in rest[:PAGE]]
    return {"resources": resources, **({"nextCursor": rest[PAGE - 1].path} if len(rest) > PAGE else {})}


def _document(document: ListedDocument) -> dict[str, Any]:
    return {
        "uri": uri_of(document.path),
        "name": document.path,
        "description": document.summary,
        "mimeType": _mime(document.path),
        "size": document.size,
        "annotations": {"lastModified": document.updated_at},
    }


def _mime(path: str) -> str:
    return "text/markdown" if path.endswith(".md") else "text/plain"


async def contents(call: Call, client: Client, uri: str, thread: str) -> dict[str, Any]:
    """Return what a resource holds; `thread` is the client's, empty where it has none yet.

    Raises:
        NotFound: there is no such resource.
    """
    path = path_of(uri)
    if path is not None:
        return {"uri": uri, "mimeType": _mime(path), "text": await _document_text(call, path)}
    if uri == INDEX:
        project = await project_of(call, client, thread)
        text = projections.index_text(await projects.index_entries(call.services, call.space, project)) or ""
        return {"uri": uri, "mimeType": "text/plain", "text": text}
    if uri not in (STATE, NOTES):
        raise NotFound(f"there is no resource {uri[:200]!r}", hint="resources/list shows them")
    text = ""
    if thread and uri == STATE:
        text = state_rendering.render((await threads.state(call.services, call.space, thread)).state)
    elif thread:
        text = await read(call.services, call.space, lambda reader: _notes_text(reader, thread))
    return {"uri": uri, "mimeType": "text/markdown", "text": text}


async def _document_text(call: Call, path: str) -> str:
    try:
        path = readable_path(path)
    except ValidationError as error:
        raise NotFound(error.message, hint="resources/list shows them") from None
    await call.services.sync_service.read_saves(call.space, {path})
    with call.services.store.reader(call.space) as reader:
        document = reader.load(DocumentRecord, (path,))
    if document is None:
        raise NotFound(f"there is no memory file {path[:200]!r}", hint="resources/list shows them")
    return document.content


def _notes_text(reader: Reader, thread: str) -> str:
    notes = sorted((note for _, note in reader.records(NoteRecord, (thread,))), key=lambda note: note.at, reverse=True)
    return "".join(f"- [{note.category}] {note.content}\n" for note in notes)
