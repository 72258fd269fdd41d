"""Every operation of the API as a function that builds its call; both clients offer exactly these as methods."""

from __future__ import annotations

from typing import Any, Literal

from reverie import wire
from reverie.client.http import Call, decoder, discard, get, request, target
from reverie.client.memory_calls import (
    accept_candidate,
    append_entry,
    candidate,
    candidates,
    change_memory,
    conflict,
    conflicts,
    delete_document,
    delete_folder,
    document,
    documents,
    forget,
    index,
    insert_lines,
    memories,
    memory,
    memory_history,
    move_document,
    patch_document,
    put_document,
    recall,
    reject_candidate,
    remember,
    resolve,
    sync_now,
    sync_status,
)
from reverie.client.session_calls import (
    allow_redactions,
    change_privacy,
    compact_conversation,
    complete_run,
    disallow_redactions,
    end_session,
    prepare_compaction,
    privacy,
    put_run_file,
    put_working_memory,
    redactions,
    run,
    run_context,
    run_file,
    runs,
    sessions,
    start_run,
    start_session,
)
from reverie.client.thread_calls import (
    add_note,
    append,
    brief,
    brief_text,
    call_tool,
    change_brief_line,
    change_thread,
    context,
    context_text,
    create_thread,
    delete_note,
    delete_thread,
    digest,
    distill,
    entries,
    learn,
    messages,
    model_requests,
    notes,
    projects,
    reflect,
    rewind,
    search,
    send_chunk,
    set_working_state,
    sort_projects,
    start_distill,
    start_import,
    summaries,
    thread,
    threads,
    tools,
    working_state,
)

__all__ = [
    "accept_candidate",
    "add_note",
    "add_schedule",
    "allow_redactions",
    "append",
    "append_entry",
    "archive",
    "archives",
    "backup",
    "brief",
    "brief_text",
    "call_tool",
    "cancel_job",
    "candidate",
    "candidates",
    "change_brief_line",
    "change_memory",
    "change_privacy",
    "change_thread",
    "check_distiller",
    "compact",
    "compact_conversation",
    "complete_run",
    "conflict",
    "conflicts",
    "context",
    "context_text",
    "create_space",
    "create_thread",
    "create_token",
    "delete_document",
    "delete_folder",
    "delete_note",
    "delete_thread",
    "difference",
    "digest",
    "disallow_redactions",
    "distill",
    "document",
    "document_history",
    "documents",
    "dream",
    "dream_record",
    "dreams",
    "end_session",
    "entries",
    "event_stream",
    "forget",
    "health",
    "index",
    "insert_lines",
    "job",
    "learn",
    "memories",
    "memory",
    "memory_history",
    "messages",
    "metrics",
    "model_requests",
    "move_document",
    "notes",
    "openapi",
    "operation",
    "operations",
    "patch_document",
    "prepare_compaction",
    "privacy",
    "projects",
    "put_document",
    "put_run_file",
    "put_working_memory",
    "recall",
    "redactions",
    "reflect",
    "reject_candidate",
    "remember",
    "remove_schedule",
    "resolve",
    "revoke_token",
    "rewind",
    "rollback",
    "run",
    "run_context",
    "run_file",
    "runs",
    "schedules",
    "search",
    "send_chunk",
    "sessions",
    "set_working_state",
    "sort_projects",
    "spaces",
    "start_distill",
    "start_dream",
    "start_import",
    "start_run",
    "start_session",
    "status",
    "summaries",
    "sync_now",
    "sync_status",
    "thread",
    "threads",
    "tokens",
    "tools",
    "undo",
    "working_state",
]

# The daemon


def health() -> Call[wire.Health]:
    """Return status, version, protocol and process id of the daemon."""
    return get(wire.Health, "health")


def status() -> Call[wire.Status]:
    """Return counts, schedules, the last dream, and the problems that need a person."""
    return get(wire.Status, "status")


def backup(path: str, *, moved_to: str | None = None) -> Call[wire.BackupMade]:
    """Write a compact, verified copy of the whole store to an absolute path that does not exist yet."""
    body = wire.CreateBackup(path=path, moved_to=moved_to)
    return request("POST", target("backups"), wire.BackupMade, body, long=True)


def compact(*, key: str | None = None) -> Call[wire.Compacted]:
    """Rewrite the store's file without the space that deleted records have left; writes wait meanwhile."""
    return request("POST", target("compact"), wire.Compacted, key=key, long=True)


def check_distiller() -> Call[wire.DistillerChecked]:
    """Ask each model of the distiller once, which costs a few tokens, and return what it used."""
    return request("POST", target("distiller", "check"), wire.DistillerChecked, long=True)


def job(job_id: str) -> Call[wire.Job]:
    """Return the progress of a job."""
    return get(wire.Job, "jobs", job_id)


def cancel_job(job_id: str) -> Call[None]:
    """Cancel a job; what it has committed stays."""
    return Call("DELETE", target("jobs", job_id), discard)


def openapi() -> Call[dict[str, Any]]:
    """Return the OpenAPI 3.1 description of the API."""
    return get(dict[str, Any], "openapi.json")


def metrics() -> Call[str]:
    """Return counters and timings in Prometheus text format."""
    return Call("GET", "/metrics", bytes.decode)


