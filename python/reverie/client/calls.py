"""Every operation of the API as a function that builds its call; both clients offer exactly these as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import wire
from reverie.client.memory_calls import change_memory, forget, memories, memory, memory_history, recall, remember
from reverie.client.protocol import Call, decoder, discard, get, request, target
from reverie.client.space_calls import create_space, create_token, revoke_token, spaces, tokens
from reverie.client.thread_calls import (
    add_note,
    append,
    call_tool,
    change_thread,
    context,
    create_thread,
    delete_note,
    delete_thread,
    digest,
    distill,
    learn,
    messages,
    notes,
    projects,
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

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "add_note",
    "add_schedule",
    "append",
    "append_entry",
    "archive",
    "archives",
    "backup",
    "call_tool",
    "cancel_job",
    "change_memory",
    "change_thread",
    "compact",
    "conflict",
    "conflicts",
    "context",
    "create_space",
    "create_thread",
    "create_token",
    "delete_document",
    "delete_note",
    "delete_thread",
    "difference",
    "digest",
    "distill",
    "document",
    "document_history",
    "documents",
    "dream",
    "dream_record",
    "dreams",
    "event_stream",
    "forget",
    "health",
    "index",
    "job",
    "learn",
    "memories",
    "memory",
    "memory_history",
    "messages",
    "metrics",
    "notes",
    "openapi",
    "operation",
    "operations",
    "patch_document",
    "projects",
    "put_document",
    "recall",
    "remember",
    "remove_schedule",
    "resolve",
    "revoke_token",
    "rollback",
    "schedules",
    "search",
    "send_chunk",
    "set_working_state",
    "sort_projects",
    "spaces",
    "start_distill",
    "start_dream",
    "start_import",
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


# Documents and conflicts


def documents(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.Document]]:
    """Return one page of the documents, without their text."""
    return get(wire.Page[wire.Document], "documents", limit=limit, after=after)


def document(path: str, *, at: str | None = None) -> Call[wire.DocumentText]:
    """Return a document with its text: the current version, or the one after operation `at`."""
    return get(wire.DocumentText, "documents", path, at=at)


def put_document(
    path: str, content: str, *, summary: str | None = None, etag: str | None = None
) -> Call[wire.Document]:
    """Write a whole document. `etag` is the version that was read: Conflict if the document has another one now."""
    body = wire.PutDocument(content, summary)
    return request("PUT", target("documents", path), wire.Document, body, headers=_if_match(etag))


def patch_document(
    path: str, patches: Sequence[tuple[str, str]], *, etag: str | None = None, key: str | None = None
) -> Call[wire.PatchAnswer]:
    """Replace exact texts, each of which occurs in the document once: all of them, or none (Conflict)."""
    body = wire.PatchDocument([wire.Patch(old, new) for old, new in patches])
    return request("POST", target("documents", path, "patch"), wire.PatchAnswer, body, key=key, headers=_if_match(etag))


def append_entry(path: str, entry: str, *, summary: str | None = None, key: str | None = None) -> Call[wire.Document]:
    """Append markdown to a document, which is created if there is none."""
    body = wire.AppendEntry(entry, summary)
    return request("POST", target("documents", path, "append"), wire.Document, body, key=key)


def delete_document(path: str, *, etag: str | None = None, purge: bool = False) -> Call[wire.DocumentDeleted]:
    """Delete a document with its memories; undo restores both, unless `purge` removes them for good."""
    url = target("documents", path, purge=purge or None)
    return request("DELETE", url, wire.DocumentDeleted, headers=_if_match(etag), long=purge)


def index(
    *, project: str | None = None, folder: str | None = None, all_projects: bool = False
) -> Call[wire.IndexAnswer]:
    """Return the listing of memory files for an agent's first turn; with a `project`, of its files and the person's.

    With a `folder`, that of its project where it has a known one.
    """
    return get(wire.IndexAnswer, "index", project=project, folder=folder, allProjects=all_projects or None)


def conflicts(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.Conflict]]:
    """Return one page of the open conflicts between files and the store."""
    return get(wire.Page[wire.Conflict], "conflicts", limit=limit, after=after)


def conflict(conflict_id: str) -> Call[wire.ConflictText]:
    """Return one conflict with both texts."""
    return get(wire.ConflictText, "conflicts", conflict_id)


def resolve(conflict_id: str, body: wire.Resolve, *, key: str | None = None) -> Call[wire.Resolved]:
    """Resolve a conflict: keep the file's text, the store's, both, or give the text."""
    return request("POST", target("conflicts", conflict_id, "resolve"), wire.Resolved, body, key=key)


def sync_status() -> Call[wire.SyncStatus]:
    """Return the sync status of the folder."""
    return get(wire.SyncStatus, "sync")


def sync_now(
    *,
    accept_deletions: bool = False,
    accept_folder: bool = False,
    accept_older: bool = False,
    put_back: bool = False,
    deep: bool = False,
) -> Call[wire.SyncOutcome]:
    """Scan the whole folder now, and wait until it and the store are in sync."""
    body = wire.SyncNow(
        accept_deletions=accept_deletions,
        accept_folder=accept_folder,
        accept_older=accept_older,
        put_back=put_back,
        deep=deep,
    )
    return request("POST", target("sync"), wire.SyncOutcome, body, long=True)


def _if_match(etag: str | None) -> dict[str, str]:
    return {} if etag is None else {"If-Match": etag if etag == "*" else f'"{etag}"'}


# Memories


# History and dreams


def operations(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.Operation]]:
    """Return one page of the operations, newest first."""
    return get(wire.Page[wire.Operation], "operations", limit=limit, after=after)


def operation(operation_id: str) -> Call[wire.Operation]:
    """Return one operation: who, why, when and what changed."""
    return get(wire.Operation, "operations", operation_id)


def undo(operation_id: str, *, key: str | None = None) -> Call[wire.UndoAnswer]:
    """Undo one operation by a new one; Conflict if a later operation changed the same place."""
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
    cron: str, *, timezone: str = "UTC", token_budget: int | None = None, key: str | None = None
) -> Call[wire.Schedule]:
    """Schedule dreams: five cron fields in their standard meaning, in a named time zone."""
    body = wire.CreateSchedule(cron=cron, timezone=timezone, options=wire.DreamOptions(token_budget=token_budget))
    return request("POST", target("schedules"), wire.Schedule, body, key=key)


def remove_schedule(schedule_id: str) -> Call[None]:
    """Delete a schedule."""
    return Call("DELETE", target("schedules", schedule_id), discard)
