"""Calls about the work of agents: runs with their files, sessions of clients, compactions; privacy, redactions."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Literal

from reverie import wire
from reverie.client.http import Call, discard, get, request, target

if TYPE_CHECKING:
    from collections.abc import Mapping


def start_run(
    *,
    thread: str | None = None,
    agent: str | None = None,
    title: str | None = None,
    project: str | None = None,
    key: str | None = None,
) -> Call[wire.Run]:
    """Begin a run: a piece of work of an agent, in a thread or without one."""
    body = wire.CreateRun(thread=thread, agent=agent, title=title, project=project)
    return request("POST", target("runs"), wire.Run, body, key=key)


def runs(
    *,
    state: Literal["running", "completed"] | None = None,
    limit: int = wire.LIMIT_DEFAULT,
    after: str | None = None,
) -> Call[wire.Page[wire.Run]]:
    """Return one page of the runs, newest first."""
    return get(wire.Page[wire.Run], "runs", state=state, limit=limit, after=after)


def run(run_id: str) -> Call[wire.Run]:
    """Return one run (a piece of work of an agent) with its files and, once it has ended, its result."""
    return get(wire.Run, "runs", run_id)


def run_context(run_id: str) -> Call[wire.RunContext]:
    """Return the text that knowledge of a run is extracted from."""
    return get(wire.RunContext, "runs", run_id, "context")


def run_file(run_id: str, path: str) -> Call[wire.RunFileText]:
    """Return a file of a run with its content."""
    return get(wire.RunFileText, "runs", run_id, "files", path)


def put_run_file(run_id: str, path: str, content: str | bytes) -> Call[wire.RunFile]:
    """Hand over a file that the agent wrote, whole."""
    if isinstance(content, bytes):
        body = wire.PutRunFile(base64.b64encode(content).decode(), "base64")
    else:
        body = wire.PutRunFile(content)
    return request("PUT", target("runs", run_id, "files", path), wire.RunFile, body)


def put_working_memory(run_id: str, entries: Mapping[str, Any]) -> Call[wire.Run]:
    """Replace the working memory of a run."""
    return request("PUT", target("runs", run_id, "working-memory"), wire.Run, wire.PutWorkingMemory(dict(entries)))


def complete_run(run_id: str) -> Call[wire.RunResult]:
    """Complete a run, and wait for what is learnt from it; a repeated call returns the same result."""
    return request("POST", target("runs", run_id, "complete"), wire.RunResult, long=True)


def start_session(body: wire.StartSession) -> Call[wire.Session]:
    """Record a session that begins or continues; the daemon imports its transcript as it grows."""
    return request("POST", target("sessions"), wire.Session, body)


def end_session(client: str, session: str) -> Call[wire.Session]:
    """Record the end of a session."""
    return request("POST", target("sessions", client, session, "end"), wire.Session)


def sessions(
    *,
    client: wire.AgentClient | None = None,
    pid: int | None = None,
    open: bool | None = None,  # noqa: A002 - the parameter's name on the wire
    limit: int = wire.LIMIT_DEFAULT,
    after: str | None = None,
) -> Call[wire.Page[wire.Session]]:
    """Return one page of the sessions, most recently active first; optionally of one client or one process."""
    return get(wire.Page[wire.Session], "sessions", client=client, pid=pid, open=open or None, limit=limit, after=after)


def compact_conversation(body: wire.CompactConversation) -> Call[wire.Compaction]:
    """Return the text that takes the place of a client's conversation; nothing is stored."""
    return request("POST", target("compactions"), wire.Compaction, body)


def prepare_compaction() -> Call[None]:
    """Make the daemon ready for a compaction that may follow within a minute."""
    return Call("POST", target("compactions", "prepare"), discard)


def privacy() -> Call[wire.Privacy]:
    """Return the privacy settings."""
    return get(wire.Privacy, "privacy")


def change_privacy(body: wire.ChangePrivacy) -> Call[wire.Privacy]:
    """Pause or resume the recording of sessions, or add or remove an ignored folder."""
    return request("PATCH", target("privacy"), wire.Privacy, body)


def redactions(
    *, project: str | None = None, limit: int = wire.LIMIT_DEFAULT, after: str | None = None
) -> Call[wire.RedactionsPage]:
    """Return one page of the values that were replaced, without the values; those first that were found last."""
    return get(wire.RedactionsPage, "redactions", project=project, limit=limit, after=after)


def allow_redactions(
    redaction: str | None = None, *, rule: str | None = None, like: str | None = None
) -> Call[wire.Allowed]:
    """Allow one value by the id of its redaction, a rule or a pattern, and restore the texts that have transcripts."""
    body = wire.AllowRedactions(id=redaction, rule=rule, like=like)
    return request("POST", target("redactions", "allow"), wire.Allowed, body, long=True)


def disallow_redactions(
    redaction: str | None = None, *, rule: str | None = None, like: str | None = None
) -> Call[wire.Allowed]:
    """Take again what was allowed, also from the texts that have it by now."""
    body = wire.AllowRedactions(id=redaction, rule=rule, like=like)
    return request("POST", target("redactions", "disallow"), wire.Allowed, body, long=True)
