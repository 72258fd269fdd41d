"""Gives a thread's agent its memory back: tiers gathered from a snapshot, assembled in another process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from reverie.context import Limits, Parts, RecallLine, assemble
from reverie.distill import state as working_state
from reverie.distill.extractive import Extractive
from reverie.engine import threads
from reverie.engine.records import distillation_of, opened_entry, record, value
from reverie.importers.reading import join
from reverie.models import Message, Note, WorkingState
from reverie.recall import query_for
from reverie.store import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.store import Reader

__all__ = ["ContextJob", "StateJob", "StatePlan", "decide", "decide_state", "snapshot", "snapshot_state"]


class StateJob(msgspec.Struct):
    """What bringing a thread's working state up to date needs."""

    thread: str
    entries: list[tuple[int, bytes]]
    previous: dict[str, Any] | None
    seq: int


class StatePlan(msgspec.Struct):
    """A thread's working state as of entry `seq`, and the query that recalls what belongs to it."""

    state: dict[str, Any]
    query: str
    seq: int


class ContextJob(msgspec.Struct):
    """A snapshot of every tier."""

    thread: dict[str, Any]
    entries: list[tuple[int, bytes]]
    distillation: dict[str, Any] | None
    state: dict[str, Any]
    digest: str
    notes: list[dict[str, Any]]
    bootstrap: list[tuple[str, str]]
    recall: list[tuple[str, str, str]]  # text, memory id, document
    window: int
    max_tokens: int | None
    placement: Literal["system", "late"] | None
    preserve_messages: int
    preserve_tokens: int
    clear_at: float


def snapshot_state(reader: Reader, thread_id: str) -> StateJob:
    """Reads what the working state is made from. Raises NotFound for an unknown thread."""
    thread = threads.get(reader, thread_id)
    return StateJob(
        thread=thread_id,
        entries=sealed_since(reader, thread_id, int(thread["throughSeq"])),
        previous=(reader.get(Kind.STATE, (thread_id,)) or {}).get("state"),
        seq=int(thread["lastSeq"]),
    )


def decide_state(job: StateJob) -> StatePlan:
    """The working state after the entries given; pure."""
    messages = opened(job.thread, job.entries)
    previous = value(WorkingState, job.previous) if job.previous else None
    state = Extractive().working_state(messages, previous)
    return StatePlan(state=record(state), query=query_for(state, _last_said(messages)), seq=job.seq)


def snapshot(
    reader: Reader,
    thread_id: str,
    *,
    state: dict[str, Any],
    recall: Sequence[tuple[str, str, str]],
    bootstrap: Sequence[str],
    limits: Limits,
    placement: Literal["system", "late"] | None,
) -> ContextJob:
    """Reads every tier. Raises NotFound for an unknown thread."""
    thread = threads.get(reader, thread_id)
    newest = next((stored for _, stored in reader.scan(Kind.DISTILLATION, (thread_id,), reverse=True)), None)
    since = int(newest["throughSeq"]) if newest else 0
    texts = ((path, reader.get(Kind.DOCUMENT, (path,))) for path in bootstrap)
    return ContextJob(
        thread=thread,
        entries=sealed_since(reader, thread_id, since),
        distillation=newest,
        state=state,
        digest=(reader.get(Kind.DIGEST, (thread_id,)) or {}).get("text", ""),
        notes=[stored for _, stored in reader.scan(Kind.NOTE, (thread_id,))],
        bootstrap=[(path, found["content"]) for path, found in texts if found],
        recall=list(recall),
        window=int(thread["contextWindow"] or limits.window),
        max_tokens=limits.max_tokens,
        placement=placement,
        preserve_messages=limits.preserve_messages,
        preserve_tokens=limits.preserve_tokens,
        clear_at=limits.trigger,
    )


def decide(job: ContextJob) -> dict[str, Any]:
    """The request fragment and its bill, as api.md 2 words them; pure.

    Raises:
        TokenBudgetExceeded: the open turn alone is larger than the tokens given.
    """
    made = job.distillation
    own = distillation_of(made) if made and not made.get("imported") else None
    parts = Parts(
        bootstrap=tuple(job.bootstrap),
        index=job.thread["index"],
        digest=job.digest,
        notes=tuple(value(Note, note) for note in sorted(job.notes, key=lambda note: note["at"], reverse=True)),
        state=working_state.render(value(WorkingState, job.state)),
        recall=tuple(RecallLine(text, memory, document) for text, memory, document in job.recall),
        summary=made["text"] if made else None,
        distillation=int(made["number"]) if made else 0,
        passages=own.passages if own else (),
        messages=tuple(message for message in opened(job.thread["id"], job.entries) if not message.rewound),
        model=job.thread["model"],
        placement=job.placement,
        distilled_at_seq=made.get("lastSeq") if made else None,
    )
    limits = Limits(
        window=job.window,
        max_tokens=job.max_tokens,
        preserve_messages=job.preserve_messages,
        preserve_tokens=job.preserve_tokens,
        trigger=job.clear_at,
    )
    context = assemble(parts, limits)
    return {
        "request": context.request,
        "tokens": context.tokens,
        "distillation": context.distillation,
        "dropped": context.dropped,
    }


def sealed_since(reader: Reader, thread_id: str, seq: int) -> list[tuple[int, bytes]]:
    """The sealed entries of a thread after `seq`."""
    rows = reader.scan_sealed(Kind.ENTRY, (thread_id,), after=(thread_id, seq) if seq else None)
    return [(int(key[-1]), data) for key, data in rows]


def opened(thread_id: str, rows: Sequence[tuple[int, bytes]], *, verbatim: bool = False) -> list[Message]:
    """Sealed entries as the messages of the main line; `verbatim` makes no incomplete pair of a call whole.

    Raises:
        Damaged: naming the entry that is not what was written.
    """
    return join((opened_entry(thread_id, seq, data) for seq, data in rows), verbatim=verbatim)


def _last_said(messages: Sequence[Message]) -> str:
    """What the person said last; tool results are not speech."""
    for message in reversed(messages):
        if message.role == "user":
            content = (
                message.content if isinstance(message.content, list) else [{"type": "text", "text": message.content}]
            )
            said = "\n".join(block["text"] for block in content if block.get("type") == "text")
            if said.strip():
                return said
    return ""