def event_stream(after: int | None = None) -> Call[None]:
    """Open the stream of events after a sequence; the `events` methods of the clients read it."""
    headers = {"Accept": "text/event-stream"} | ({} if after is None else {"Last-Event-ID": str(after)})
    return Call("GET", target("events", after=after), discard, headers=headers)


# History and dreams


def operations(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.Operation]]:
    """Return one page of the operations, newest first."""
    return get(wire.Page[wire.Operation], "operations", limit=limit, after=after)


def operation(operation_id: str) -> Call[wire.Operation]:
    """Return one operation: who, why, when and what changed."""
    return get(wire.Operation, "operations", operation_id)


def undo(operation_id: str, *, key: str | None = None) -> Call[wire.UndoAnswer]:
    """Undo one operation by a new one. Raises Conflict if a later operation changed the same words."""
    return request("POST", target("operations", operation_id, "undo"), wire.UndoAnswer, key=key)


def rollback(
    operation_id: str, *, path: str | None = None, memory: str | None = None, key: str | None = None
) -> Call[wire.RollbackAnswer]:
    """Restore documents, memories and notes to their versions after an operation ("0": before the first one).

    With `path` or `memory` only that document or memory.
    """
    body = wire.Rollback(operation_id, path, memory)
    return request("POST", target("rollback"), wire.RollbackAnswer, body, key=key, long=True)


def document_history(path: str) -> Call[wire.Page[wire.DocumentVersion]]:
    """Return every version of a document with the operation that wrote it."""
    return get(wire.Page[wire.DocumentVersion], "history", path)


def difference(from_: str, to: str | None = None, *, path: str | None = None) -> Call[wire.DifferenceAnswer]:
    """Return the changes of documents between two operations; up to the newest without `to`."""
    return Call("GET", target("diff", **{"from": from_, "to": to, "path": path}), decoder(wire.DifferenceAnswer))


def archives(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.Archive]]:
    """Return one page of the archives, ordered by address."""
    return get(wire.Page[wire.Archive], "archives", limit=limit, after=after)


def archive(sha256: str) -> Call[bytes]:
    """Return the canonical bytes of an archive; their SHA-256 is the address."""
    return Call("GET", target("archives", sha256), bytes)


def dream(*, token_budget: int | None = None, dry_run: bool = False, key: str | None = None) -> Call[wire.DreamAnswer]:
    """Run a dream over what is new since the last one, and wait until it is done. A dry run writes nothing.

    The daemon refuses a budget that cannot be met with TokenBudgetExceeded.
    """
    body = wire.StartDream(token_budget, dry_run)
    return request("POST", target("dreams", wait=True), wire.DreamAnswer, body, key=key, long=True)


def start_dream(*, token_budget: int | None = None, key: str | None = None) -> Call[wire.JobAccepted]:
    """Start a dream; `job` returns its progress."""
    return request("POST", target("dreams"), wire.JobAccepted, wire.StartDream(token_budget), key=key)


def dreams(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.DreamRecord]]:
    """Return one page of the past dreams, newest first."""
    return get(wire.Page[wire.DreamRecord], "dreams", limit=limit, after=after)


def dream_record(dream_id: str) -> Call[wire.DreamRecord]:
    """Return one past dream."""
    return get(wire.DreamRecord, "dreams", dream_id)


def schedules() -> Call[wire.Page[wire.Schedule]]:
    """Return the schedules of dreams."""
    return get(wire.Page[wire.Schedule], "schedules")


def add_schedule(
    cron: str,
    *,
    timezone: str = "UTC",
    token_budget: int | None = None,
    job: Literal["dream", "learn"] = "dream",
    key: str | None = None,
) -> Call[wire.Schedule]:
    """Schedule dreams, or learning from all threads: five cron fields in their standard meaning, in a time zone."""
    options = wire.DreamOptions(token_budget=token_budget)
    body = wire.CreateSchedule(cron=cron, timezone=timezone, job=job, options=options)
    return request("POST", target("schedules"), wire.Schedule, body, key=key)


def remove_schedule(schedule_id: str) -> Call[None]:
    """Delete a schedule."""
    return Call("DELETE", target("schedules", schedule_id), discard)


def spaces(*, after: str | None = None, limit: int = wire.LIMIT_DEFAULT) -> Call[wire.Page[wire.Space]]:
    """Return the spaces and the folders of their documents; with a token only its own space."""
    return get(wire.Page[wire.Space], "spaces", after=after, limit=limit)


def create_space(name: str, *, key: str | None = None) -> Call[wire.Space]:
    """Create a space; only for the owner, who has no token."""
    return request("POST", target("spaces"), wire.Space, wire.CreateSpace(id=name), key=key)


def tokens(*, after: str | None = None, limit: int = wire.LIMIT_DEFAULT) -> Call[wire.Page[wire.Token]]:
    """Return the valid access tokens without their secrets; only for the owner."""
    return get(wire.Page[wire.Token], "tokens", after=after, limit=limit)


def create_token(space: str = "default", *, agent: str | None = None) -> Call[wire.Token]:
    """Create an access token for a space; its secret is `token` of this answer and nowhere else."""
    return request("POST", target("tokens"), wire.Token, wire.CreateToken(space=space, agent=agent))


def revoke_token(token_id: str) -> Call[None]:
    """Revoke an access token at once."""
    return Call("DELETE", target("tokens", token_id), discard)
