"""Runs: one piece of work of an agent, its files, its working memory, and the memories learnt from them."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, field

from reverie.text_types import Text, Words
from reverie.wire.base import Count, Id, Json, ListQuery, Reply, Request
from reverie.wire.memories import Change, Proposal, ProposedMemory
from reverie.wire.spaces import ProjectText

_ENTRIES_MAX = 1000

RunState: TypeAlias = Literal["running", "completed"]
RunEnd: TypeAlias = Literal["call", "session", "idle"]
RunFileSource: TypeAlias = Literal["api", "tool", "folder"]
RunOmitted: TypeAlias = Literal["binary", "large"]


class CreateRun(Request):
    """The body of `POST /v1/runs`, with which an agent begins a piece of work, in a thread or without one.

    `project` is a name or an absolute path of a folder in it; a run in a thread has that of the thread.
    """

    thread: Id | None = None
    agent: Id | None = None
    title: Annotated[Text, Meta(min_length=1, max_length=500)] | None = None
    project: ProjectText | None = None


class RunsQuery(ListQuery):
    """Query of `GET /v1/runs`: those in one `state`, or all."""

    state: RunState | None = None


class PutRunFile(Request):
    """`PUT /v1/runs/{id}/files/{path}`: the whole content of a file that the agent wrote; `base64` for bytes."""

    content: Text
    encoding: Literal["utf-8", "base64"] = "utf-8"


class PutWorkingMemory(Request):
    """`PUT /v1/runs/{id}/working-memory`: all its entries; a value that is no text is stored as its JSON."""

    entries: Annotated[dict[str, Json], Words(), Meta(max_length=_ENTRIES_MAX)]


class RunFile(Reply):
    """A file of a run. `omitted`: it is binary, or larger than 10 MB, and noted without its content.

    `source` says where it is known from: a call of the API, a tool's call in the run's thread, a watched folder.
    """

    path: str
    size: Count
    sha256: str
    author_agent_id: str | None
    source: RunFileSource
    at: str
    omitted: RunOmitted | None = None


class RunFileText(RunFile, kw_only=True):
    """A file of a run with its content, redacted; null where that is omitted."""

    content: str | None = None


class RunResult(Reply):
    """Result of a run's completion: extract, consolidate, apply.

    `candidates` are what was extracted, in the order of their `candidateIndex`; `changes` all decisions but KEEP.
    `fallback` says what a model did not decide, and why. `waiting` are candidates that a person decides.
    """

    candidates: list[ProposedMemory]
    changes: list[Change]
    tier: str
    operation: str | None
    fallback: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    proposals: list[Proposal] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    forgotten: Count = 0


class Run(Reply):
    """A run. `endedBy`: a call, the end of its session, or so many idle minutes as `runs.idleMinutes` says."""

    id: str
    agent: str | None
    thread: str | None
    title: str | None
    project: str | None
    state: RunState
    created_at: str
    updated_at: str
    completed_at: str | None = None
    ended_by: RunEnd | None = None
    files: list[RunFile] = field(default_factory=list)
    working_memory: dict[str, str] = field(default_factory=dict)
    result: RunResult | None = None


class RunContext(Reply):
    """The text that knowledge is extracted from: files, working memory, and the last messages of the session."""

    text: str
    tokens: Count
    tokenizer: str = "o200k_base"
