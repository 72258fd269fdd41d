"""Typed records of runs: one piece of work of an agent, with the files that it wrote and its working memory."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import field

from reverie.store.schema import Kind
from reverie.store.typed_records import StoredRecord

__all__ = ["RunFileRecord", "RunRecord"]


class RunRecord(StoredRecord, frozen=True, kw_only=True):
    """A run: who works, in which thread, and what became of it. Key: (run,).

    `first_seq` is the thread's last entry when the run began. `ended_by` is `call`, `session` or `idle`; `answer` is
    the result of its completion as the API answers it.
    """

    KIND: ClassVar[Kind] = Kind.RUN
    KEEPS_UNKNOWN_FIELDS: ClassVar[bool] = True

    id: str
    agent: str | None = None
    thread: str | None = None
    title: str | None = None
    project: str | None = None
    state: Literal["running", "completed"] = "running"
    first_seq: int = 0
    created_at: str
    updated_at: str
    completed_at: str | None = None
    ended_by: Literal["call", "session", "idle"] | None = None
    working_memory: dict[str, str] = field(default_factory=dict)
    answer: dict[str, Any] | None = None


class RunFileRecord(StoredRecord, frozen=True, kw_only=True):
    """A file that an agent wrote in a run, whole and redacted; `content` is None for a binary or too large one.

    `source` says who reported it: a call of the API, an edit by a tool of the thread, a watched folder. `size` is in
    bytes. Key: (run, SHA-256 of the path).
    """

    KIND: ClassVar[Kind] = Kind.RUN_FILE

    path: str
    content: str | None
    size: int
    sha256: str
    author_agent_id: str | None = None
    source: Literal["api", "tool", "folder"] = "api"
    omitted: Literal["binary", "large"] | None = None
    at: str
