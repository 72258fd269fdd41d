"""Distill a thread: older messages become a summary, excerpts and an archive; memories are learnt from them.

The plan is decided by `distillation`, a module of its own because of its size and because only the
compute process loads the extractive distiller.
"""

from __future__ import annotations

import dataclasses
from typing import Final

import msgspec
from msgspec.structs import replace

from reverie import wire
from reverie.context.inputs import Limits
from reverie.decode import mapped
from reverie.errors import Conflict
from reverie.language_model.requests import Outcome
from reverie.models import Distillation, Json, Passage, Section, Summary, WorkingState
from reverie.store import (
    ArchiveRecord,
    DigestRecord,
    DistillationRecord,
    Kind,
    LearntRecord,
    PassageRecord,
    Reader,
    ThreadRecord,
    WorkingStateRecord,
    Writer,
)
from reverie.tokenizer import TOKENIZER
from reverie.usecases import consolidation, learn, threads, working_state
from reverie.usecases.by import By, Decided, writes
from reverie.usecases.consolidation import MemoryPlan, MemorySnapshot, Terms
from reverie.usecases.entries import SealedEntry, sealed_after
from reverie.usecases.learn import CommandCounts
from reverie.usecases.usage import record_use

TOKEN_BUDGET: Final = 2_000_000  # of a distillation for which the caller sets none


class DistillJob(msgspec.Struct):
    """A snapshot for deciding a distillation.

    `entries` are those after the last distillation made here, `previous` is its record, `number` that of the one to
    make. `state` is the stored working state, read through entry `state_seq` and written by operation `state_version`.
    `token_budget` is the caller's. `outcomes` are the answers of a model by the ids of their requests; None decides
    without one.
    """

    thread: ThreadRecord
    number: int
    entries: list[SealedEntry]
    previous: DistillationRecord | None
    state: WorkingState | None
    state_seq: int
    state_version: int | None
    digest: str
    limits: Limits
    token_budget: int | None
    memories: MemorySnapshot
    counts: CommandCounts
    terms: Terms
    outcomes: dict[str, Outcome] | None = None

    @property
    def budget(self) -> int:
        """The tokens that the distillation may read and write."""
        return TOKEN_BUDGET if self.token_budget is None else self.token_budget


class DistillPlan(msgspec.Struct):
    """Everything that a distillation at the time `at` will write.

    `last_seq` is the last entry of the snapshot, `through_seq` the last that the summary covers. `state_seq` is the
    entry that the distillation's working state is from, `state_version` the operation that wrote the stored one it was
    built on. `tokens_seen` are the tokens of the whole thread at the snapshot, `tokens_before` and `tokens_after` those
    of its context. `learnt_seq` is the last entry that memories were learnt from. `fallback` says why the summary is by
    rules, where a model was asked, `by_model` that a model wrote it.
    """

    thread: str
    at: str
    number: int
    last_seq: int
    through_seq: int
    distillation: Distillation
    state_seq: int
    state_version: int | None
    summary_text: str
    archive: bytes
    source_count: int
    tail_messages: int
    tail_tokens: int
    tokens_seen: int
    tokens_before: int
    tokens_after: int
    tokens_used: int
    memories: MemoryPlan
    counts: CommandCounts
    learnt_seq: int = 0
    fallback: str = ""
    by_model: bool = False
    model_tokens: int = 0
    budget: int | None = None  # that the caller set


def snapshot(
    reader: Reader, thread_id: str, terms: Terms, *, limits: Limits, token_budget: int | None = None
) -> DistillJob:
    """Return a DistillJob, read from the store: all that a distillation of a thread is decided from.

    `limits` say what stays as it is; their window is for a thread that names none. `token_budget` is what the
    distillation may read and write, None where the caller sets none.

    Raises:
        NotFound: no such thread.
        Conflict: the thread has no message after its last distillation.
    """
    thread = threads.get(reader, thread_id)
    previous = last_own(reader, thread_id)
    entries = sealed_after(reader, thread_id, previous.through_seq if previous else 0)
    if not entries:
        raise Conflict(f"thread {thread_id!r} has nothing to distill yet", hint="append messages to it first")
    stored_state = working_state.stored(reader, thread_id)
    digest = reader.load(DigestRecord, (thread_id,))
    return DistillJob(
        thread=thread,
        number=thread.distillations + 1,
        entries=entries,
        previous=previous,
        state=None if stored_state is None else stored_state.state,
        state_seq=working_state.read_after(stored_state, 0),
        state_version=reader.version(Kind.STATE, (thread_id,)),
        digest="" if digest is None else digest.text,
        limits=dataclasses.replace(limits, window=thread.context_window or limits.window),
        token_budget=token_budget,
        memories=consolidation.snapshot(reader, window=terms.window),
        counts=learn.command_counts(reader, thread),
        terms=terms,
    )


def last_own(reader: Reader, thread_id: str) -> DistillationRecord | None:
    """Return the thread's newest distillation made here, or None; imported summaries have no excerpts to build on."""
    for _, distillation in reader.records(DistillationRecord, (thread_id,), reverse=True):
        if not distillation.imported:
            return distillation
    return None


