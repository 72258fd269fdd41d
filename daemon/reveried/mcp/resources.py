"""The resources of the MCP server (state, notes, index, documents), and notifications of their changes."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from msgspec.structs import replace

from reverie.distill import state_text
from reverie.errors import NotFound, ValidationError
from reverie.store import DocumentRecord, EventRecord, Kind, NoteRecord
from reverie.usecases import projections, working_state
from reverie.usecases.documents import readable_path
from reverie.usecases.projections import holds_only
from reveried.actions import contexts, projects
from reveried.actions.briefs import brief_text
from reveried.execute import read
from reveried.mcp.client_identity import project_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Collection

    from reverie.store import Reader
    from reverie.usecases.projections import ListedDocument
    from reveried.http.types import Call
    from reveried.mcp.client_identity import Client
    from reveried.wakeups import Subscription

STATE, NOTES, INDEX = "memory://working-state", "memory://notes", "memory://index"
BRIEF = "memory://brief"
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
    {
        "uri": BRIEF,
        "name": "brief",
        "title": "Brief of the project",
        "description": "What the sessions of this project taught: wishes, failures, commands, findings, names.",
        "mimeType": "text/markdown",
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

UPDATED, LIST_CHANGED = "notifications/resources/updated", "notifications/resources/list_changed"
HEARTBEAT_S = 15.0  # without a change, after which the peer is sent something to find out whether it is there
TOGETHER_S = 0.1  # commits within it are one notification of each resource
BATCH = 1000  # events read at once

Change = tuple[str, dict[str, Any]]
"""The method and parameters of a notification."""


def uri_of(path: str) -> str:
    """Return the URI of a document."""
    return DOCUMENT + quote(path)


def path_of(uri: str) -> str | None:
    """Return the path of a document's URI; None for another URI."""
    return unquote(uri.removeprefix(DOCUMENT)) if uri.startswith(DOCUMENT) else None


async def listed(call: Call, project: str | None) -> list[ListedDocument]:
    """Return the documents of a project and of the person, sorted by path; all documents where `project` is None."""
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
    """Return the content of the resource `uri`; `thread` is the client's thread, empty where it has none yet.

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
    if uri == BRIEF:
        project = await project_of(call, client, thread)
        text = await brief_text(call.services, call.space, project) if project else ""
        return {"uri": uri, "mimeType": "text/markdown", "text": text}
    if uri not in (STATE, NOTES):
        raise NotFound(f"there is no resource {uri[:200]!r}", hint="resources/list shows them")
    text = ""
    if thread and uri == STATE:
        text = state_text.render((await contexts.state(call.services, call.space, thread)).state)
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


class Watch:
    """The subscription of one client: the URIs of resources, and with `lists` also the list of resources.

    `thread` returns the client's thread, empty where it has none yet.
    """

    def __init__(self, uris: Collection[str], thread: Callable[[], Awaitable[str]], *, lists: bool) -> None:
        self.uris = uris
        self.thread = thread
        self.lists = lists
        self._after = 0  # the last event that was looked at
        self._paths: set[str] = set()  # of the documents there were then, where their list is watched
        self._stamps: dict[str, Any] = {}  # what a resource of the thread was then

    def begin(self, reader: Reader, thread: str) -> None:
        """Store the present versions of the resources, so that only later changes are notified."""
        self._after = reader.last_seq(Kind.EVENT)
        if self.lists:
            self._paths = {document.path for _, document in reader.records(DocumentRecord)}
        self._stamps = {uri: _stamp(reader, uri, thread) for uri in (STATE, NOTES)}

    def new(self, reader: Reader, thread: str) -> list[Change]:
        """Return the notifications of what changed since the last call, each resource once."""
        changed: dict[str, None] = {}
        listed = False
        paths: set[str] = set()
        for key, event in reader.records(EventRecord, after=(self._after,), limit=BATCH):
            self._after = int(key[0])
            if event.type == "workspace.updated":
                paths.add(str(event.data["path"]))
        for path in sorted(paths):
            changed[uri_of(path)] = None
            changed[INDEX] = None
            if self.lists and reader.exists(Kind.DOCUMENT, (path,)) != (path in self._paths):
                listed = True
                self._paths ^= {path}
        for uri, previous in self._stamps.items():
            if uri in self.uris and (stamp := _stamp(reader, uri, thread)) != previous:
                self._stamps[uri] = stamp
                changed[uri] = None
        updates: list[Change] = [(UPDATED, {"uri": uri}) for uri in changed if uri in self.uris]
        return [*updates, (LIST_CHANGED, {})] if listed else updates


def _stamp(reader: Reader, uri: str, thread: str) -> Any:
    """Return a value that differs after each change of a thread's working state or notes; None without a thread."""
    if not thread or not reader.exists(Kind.THREAD, (thread,)):
        return None
    if uri == STATE:
        return working_state.versions(reader, thread)
    return tuple(key for key, _ in reader.records(NoteRecord, (thread,)))


async def changes(call: Call, watch: Watch, subscription: Subscription) -> AsyncGenerator[list[Change], None]:
    """Yield the notifications of each commit that has any; an empty list first and after HEARTBEAT_S without one.

    It ends with the daemon, and when the caller's token is revoked.
    """
    thread = await watch.thread()
    await read(call.services, call.space, partial(watch.begin, thread=thread))
    yield []
    while not subscription.ended and not call.is_revoked():
        if not await subscription.wait(HEARTBEAT_S):
            yield []
            continue
        await asyncio.sleep(TOGETHER_S)
        if batch := await read(call.services, call.space, partial(watch.new, thread=await watch.thread())):
            yield batch
