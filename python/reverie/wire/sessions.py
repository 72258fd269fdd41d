"""Sessions of agents' clients, and their hooks."""

from typing import Annotated, Literal

from msgspec import Meta, field

from reverie.wire.base import Id, ListQuery, Reply, Request
from reverie.wire.spaces import AbsolutePath, ProjectText

HOOK_MAX_BYTES = 16 * 1024 * 1024  # of a hook's input, which has the whole of a prompt

AgentClient = Literal["claude-code", "codex"]
SessionSource = Literal["startup", "resume", "clear", "compact", "fork"]
_Pid = Annotated[int, Meta(ge=1, le=2**31 - 1, description="The client's process.")]


class StartSession(Request):
    """`POST /v1/sessions`: a session begins or continues. The daemon imports its `transcript` from now on, as it grows.

    `pid` is the client's process: another session of it has ended with this one.
    """

    client: AgentClient
    session: Id
    project: ProjectText
    transcript: AbsolutePath | None = None
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
    until: Annotated[int, Meta(ge=0, description="When the client gives up, in milliseconds since 1970.")] | None = None


class LateCompaction(Reply):
    """A compaction of which a text was late; an answer at `namedAt` named it, and showed what there was room for."""

    client: str
    session: str
    at: str
    named_at: str | None = None


class LateHooks(Reply):
    """The hooks that were answered too late since the daemon began, and the last compactions that this concerned.

    What such hooks report is stored, but nobody has read their answers.
    """

    count: int
    last_at: str | None = None
    compactions: list[LateCompaction] = field(default_factory=list)
