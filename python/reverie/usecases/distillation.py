"""Distils a thread: older messages become a summary and passages, kept in an archive; memories are drawn from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from reverie import tokens
from reverie.errors import Conflict
from reverie.store import Kind, Write
from reverie.usecases import consolidation, states, threads
from reverie.usecases.consolidation import MemoryPlan, Shelf
from reverie.usecases.ledger import spent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.store import Reader, Writer

__all__ = ["Bounds", "DistillJob", "DistillPlan", "commit", "last_own", "snapshot"]


class Bounds(msgspec.Struct):
    """How much is kept and how much may be read; all in tokens but the first."""

    preserve_messages: int = 10
    preserve_tokens: int = 12_000
    token_budget: int = 2_000_000


class DistillJob(msgspec.Struct):
    """A snapshot of everything that deciding needs."""

    space: str
    thread: dict[str, Any]
    entries: list[tuple[int, bytes]]  # sealed, from the last distillation's end on
    previous: dict[str, Any] | None
    kept: dict[str, Any]  # the working state, `{}` where none is kept
    kept_version: int | None  # the operation that kept it
    digest: str
    bounds: Bounds
    window: int
    shelf: Shelf
    at: str
    random: bytes
    literals: list[str] = []


class DistillPlan(msgspec.Struct):
    """What a distillation will write, named after the snapshot that it was made from.

    `tokens_seen` are the tokens that the whole thread had then.
    """

    thread: str
    number: int
    last_seq: int
    through_seq: int
    distillation: dict[str, Any]
    state: dict[str, Any]
    state_from: int
    state_version: int | None
    digest: str
    summary_text: str
    archive: bytes
    archive_sha256: str
    source_count: int
    tail_messages: int
    tail_tokens: int
    tokens_seen: int
    tokens_before: int
    tokens_after: int
    tokens_used: int
    memories: MemoryPlan


def snapshot(
    reader: Reader,
    space: str,
    thread_id: str,
    *,
    bounds: Bounds,
    window: int,
    memory_window: int,
    literals: Sequence[str],
    at: str,
    random: bytes,
) -> DistillJob:
    """Reads what deciding needs; nothing is held open afterwards.

    Raises:
        NotFound: no such thread.
        Conflict: the thread has no message yet.
    """
    thread = threads.get(reader, thread_id)
    previous = last_own(reader, thread)
    since = previous["throughSeq"] if previous else 0
    entries = [
        (int(key[-1]), data) for key, data in reader.scan_sealed(Kind.ENTRY, (thread_id,), after=(thread_id, since))
    ]
    if not entries:
        raise Conflict(f"thread {thread_id!r} has nothing to distil yet", hint="append messages to it first")
    return DistillJob(
        space=space,
        thread=thread,
        entries=entries,
        previous=previous,
        kept=states.kept(reader, thread_id),
        kept_version=reader.version(Kind.STATE, (thread_id,)),
        digest=(reader.get(Kind.DIGEST, (thread_id,)) or {}).get("text", ""),
        bounds=bounds,
        window=window,
        shelf=consolidation.shelf(reader, window=memory_window),
        at=at,
        random=random,
        literals=list(literals),
    )


def last_own(reader: Reader, thread: dict[str, Any]) -> dict[str, Any] | None:
    """The thread's newest distillation that was made here; imported ones are only told about."""
    for _, stored in reader.scan(Kind.DISTILLATION, (thread["id"],), reverse=True):
        if not stored.get("imported"):
            return stored
    return None


def commit(
    plan: DistillPlan, *, space: str, who: str, at: str, idempotency: tuple[str, str] | None = None
) -> Write[dict[str, Any]]:
    """Writes a plan whole, or refuses it as stale.

    The body raises Conflict with `details["stale"]` when the thread was distilled, or a memory changed, since the
    snapshot: the caller takes a new one.
    """

    def body(writer: Writer) -> dict[str, Any]:
        thread = threads.get(writer, plan.thread)
        if thread["distillations"] != plan.number - 1:
            raise Conflict("the thread was distilled meanwhile", hint="try again", stale=True)
        changes = consolidation.apply(writer, plan.memories, at=at)
        stored = {
            **plan.distillation,
            "text": plan.summary_text,
            "archive": plan.archive_sha256,
            "lastSeq": plan.last_seq,
            "tokensAfter": plan.tokens_after,
            "at": at,
        }
        writer.put(Kind.DISTILLATION, (plan.thread, plan.number), stored)
        if writer.version(Kind.STATE, (plan.thread,)) != plan.state_version:
            raise Conflict("the working state was set meanwhile", hint="try again", stale=True)
        writer.put(Kind.STATE, (plan.thread,), {"state": plan.state, "seq": plan.last_seq, "from": plan.state_from})
        writer.put(Kind.DIGEST, (plan.thread,), {"text": plan.digest, "at": at})
        consolidation.keep_archive(
            writer,
            plan.archive_sha256,
            plan.archive,
            kind="thread",
            ref=f"thread:{plan.thread}",
            entries=plan.source_count,
            at=at,
        )
        spent(writer, kind="thread", ref=plan.thread, tokens=plan.tokens_used, at=at)
        writer.put(
            Kind.THREAD,
            (plan.thread,),
            {
                **thread,
                "distillations": plan.number,
                "throughSeq": plan.through_seq,
                "extractedSeq": plan.last_seq,
                "liveTokens": plan.tokens_after + max(0, thread["tokens"] - plan.tokens_seen),
                "usage": None,
                "updatedAt": at,
            },
        )
        _announce(writer, plan)
        return answer(plan, changes)

    return Write(space=space, who=who, why="thread.distill", body=body, idempotency=idempotency)


def answer(plan: DistillPlan, changes: dict[str, Any]) -> dict[str, Any]:
    """What the caller is told, as api.md 2 words it."""
    return {
        "archive": plan.archive_sha256,
        "number": plan.number,
        "summary": {"number": plan.number, "sections": plan.distillation["sections"], "text": plan.summary_text},
        "tail": {"messages": plan.tail_messages, "tokens": plan.tail_tokens},
        "tokensBefore": plan.tokens_before,
        "tokensAfter": plan.tokens_after,
        "tokensUsed": plan.tokens_used,
        "tokenizer": tokens.TOKENIZER,
        "memories": changes,
    }


def _announce(writer: Writer, plan: DistillPlan) -> None:
    writer.event(
        "memory.compacted",
        {
            "memoryRef": f"thread:{plan.thread}",
            "outputId": plan.archive_sha256,
            "sourceCount": plan.source_count,
            "byteSize": len(plan.archive),
            "trigger": "host-managed",
        },
    )
    writer.event("thread.distilled", {"threadId": plan.thread, "number": plan.number})