@writes("thread.distill", answers=wire.DistillAnswer)
def commit(to: Writer, _: By, plan: DistillPlan) -> wire.DistillAnswer:
    """Commit a distillation in one operation.

    Raises NotFound where the thread is gone, and Conflict with `details["stale"]` where the thread was distilled, its
    working state stored, or a memory changed since the snapshot.
    """
    thread = threads.get(to, plan.thread)
    if thread.distillations != plan.number - 1:
        raise Conflict("the thread was distilled meanwhile", hint="try again", stale=True)
    changes = consolidation.commit(to, plan.memories)
    archive, indexed = consolidation.save_archive(
        to,
        plan.archive,
        kind="thread",
        ref=f"thread:{plan.thread}",
        entries=plan.source_count,
        at=plan.at,
    )
    made = plan.distillation
    stored = DistillationRecord(
        number=plan.number,
        sections=_sections(made.summary),
        passages=[PassageRecord(one.text, one.seq, one.tokens, one.origin, one.place) for one in made.passages],
        state=made.state,
        digest=made.digest,
        through_seq=made.through_seq,
        text=plan.summary_text,
        archive=archive.sha256,
        last_seq=plan.last_seq,
        tokens_after=plan.tokens_after,
        at=plan.at,
        learnt=LearntRecord(thread.extracted_seq, plan.learnt_seq, thread.commands, plan.counts.own),
        by_model=plan.by_model,
    )
    to.save(stored, (plan.thread, plan.number))
    if to.version(Kind.STATE, (plan.thread,)) != plan.state_version:
        raise Conflict("the working state was set meanwhile", hint="try again", stale=True)
    state = WorkingStateRecord(state=plan.distillation.state, seq=plan.last_seq, through_seq=plan.state_seq)
    to.save(state, (plan.thread,))
    to.save(DigestRecord(text=plan.distillation.digest, at=plan.at), (plan.thread,))
    record_use(to, kind="thread", ref=plan.thread, tokens_used=plan.tokens_used, at=plan.at)
    after = replace(
        thread,
        distillations=plan.number,
        through_seq=plan.through_seq,
        extracted_seq=plan.learnt_seq,
        commands=plan.counts.own,
        model_tokens=(thread.model_tokens or 0) + plan.model_tokens or None,
        # Messages that were appended since the snapshot are part of the context beside the plan's.
        live_tokens=plan.tokens_after + max(0, thread.tokens - plan.tokens_seen),
        usage=None,
    )
    to.save(after, (plan.thread,))
    _announce(to, plan, archive, indexed=indexed)
    return mapped(
        plan,
        wire.DistillAnswer,
        archive=archive.sha256,
        summary=wire.SummaryText(number=plan.number, sections=_sections(made.summary), text=plan.summary_text),
        tail=wire.TailSize(messages=plan.tail_messages, tokens=plan.tail_tokens),
        memories=changes,
        operation=str(to.number),
        fallback=plan.fallback or None,
        tokenizer=TOKENIZER,
    )


DECIDED = Decided("distill", DistillPlan, commit, learns=True)


def _sections(summary: Summary) -> dict[str, list[str]]:
    return {section.value: list(lines) for section, lines in summary.sections.items()}


def past_answer(distillation: DistillationRecord) -> wire.PastDistillation:
    """Return a stored distillation as the API answers it; an imported one has only its text."""
    return mapped(
        distillation,
        wire.PastDistillation,
        summary=mapped(distillation, wire.SummaryText, sections=distillation.sections or {}),
    )


def distillation_of(stored: DistillationRecord) -> Distillation:
    """Return the distillation of a record that was made here (not imported); passages are stored best rank first."""
    assert stored.state is not None
    sections = stored.sections or {}
    return Distillation(
        summary=Summary(
            number=stored.number, sections={section: tuple(sections.get(section.value, ())) for section in Section}
        ),
        passages=tuple(
            Passage(
                text=passage.text,
                seq=passage.seq,
                rank=rank,
                tokens=passage.tokens,
                origin=passage.origin,
                place=passage.place,
            )
            for rank, passage in enumerate(stored.passages or ())
        ),
        state=stored.state,
        digest=stored.digest or "",
        through_seq=stored.through_seq,
    )


def _announce(writer: Writer, plan: DistillPlan, archive: ArchiveRecord, *, indexed: bool) -> None:
    """Emit the events of a distillation; that of a budgeted one says the budget, and what was used of it."""
    compacted: dict[str, Json] = {
        "memoryRef": f"thread:{plan.thread}",
        "outputId": archive.sha256,
        "sourceCount": plan.source_count,
        "byteSize": archive.size,
        "trigger": "host-managed",
    }
    if plan.budget is not None:
        used = {"tokenBudget": plan.budget, "tokensUsed": plan.tokens_used, "indexUpdated": indexed}
        compacted["distillation"] = used
    writer.event("memory.compacted", compacted)
    writer.event("thread.distilled", {"threadId": plan.thread, "number": plan.number})
