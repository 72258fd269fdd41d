"""Distils a thread: older messages become a summary and passages, kept in an archive; memories are drawn from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from reverie import tokens
from reverie.canonical import canonical, sha256
from reverie.context import Limits, Parts, assemble, choose
from reverie.distill import state as working_state
from reverie.distill import summary as structured
from reverie.distill.extractive import Extractive
from reverie.engine import consolidation, threads
from reverie.engine.consolidation import MemoryPlan, Shelf
from reverie.engine.ledger import spent
from reverie.engine.records import distillation_of, distillation_record, entry_record, opened_entry, record
from reverie.errors import Conflict, TokenBudgetExceeded
from reverie.importers.reading import join
from reverie.redact import Redactor
from reverie.store import Kind, Write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Distillation, Entry, Message
    from reverie.store import Reader, Writer

__all__ = ["Bounds", "DistillJob", "DistillPlan", "commit", "decide", "snapshot"]

PASSAGE_TOKENS = 34_000
SUMMARY_TOKENS = 5_000  # its ceiling in a context, api.md 2.1
ARCHIVE_VERSION = 1


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
    bounds: Bounds
    window: int
    shelf: Shelf
    at: str
    random: bytes
    literals: list[str] = []


class DistillPlan(msgspec.Struct):
    """What a distillation will write, named after the snapshot that it was made from."""

    thread: str
    number: int
    last_seq: int
    through_seq: int
    distillation: dict[str, Any]
    state: dict[str, Any]
    digest: str
    summary_text: str
    archive: bytes
    archive_sha256: str
    source_count: int
    tail_messages: int
    tail_tokens: int
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


def decide(job: DistillJob) -> DistillPlan:
    """The whole plan; pure and deterministic.

    Raises:
        Conflict: every message still fits into the preserved tail.
        TokenBudgetExceeded: the budget holds neither the summary nor the last of what it must be made from.
    """
    entries = [opened_entry(job.thread["id"], seq, data) for seq, data in job.entries]
    messages = [message for message in join(entries) if not message.rewound]
    cut = choose(messages, job.bounds.preserve_messages, job.bounds.preserve_tokens)
    if cut == 0:
        raise Conflict(
            f"all {len(messages)} messages of {job.thread['id']!r} are still kept word for word",
            hint="there is nothing older to distil; go on with the conversation",
        )
    tail_from = messages[cut].first_seq if cut < len(messages) else entries[-1].seq + 1
    read, used = _within(messages[:cut], job.bounds.token_budget)
    engine = Extractive()
    previous = distillation_of(job.previous) if job.previous else None
    number = int(job.thread["distillations"]) + 1
    made = engine.distill(
        [*read, *messages[cut:]],
        number=number,
        previous=previous,
        tail_from_seq=tail_from,
        passage_tokens=PASSAGE_TOKENS,
    )
    return _planned(job, made, messages, cut=cut, entries=entries, used=used)


def _planned(
    job: DistillJob, made: Distillation, messages: list[Message], *, cut: int, entries: list[Entry], used: int
) -> DistillPlan:
    redactor = Redactor(job.literals)
    text = redactor.text(structured.render(made.summary))
    fresh = [message for message in messages if message.last_seq > int(job.thread["extractedSeq"])]
    candidates = Extractive().candidates(fresh, at=job.at)
    learnt = consolidation.decide(
        job.shelf, candidates, redactor=redactor, at=job.at, random=job.random, thread=job.thread["id"]
    )
    covered = [entry for entry in entries if entry.seq <= made.through_seq]
    archive = _archive(job, covered, text, learnt, redactor)
    tail_tokens = sum(message.tokens for message in messages[cut:])
    written = tokens.count(text)
    if used + written > job.bounds.token_budget:
        raise _too_little(job.bounds.token_budget, used + written)
    return DistillPlan(
        thread=job.thread["id"],
        number=made.summary.number,
        last_seq=entries[-1].seq,
        through_seq=made.through_seq,
        distillation=distillation_record(made),
        state=record(made.state),
        digest=made.digest,
        summary_text=text,
        archive=archive,
        archive_sha256=sha256(archive),
        source_count=len(covered),
        tail_messages=len(messages) - cut,
        tail_tokens=tail_tokens,
        tokens_before=sum(message.tokens for message in messages),
        tokens_after=_after(job, made, text, messages[cut:]),
        tokens_used=used + written,
        memories=learnt,
    )


def _after(job: DistillJob, made: Distillation, text: str, tail: list[Message]) -> int:
    """What the thread's context weighs from now on, every tier but recall and notes in it."""
    parts = Parts(
        digest=made.digest,
        state=working_state.render(made.state),
        summary=text,
        distillation=made.summary.number,
        passages=made.passages,
        messages=tuple(tail),
        model=job.thread["model"],
        distilled_at_seq=job.entries[-1][0],
    )
    limits = Limits(
        window=int(job.thread["contextWindow"] or job.window),
        preserve_messages=job.bounds.preserve_messages,
        preserve_tokens=job.bounds.preserve_tokens,
    )
    return int(assemble(parts, limits).tokens["total"])


