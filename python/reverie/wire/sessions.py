"""Sessions of agents' clients, their hooks, and the privacy settings."""

from typing import Annotated, Literal

from msgspec import Meta, field

from reverie.models import Json
from reverie.wire.base import Id, ListQuery, Reply, Request
from reverie.wire.projects import ABSOLUTE_PATH, ProjectText

__all__ = [
    "HOOK_MAX_BYTES",
    "AgentClient",
    "ChangePrivacy",
    "CompactConversation",
    "Compaction",
    "CompactionSource",
    "HookQuery",
    "Privacy",
    "Session",
    "SessionSource",
    "SessionsQuery",
    "StartSession",
]

HOOK_MAX_BYTES = 16 * 1024 * 1024  # of a hook's input, which has the whole of a prompt

AgentClient = Literal["claude-code", "codex"]
CompactionSource = Literal["thread", "messages"]
SessionSource = Literal["startup", "resume", "clear", "compact", "fork"]
_Path = Annotated[str, Meta(min_length=2, max_length=4096, pattern=ABSOLUTE_PATH, description="An absolute path.")]
_Pid = Annotated[int, Meta(ge=1, le=2**31 - 1, description="The client's process.")]


class StartSession(Request):
    """`POST /v1/sessions`: a session begins or continues. The daemon imports its `transcript` from now on, as it grows.

    `pid` is the client's process: another session of it has ended with this one.
    """

    client: AgentClient
    session: Id
    project: ProjectText
    transcript: _Path | None = None
    pid: _Pid | None = None
    source: SessionSource = "startup"


class Session(Reply):
    """A session of an agent's client. `thread` is the one that an import of its transcript makes too.

    It is null where a person keeps the session out of the store. `before` is the session of the same process that this
    one took the place of. `endedAt` is null while it is open.
    """

    client: str
    session: str
    started_at: str
    updated_at: str
    thread: str | None = None
    project: str | None = None
    pid: int | None = None
    before: str | None = None
    ended_at: str | None = None


class SessionsQuery(ListQuery):
    """The query of `GET /v1/sessions`."""

    client: AgentClient | None = None
    pid: _Pid | None = None
    open: Annotated[bool, Meta(description="Only those that have not ended.")] = False


class HookQuery(Request):
    """The query of a hook: the part of the text that it asks for, and the client's process."""

    part: Annotated[
        Literal["state", "summary", "excerpts"], Meta(description="What a hook at a session's start shows.")
    ] = "state"
    pid: _Pid | None = None


class CompactConversation(Request):
    """`POST /v1/compactions`: a client's conversation, to be replaced by a text of at most about `tokens`.

    `messages` are those of the Messages API, for Codex the items of the Responses API. With a `session` that is
    recorded, the text is made from its thread; nothing is stored either way.
    """

    client: AgentClient
    messages: list[Json]
    session: Id | None = None
    tokens: Annotated[int, Meta(ge=1_000, le=200_000, description="Of the text, about.")] = 16_000


class Compaction(Reply):
    """The text that takes a conversation's place, and what it was made from."""

    text: str
    tokens: int
    source: CompactionSource


class Privacy(Reply):
    """Privacy settings: folders whose sessions are not recorded, and whether any are now."""

    ignored: list[str] = field(default_factory=list)
    paused: bool = False
    paused_since: str | None = None


class ChangePrivacy(Request):
    """`PATCH /v1/privacy`: pause the recording of sessions or go on; ignore a folder, or no longer."""

    paused: bool | None = None
    ignore: _Path | None = None
    unignore: _Path | None = None
