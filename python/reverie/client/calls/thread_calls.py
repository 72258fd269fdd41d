"""Threads: messages in, context out, and what is kept between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from reverie import wire
from reverie.client.call import Call, get, nothing, send, target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import NoteCategory

__all__ = [
    "add_note",
    "append",
    "context",
    "create_thread",
    "delete_note",
    "delete_thread",
    "digest",
    "distill",
    "learn",
    "messages",
    "notes",
    "set_working_state",
    "start_distill",
    "summaries",
    "thread",
    "threads",
    "working_state",
]


def create_thread(
    *,
    id: str | None = None,  # noqa: A002 - the field's name on the wire
    agent: str | None = None,
    title: str | None = None,
    model: str | None = None,
    context_window: int | None = None,
    key: str | None = None,
) -> Call[wire.Thread]:
    """Begin a thread. `context_window` is in tokens; without `id` the daemon makes one."""
    body = wire.CreateThread(id, agent, title, model, context_window)
    return send("POST", target("threads"), wire.Thread, body, key=key)


def threads(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.Thread]]:
    """One page of the threads."""
    return get(wire.Page[wire.Thread], "threads", limit=limit, after=after)


def thread(thread_id: str) -> Call[wire.Thread]:
    """One thread with its sizes."""
    return get(wire.Thread, "threads", thread_id)


def delete_thread(thread_id: str, *, confirm: str | None = None) -> Call[wire.ThreadDeleted]:
    """Remove a thread and everything derived only from it. `confirm` is the thread's id again, or it is refused."""
    return send("DELETE", target("threads", thread_id, confirm=confirm), wire.ThreadDeleted)


def append(
    thread_id: str,
    messages: Sequence[dict[str, Any]],
    *,
    usage: dict[str, Any] | None = None,
    applied_edits: Sequence[dict[str, Any]] | None = None,
    expected_seq: int | None = None,
    key: str | None = None,
) -> Call[wire.Appended]:
    """Add messages in Anthropic form. With `expected_seq`, Conflict when somebody else was faster.

    `usage` and `applied_edits` (of its `context_management`) are those of the reply that comes last.

    Raises:
        ValidationError: naming the message and field that is wrong, before anything is sent.
    """
    given: dict[str, Any] = {
        "messages": list(messages),
        "usage": usage,
        "expectedSeq": expected_seq,
        "appliedEdits": None if applied_edits is None else list(applied_edits),
    }
    body = wire.parse(wire.AppendMessages, {name: value for name, value in given.items() if value is not None})
    return send("POST", target("threads", thread_id, "messages"), wire.Appended, body, key=key)


def learn(thread_id: str) -> Call[wire.MemoryChanges]:
    """Draw memories from what was said since the last time, without distilling, and wait until it is done."""
    return send("POST", target("threads", thread_id, "learn", wait=True), wire.MemoryChanges, long=True)


def messages(
    thread_id: str, *, limit: int = wire.LIMIT_DEFAULT, after: str | None = None
) -> Call[wire.Page[wire.StoredMessage]]:
    """One page of the verbatim messages; distillation never deletes any."""
    return get(wire.Page[wire.StoredMessage], "threads", thread_id, "messages", limit=limit, after=after)


def context(
    thread_id: str,
    *,
    query: str | None = None,
    placement: wire.Placement | None = None,
    max_tokens: int | None = None,
) -> Call[wire.ContextAnswer]:
    """What an agent goes on with: the fragment of its next request, and the cost of each tier."""
    return get(
        wire.ContextAnswer,
        "threads",
        thread_id,
        "context",
        query=query,
        placement=placement,
        maxTokens=max_tokens,
    )


def working_state(thread_id: str) -> Call[wire.WorkingState]:
    """What is going on in the thread."""
    return get(wire.WorkingState, "threads", thread_id, "working-state")


def set_working_state(
    thread_id: str,
    *,
    current_task: str | None = None,
    task_chain: Sequence[str] | None = None,
    completed_steps: Sequence[str] | None = None,
    next_steps: Sequence[str] | None = None,
    open_files: Sequence[str] | None = None,
    recent_decisions: Sequence[str] | None = None,
    blockers: Sequence[str] | None = None,
    whole: bool = False,
) -> Call[wire.WorkingState]:
    """Say what is going on in the thread in your own words. What is left out stays, or is emptied where `whole`."""
    lists = (task_chain, completed_steps, next_steps, open_files, recent_decisions, blockers)
    body = wire.SetWorkingState(
        UNSET if current_task is None else current_task, *(UNSET if held is None else list(held) for held in lists)
    )
    return send("PUT" if whole else "PATCH", target("threads", thread_id, "working-state"), wire.WorkingState, body)


def notes(thread_id: str, *, limit: int | None = None, after: str | None = None) -> Call[wire.Page[wire.Note]]:
    """One page of what agents said to remember in this thread, oldest first."""
    return get(wire.Page[wire.Note], "threads", thread_id, "notes", limit=limit, after=after)


def add_note(thread_id: str, content: str, category: NoteCategory, *, key: str | None = None) -> Call[wire.Note]:
    """Remember a line in this thread."""
    body = wire.CreateNote(content=content, category=category)
    return send("POST", target("threads", thread_id, "notes"), wire.Note, body, key=key)


def delete_note(thread_id: str, note_id: str) -> Call[None]:
    """Forget a note."""
    return nothing("DELETE", "threads", thread_id, "notes", note_id)


def digest(thread_id: str) -> Call[wire.ThreadDigest]:
    """Who this is and what we usually do."""
    return get(wire.ThreadDigest, "threads", thread_id, "digest")


def distill(thread_id: str, *, token_budget: int | None = None, key: str | None = None) -> Call[wire.DistillAnswer]:
    """Replace the older messages by a structured summary, learn from them, and wait until it is done."""
    path = target("threads", thread_id, "distill", wait=True)
    return send("POST", path, wire.DistillAnswer, wire.DistillRequest(token_budget), key=key, long=True)


def start_distill(thread_id: str, *, token_budget: int | None = None, key: str | None = None) -> Call[wire.JobAccepted]:
    """Begin a distillation; `job` tells how far it is."""
    path = target("threads", thread_id, "distill")
    return send("POST", path, wire.JobAccepted, wire.DistillRequest(token_budget), key=key)


def summaries(thread_id: str) -> Call[wire.Page[wire.PastDistillation]]:
    """Every structured summary so far."""
    return get(wire.Page[wire.PastDistillation], "threads", thread_id, "summaries")
