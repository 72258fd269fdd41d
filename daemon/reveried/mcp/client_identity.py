"""The client behind a request: what its session's id, its headers and its `_meta` say of it, and its thread.

A session's id says all that the server must know of the session, so a daemon that was started again knows it too.
"""

from __future__ import annotations

import base64
import binascii
import re
import urllib.parse
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from reverie import wire
from reverie.decode import from_json
from reverie.documents.layout import PERSON
from reverie.errors import Conflict
from reverie.store import Kind
from reverie.usecases import sessions
from reverie.usecases.by import agent_author
from reveried.actions import projects, threads
from reveried.execute import read
from reveried.mcp import messages

if TYPE_CHECKING:
    import asyncio

    from reverie.store import Reader
    from reveried.http.types import Call
    from reveried.mcp.messages import Request

BRIDGE = (
    "reverie-bridge"  # a header of `reverie mcp`: the id of its process, `;`, its parent's process id, `;`, its folder
)
ENDED_MAX = 10_000  # ids of ended sessions that are remembered
SESSIONS_MAX = 1_000  # with subscriptions, for most of which nobody listens any more
URIS_MAX = 1_000  # of one session's subscriptions
_ID_CHARS = 80  # of a client's name or thread id; an id of the daemon has at most 200 characters


class _Session(msgspec.Struct, array_like=True):
    """The content of a session's id: its revision, the client's name, whether it shows forms, and a random text."""

    version: str
    name: str
    elicits: bool
    key: str


@dataclass(frozen=True, slots=True)
class Client:
    """The client of one request. `version` is None if it has no session; its thread is found by `key`."""

    version: str | None
    name: str
    elicits: bool
    key: str
    session: str = ""
    parent: int | None = None
    folder: str | None = None

    @property
    def stateless(self) -> bool:
        """True for a client without a session: each of its requests has all that it needs."""
        return self.version is None


@dataclass(slots=True)
class McpState:
    """The sessions of this process: those that ended, their subscriptions, and questions that wait for an answer."""

    ended: dict[str, None] = field(default_factory=dict)
    subscribed: dict[str, set[str]] = field(default_factory=dict)
    questions: dict[tuple[str, str], asyncio.Future[dict[str, Any]]] = field(default_factory=dict)

    def uris_of(self, session: str) -> set[str]:
        """Return the URIs that a session is subscribed to, for the caller to change; old sessions are forgotten."""
        uris = self.subscribed.pop(session, set())
        self.subscribed[session] = uris  # the last one now
        while len(self.subscribed) > SESSIONS_MAX:
            del self.subscribed[next(iter(self.subscribed))]
        return uris

    def end(self, session: str) -> None:
        """Remember that the session with this id has ended, so that its requests are refused."""
        self.subscribed.pop(session, None)
        self.ended[session] = None
        while len(self.ended) > ENDED_MAX:
            del self.ended[next(iter(self.ended))]


def new_session(request: Request, key: str) -> str:
    """Return the id of a new session: visible ASCII, as the protocol wants it."""
    asked = request.params.get("protocolVersion")
    version = asked if asked in messages.HANDSHAKE_VERSIONS else messages.HANDSHAKE_VERSIONS[0]
    elicits = messages.can_elicit(request.params.get("capabilities"))
    session = _Session(str(version), id_text(messages.client_name(request) or "") or "mcp", elicits, key)
    return base64.urlsafe_b64encode(msgspec.json.encode(session)).decode().rstrip("=")


def session_client(session: str) -> Client | None:
    """Return the client that is encoded in the id of its session, or None if the text is no such id."""
    try:
        data = base64.urlsafe_b64decode(session + "=" * (-len(session) % 4))
        stored = from_json(data, _Session)
    except (msgspec.MsgspecError, binascii.Error, ValueError):
        return None
    if stored.version not in messages.HANDSHAKE_VERSIONS:
        return None
    name = id_text(stored.name) or "mcp"
    return Client(stored.version, name, stored.elicits, id_text(stored.key), session)


def client_of(call: Call, known: Client | None, request: Request) -> Client:
    """Return the client of a request, from its session or `_meta`; the bridge's header adds process and folder."""
    client = known
    if client is None:
        capabilities = request.meta.get(messages.META + "clientCapabilities")
        name = id_text(messages.client_name(request) or "") or "mcp"
        client = Client(None, name, messages.can_elicit(capabilities), "http")
    process, _, rest = call.headers.get(BRIDGE, "").partition(";")
    parent, _, folder = rest.partition(";")
    if process:
        client = replace(
            client,
            key=id_text(process),
            parent=int(parent) if parent.isascii() and parent.isdigit() and len(parent) < 11 else None,
            folder=urllib.parse.unquote(folder) or None,
        )
    return client


def id_text(text: str) -> str:
    """Return a text as part of an id: `Claude Code` becomes `Claude-Code`."""
    return re.sub(r"[^A-Za-z0-9._:@+-]+", "-", text).strip("-.")[:_ID_CHARS]


async def thread_of(call: Call, client: Client, request: Request) -> str:
    """Return the id of the thread that a client works in, "" where there is none yet."""
    thread = await thread_id_of(call, client, request)
    with call.services.store.reader(call.space) as reader:
        return thread if reader.exists(Kind.THREAD, (thread,)) else ""


async def thread_id_of(call: Call, client: Client, request: Request) -> str:
    """Return the id of the thread that a client works in; that thread may not exist yet.

    It is that of the client's own session, by the id in `_meta.threadId` (Codex) or by its process (Claude Code, whose
    id changes with `/clear`); else one for the client's thread id, and without that for its process or session.
    """
    own = request.meta.get("threadId")
    key = id_text(own) if isinstance(own, str) else ""
    thread = await read(call.services, call.space, lambda reader: _of_session(reader, key, client.parent))
    if thread is not None:
        return thread
    return f"mcp:{call.agent or client.name}:{key or client.key}"


async def create_thread(call: Call, client: Client, thread: str) -> None:
    """Create the thread of a client, before the first note or state of it; one that exists stays as it is.

    Other calls need no thread: most processes of a bridge only read memories, and would leave an empty one behind.
    """
    with call.services.store.reader(call.space) as reader:
        if reader.exists(Kind.THREAD, (thread,)):
            return
    agent = call.agent or client.name
    body = wire.CreateThread(id=thread, agent=agent, project=client.folder)
    with suppress(Conflict):  # another call of the client created it meanwhile
        by = replace(call.by, who=author_of(call, client), key=None)
        await threads.create(call.services, by, body, agent=agent)


def author_of(call: Call, client: Client) -> str:
    """Return the author of what a client writes: the agent of its token, else the client by its name.

    It is an agent's also where the bridge has no token, as `reverie install` sets it up: a model calls the tools.
    """
    return call.agent or agent_author(client.name)


async def project_of(call: Call, client: Client, thread: str) -> str | None:
    """Return the project of a client's thread, else of its folder; None, for all, where it says neither.

    In a folder that no project is known by, it is `PERSON`: other projects are not shown there.
    """
    project = projects.thread_project(call.services, call.space, thread)
    if project is None and client.folder is not None:
        project = await projects.known_project(call.services, call.space, client.folder) or PERSON
    return project


def _of_session(reader: Reader, session: str, parent: int | None) -> str | None:
    """Return the thread of the session with this id, or of the open session of client process `parent`; else None."""
    for record in reversed(sessions.known(reader)):
        if record.session == session or (parent is not None and record.pid == parent and record.ended_at is None):
            return record.thread if reader.exists(Kind.THREAD, (record.thread,)) else None
    return None