def _within(messages: list[Message], budget: int) -> tuple[list[Message], int]:
    """The newest messages that the budget can read, leaving a part of it for what is written; and their tokens."""
    room = budget - min(SUMMARY_TOKENS, budget // 4)
    used = 0
    for index in range(len(messages) - 1, -1, -1):
        cost = messages[index].tokens
        if used + cost > room:
            if index == len(messages) - 1:
                raise _too_little(budget, cost + SUMMARY_TOKENS)
            return messages[index + 1 :], used
        used += cost
    return messages, used


def _too_little(budget: int, needed: int) -> TokenBudgetExceeded:
    return TokenBudgetExceeded(
        f"the thread cannot be distilled within {budget} tokens, read and written",
        budget=budget,
        minimum_required=needed,
        hint=f"give a token budget of {needed} or more",
    )


def _archive(job: DistillJob, covered: Sequence[Entry], text: str, learnt: MemoryPlan, redactor: Redactor) -> bytes:
    """The canonical bytes of what was distilled from what: no time of the run, no random id, nothing of the machine."""
    source = {
        "ref": f"thread:{job.thread['id']}#{covered[0].seq}-{covered[-1].seq}",
        "sha256": sha256([_settled(entry_record(entry)) for entry in covered]),
    }
    body = {
        "version": ARCHIVE_VERSION,
        "kind": "thread",
        "sources": [source],
        "budget": job.bounds.token_budget,
        "tokenizer": tokens.TOKENIZER,
        "summary": text,
        "memories": learnt.archived,
        "changes": learnt.counts,
    }
    clean, _ = redactor.value(body)
    return canonical(clean)


def _settled(held: Any) -> Any:
    """Numbers that RFC 8785 cannot carry, as text: a transcript may hold integers of any size."""
    match held:
        case bool():
            return held
        case int() if abs(held) > 2**53 - 1:
            return str(held)
        case dict():
            return {name: _settled(item) for name, item in held.items()}
        case list():
            return [_settled(item) for item in held]
        case _:
            return held


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
            "at": at,
        }
        writer.put(Kind.DISTILLATION, (plan.thread, plan.number), stored)
        writer.put(Kind.STATE, (plan.thread,), {"state": plan.state, "seq": plan.last_seq})
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
        consolidation.refresh_index(writer, at=at)
        spent(writer, kind="thread", ref=plan.thread, tokens=plan.tokens_used, at=at)
        since = thread["tokens"] - plan.tokens_before if thread["lastSeq"] > plan.last_seq else 0
        writer.put(
            Kind.THREAD,
            (plan.thread,),
            {
                **thread,
                "distillations": plan.number,
                "throughSeq": plan.through_seq,
                "extractedSeq": plan.last_seq,
                "liveTokens": plan.tokens_after + max(0, since),
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
