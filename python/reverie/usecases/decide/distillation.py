"""A thread's older messages to a summary, ranked passages, an archive and what was learnt from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reverie import tokens
from reverie.canonical import canonical, sha256
from reverie.context import Limits, Parts, assemble, open_turn_start, tail_start
from reverie.distill import summary as structured
from reverie.distill import working_state
from reverie.distill.extractive import Extractive
from reverie.errors import Conflict, TokenBudgetExceeded
from reverie.importers.messages import main_line
from reverie.models import WorkingState
from reverie.redact import Redactor
from reverie.usecases import states
from reverie.usecases.decide import consolidation
from reverie.usecases.distillation import DistillJob, DistillPlan
from reverie.usecases.records import distillation_of, distillation_record, entry_record, opened_entry, record, value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Distillation, Entry, Message
    from reverie.usecases.consolidation import MemoryPlan

__all__ = ["decide"]

PASSAGE_TOKENS = 34_000
SUMMARY_TOKENS = 5_000  # its ceiling in a context, api.md 2.1
ARCHIVE_VERSION = 1


def decide(job: DistillJob) -> DistillPlan:
    """The whole plan; pure and deterministic.

    What is replaced ends where a turn was over: one that is still open stays in the tail, however long it is.

    Raises:
        Conflict: every message still fits into the preserved tail, or belongs to the turn that is still open.
        TokenBudgetExceeded: the budget holds neither the summary nor the last of what it must be made from.
    """
    entries = [opened_entry(job.thread["id"], seq, data) for seq, data in job.entries]
    messages = [message for message in main_line(entries) if not message.rewound]
    begins = _open_turn(entries, messages)
    if begins == 0:
        raise Conflict(
            f"the first turn of what is left of {job.thread['id']!r} is not over yet",
            hint="append the agent's reply, or the results that it waits for, first",
        )
    cut = min(begins, tail_start(messages, job.bounds.preserve_messages, job.bounds.preserve_tokens))
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
    digest = engine.digest([*read, *messages[cut:]], job.digest) if job.digest and previous is None else made.digest
    made = replace(made, state=_state(job, made, messages), digest=digest)
    return _planned(job, made, messages, cut=cut, entries=entries, used=used)


def _open_turn(entries: Sequence[Entry], messages: Sequence[Message]) -> int:
    """Where the open turn begins; nobody goes on with the last turn of a transcript that broke off."""
    appended = not entries or entries[-1].id is None
    return open_turn_start(messages) if appended else len(messages)


def _state(job: DistillJob, made: Distillation, messages: Sequence[Message]) -> WorkingState:
    """The working state at the end: on top of what was kept since the last distillation, where something was."""
    since = states.read_from(job.kept, 0)
    if since <= int(job.thread["throughSeq"]):
        return made.state
    newer = [message for message in messages if message.last_seq > since]
    return Extractive().working_state(newer, value(WorkingState, job.kept["state"]))


def _planned(
    job: DistillJob, made: Distillation, messages: list[Message], *, cut: int, entries: list[Entry], used: int
) -> DistillPlan:
    redactor = Redactor(job.literals)
    text = redactor.text(structured.render(made.summary))
    fresh = [message for message in messages if message.last_seq > int(job.thread["extractedSeq"])]
    candidates = Extractive().candidates(fresh, at=job.at)
    learnt = consolidation.decide(
        job.shelf, candidates, redactor=redactor, at=job.at, random=job.random, thread=job.thread
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
        state_from=states.read_from(job.kept, made.through_seq),
        state_version=job.kept_version,
        digest=made.digest,
        summary_text=text,
        archive=archive,
        archive_sha256=sha256(archive),
        source_count=len(covered),
        tail_messages=len(messages) - cut,
        tail_tokens=tail_tokens,
        tokens_seen=int(job.thread["tokens"]),
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
