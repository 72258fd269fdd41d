"""Decide a distillation: a thread's older messages become a summary, excerpts, an archive and memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from reverie import tokenizer
from reverie.canonical_json import canonical, sha256
from reverie.context.assemble import assemble
from reverie.context.inputs import Parts
from reverie.context.units import tail_start
from reverie.distill import state_text, summary_text
from reverie.distill.distiller import Extractive
from reverie.distill.objections import objections
from reverie.errors import Conflict, ModelFailed, TokenBudgetExceeded
from reverie.importers.join import main_line, with_asides
from reverie.language_model.requests import ModelRequest, Outcome, tokens_used
from reverie.language_model.summary import answered_summary, summary_request
from reverie.models import Distillation, Entry, Message, Section, Summary, WorkingState
from reverie.redact import Redactor
from reverie.usecases import consolidation, learn, projects, provenance, screening
from reverie.usecases.consolidation import MemoryPlan
from reverie.usecases.distill import DistillJob, DistillPlan, distillation_of
from reverie.usecases.entries import entry_record, opened_entry
from reverie.usecases.learn import CommandCounts
from reverie.usecases.limits import open_turn
from reverie.usecases.memory_plan import source_of, work_on
from reverie.usecases.origins import without_recalled
from reverie.usecases.screening import MemoryWork, Worked

PASSAGE_TOKENS = 34_000  # stored excerpts: about what a context of 35,000 tokens can show at most
SUMMARY_TOKENS = 5_000  # its ceiling in a context (seed 001)
ARCHIVE_VERSION = 1
SAFE_INTEGER_MAX = 2**53 - 1  # RFC 8785 writes numbers as IEEE 754 doubles, exact up to here


def decide(job: DistillJob) -> DistillPlan | list[ModelRequest]:
    """Return the plan of a distillation; pure and deterministic.

    With a model, the requests that have no outcome in the job yet.

    The distilled part ends where a turn is complete: a turn that is still open stays in the tail, however long it is.

    Raises:
        Conflict: every message still fits into the preserved tail, or belongs to the turn that is still open.
        TokenBudgetExceeded: the budget holds neither the summary nor the newest of the messages it is made from.
        Damaged: naming the entry whose bytes fail their checksum.
    """
    entries, messages, open_from, cut = _opened(job)
    distillation, text, used = _distilled(job, messages, cut, entries[-1].seq + 1)
    asked = None
    if job.outcomes is not None:
        said = _said(entries, messages, cut)
        asked = SummaryWork.of(
            said, text, job.terms.redact.redactor(), previous=job.previous.text if job.previous else ""
        )
    unread = _memory_work(job, _said(entries, messages, len(messages)))
    worked = None if unread is None else work_on(unread)
    outcomes = job.outcomes or {}
    missing = [asked.request] if asked is not None and asked.request.id not in outcomes else []
    if missing := [*missing, *([] if worked is None else worked.requests)]:
        return missing
    distillation, text, fallback = _with_summary(job, distillation, text, asked)
    distillation = replace(distillation, state=_state(job, distillation, entries, messages))
    # The state is the one at the end. With a turn that is open, it is read again from the tail on: results that are
    # still to come belong to calls in it.
    state_seq = entries[-1].seq if open_from == len(messages) else max(job.state_seq, distillation.through_seq)
    plan = _plan(
        job,
        distillation,
        messages,
        cut=cut,
        entries=entries,
        text=text,
        tokens_used=used,
        state_seq=state_seq,
        worked=worked,
    )
    plan.fallback = fallback
    plan.by_model = job.outcomes is not None and not fallback
    plan.model_tokens = tokens_used(job.outcomes or {})
    return plan


def _opened(job: DistillJob) -> tuple[list[Entry], list[Message], int, int]:
    """Return entries, their messages, and the indices of the messages at which an open turn and the tail begin.

    Raises Conflict where nothing is old enough, and Damaged.
    """
    entries = [opened_entry(job.thread.id, seq, data) for seq, data in job.entries]
    messages = [message for message in main_line(entries) if not message.rewound]
    open_from = open_turn(entries, messages)
    if open_from == 0:
        raise Conflict(
            f"the first turn of {job.thread.id!r} after its last distillation is not complete",
            hint="append the agent's reply, or the results that it waits for, first",
        )
    cut = min(open_from, tail_start(messages, job.limits.preserve_messages, job.limits.preserve_tokens))
    if cut == 0:
        raise Conflict(
            f"all {len(messages)} messages of {job.thread.id!r} belong to the preserved tail",
            hint="there is nothing older to distill yet; append more messages first",
        )
    return entries, messages, open_from, cut


def _said(entries: Sequence[Entry], messages: Sequence[Message], cut: int) -> list[Message]:
    """Return the messages before the preserved tail, with the person's slash commands and interjections among them."""
    tail_from = messages[cut].first_seq if cut < len(messages) else entries[-1].seq + 1
    return [message for message in with_asides(messages, entries) if message.first_seq < tail_from]


def _with_summary(
    job: DistillJob, distillation: Distillation, text: str, work: SummaryWork | None
) -> tuple[Distillation, str, str]:
    """Return the distillation and its text, with the model's summary if it is usable; third, why it is not."""
    if work is None or job.outcomes is None:
        return distillation, text, ""
    outcome = job.outcomes[work.request.id]
    try:
        packed = work.summary(outcome, job.number, SUMMARY_TOKENS)
    except ModelFailed as error:
        return distillation, text, f"summary by rules ({error.reason}): {error.message}"
    answer = outcome.answer
    if answer is not None and answer.input_tokens + answer.output_tokens > job.budget:
        return distillation, text, "summary by rules (over_budget): the answer took more tokens than the budget has"
    redacted, _ = job.terms.redact.redactor().value({key.value: list(lines) for key, lines in packed.sections.items()})
    clean = replace(packed, sections={section: tuple(redacted.get(section.value, ())) for section in Section})
    return replace(distillation, summary=clean), summary_text.render(clean), ""


def _distilled(job: DistillJob, messages: list[Message], cut: int, end_seq: int) -> tuple[Distillation, str, int]:
    """Return the distillation of `messages[:cut]` with its summary's text, and the tokens read and written.

    It reads the newest of them that the budget has room for. What will be written is known only afterwards: where both
    together are over the budget, half as many are read, down to the newest one alone. So the tokens for that one are
    the least budget of the thread, whatever was asked for, and every budget from there on works.

    Raises:
        TokenBudgetExceeded: the budget is less than that.
    """
    engine = Extractive()
    previous = distillation_of(job.previous) if job.previous else None
    redactor = job.terms.redact.redactor()
    # A digest without a distillation is one that a new thread inherited from an earlier one: it is built upon.
    inherited = job.digest and previous is None
    tail_from = messages[cut].first_seq if cut < len(messages) else end_seq
    number = _readable(messages[:cut], job.budget)
    while True:
        seen = [*messages[cut - number : cut], *messages[cut:]]
        distillation = engine.distill(
            seen, number=job.number, previous=previous, tail_from_seq=tail_from, passage_tokens=PASSAGE_TOKENS
        )
        text = redactor.text(summary_text.render(distillation.summary))
        used = sum(message.tokens for message in messages[cut - number : cut]) + tokenizer.count(text)
        if used <= job.budget:
            digest = engine.digest(seen, job.digest) if inherited else distillation.digest
            return replace(distillation, digest=digest), text, used
        if number == 1:
            raise _over_budget(job.budget, used)
        number //= 2


def _state(
    job: DistillJob, distillation: Distillation, entries: Sequence[Entry], messages: Sequence[Message]
) -> WorkingState:
    """Return the working state at the end; a stored state newer than the last distillation is continued.

    What the person typed aside counts: a task is often given as a slash command.
    """
    said = with_asides(messages, entries)
    if job.state is not None and job.state_seq > job.thread.through_seq:
        newer = [message for message in said if message.last_seq > job.state_seq]
        return Extractive().working_state(newer, job.state)
    if len(said) == len(messages):
        return distillation.state
    return Extractive().working_state(said, distillation_of(job.previous).state if job.previous else None)


def _plan(
    job: DistillJob,
    distillation: Distillation,
    messages: list[Message],
    *,
    cut: int,
    entries: list[Entry],
    text: str,
    tokens_used: int,
    state_seq: int,
    worked: Worked | None,
) -> DistillPlan:
    """Return the plan that writes a distillation of `messages[:cut]`, and memories of messages not yet learnt from."""
    redactor = job.terms.redact.redactor()
    unlearnt = [message for message in messages if message.last_seq > job.thread.extracted_seq]
    facts = Extractive().facts(unlearnt)
    counts = learn.counted(job.counts, facts, redactor)
    memories, learnt_seq = _memories(job, messages, counts, redactor, worked)
    if learnt_seq != entries[-1].seq:
        facts = Extractive().facts([message for message in unlearnt if message.last_seq <= learnt_seq])
        counts = learn.counted(job.counts, facts, redactor)
    memories.doubts = provenance.marks(
        () if job.thread.subagent else objections(facts),
        job.memories.memories,
        thread=job.thread.id,
        project=projects.of_thread(job.thread),
        at=job.terms.at,
    )
    covered = [entry for entry in entries if entry.seq <= distillation.through_seq]
    archive = _archive(job, covered, text, memories, redactor)
    return DistillPlan(
        thread=job.thread.id,
        at=job.terms.at,
        number=distillation.summary.number,
        last_seq=entries[-1].seq,
        through_seq=distillation.through_seq,
        distillation=distillation,
        state_seq=state_seq,
        state_version=job.state_version,
        summary_text=text,
        archive=archive,
        source_count=len(covered),
        tail_messages=len(messages) - cut,
        tail_tokens=sum(message.tokens for message in messages[cut:]),
        tokens_seen=job.thread.tokens,
        tokens_before=sum(message.tokens for message in messages),
        tokens_after=_context_tokens(job, distillation, text, messages[cut:]),
        tokens_used=tokens_used,
        memories=memories,
        counts=counts,
        learnt_seq=learnt_seq,
        budget=job.token_budget,
    )


def _memories(
    job: DistillJob,
    messages: Sequence[Message],
    counts: CommandCounts,
    redactor: Redactor,
    worked: Worked | None,
) -> tuple[MemoryPlan, int]:
    """Return the plan of memories from messages not yet learnt from, and the last entry that is learnt from then."""
    last_seq = job.entries[-1][0]
    if job.thread.subagent:
        return consolidation.empty_plan(job.memories), last_seq
    if job.outcomes is None:
        unlearnt = without_recalled([message for message in messages if message.last_seq > job.thread.extracted_seq])
        plan = screening.decide(
            job.memories,
            Extractive().candidates(unlearnt, at=job.terms.at, uses=[*counts.others, *counts.own], unsure=True),
            redactor=redactor,
            at=job.terms.at,
            random=job.terms.random,
            thread=screening.Origin.of(job.thread),
            messages=unlearnt,
        )
        return plan, last_seq
    if worked is None:
        plan = consolidation.empty_plan(job.memories)
        plan.fallback = "nothing was learnt: messages from before the last distillation wait to be learnt from first"
        return plan, job.thread.extracted_seq
    assert worked.plan is not None
    return worked.plan, (worked.last_seq or job.thread.extracted_seq) if worked.more else last_seq


def _memory_work(job: DistillJob, messages: Sequence[Message]) -> MemoryWork | None:
    """Return a model's work on learning memories; None without one, and where earlier entries are not learnt from yet.

    Nor is there any for a subagent's thread.

    They wait where the model failed in an earlier distillation: `learn` reads from there on, in order.
    """
    if job.outcomes is None or job.thread.subagent or job.entries[0][0] > job.thread.extracted_seq + 1:
        return None
    return MemoryWork(
        messages=without_recalled([message for message in messages if message.last_seq > job.thread.extracted_seq]),
        snapshot=job.memories,
        outcomes=job.outcomes,
        redactor=job.terms.redact.redactor(),
        terms=job.terms,
        thread=screening.Origin.of(job.thread),
    )


def _context_tokens(job: DistillJob, distillation: Distillation, text: str, tail: list[Message]) -> int:
    """Return the tokens of the thread's context after the distillation, without the tiers recall and notes."""
    parts = Parts(
        digest=distillation.digest,
        state=state_text.render(distillation.state),
        summary=text,
        distillation=distillation.summary.number,
        passages=distillation.passages,
        messages=tuple(tail),
        model=job.thread.model,
        distilled_at_seq=job.entries[-1][0],
    )
    return int(assemble(parts, job.limits).tokens["total"])


def _readable(messages: list[Message], budget: int) -> int:
    """Return how many of the newest messages the budget can read, at least one.

    A part of the budget is reserved for the summary to be written: its ceiling, or a quarter of a small budget.
    Example: with a budget of 8,000, the newest messages of up to 6,000 tokens are read.
    """
    room = budget - min(SUMMARY_TOKENS, budget // 4)
    used = 0
    for number, message in enumerate(reversed(messages)):
        used += message.tokens
        if used > room:
            return max(1, number)
    return len(messages)


def _over_budget(budget: int, needed: int) -> TokenBudgetExceeded:
    return TokenBudgetExceeded(
        f"the thread cannot be distilled within {budget} tokens, read and written",
        budget=budget,
        minimum_required=needed,
        hint=f"give a token budget of {needed} or more",
    )


def _archive(job: DistillJob, covered: Sequence[Entry], text: str, memories: MemoryPlan, redactor: Redactor) -> bytes:
    """Return the archive in canonical JSON (RFC 8785).

    It is a function of the sources and the budget: no time, no random id and nothing of the machine goes into it, so
    the same messages give the same address everywhere.
    """
    source = {
        "ref": f"thread:{job.thread.id}#{covered[0].seq}-{covered[-1].seq}",
        "sha256": sha256([_canonical_numbers(entry_record(entry)) for entry in covered]),
    }
    body = {
        "version": ARCHIVE_VERSION,
        "kind": "thread",
        "sources": [source],
        "budget": job.budget,
        "tokenizer": tokenizer.TOKENIZER,
        "summary": text,
        "memories": memories.archived,
        "changes": memories.counts,
    }
    clean, _ = redactor.value(body)
    return canonical(clean)


def _canonical_numbers(json: Any) -> Any:
    """Return JSON with the integers that RFC 8785 cannot represent as texts; a transcript may hold any integer."""
    match json:
        case bool():
            return json
        case int() if abs(json) > SAFE_INTEGER_MAX:
            return str(json)
        case dict():
            return {name: _canonical_numbers(item) for name, item in json.items()}
        case list():
            return [_canonical_numbers(item) for item in json]
        case _:
            return json


# The summary by a model


class SummaryWork(NamedTuple):
    """The request for a summary, the lines by rules that it shows, numbered from 1, and the lines that stand anyway."""

    request: ModelRequest
    lines: list[tuple[Section, str]]
    structure: list[tuple[Section, str]]

    @classmethod
    def of(cls, messages: Sequence[Message], extracted: str, redactor: Redactor, *, previous: str = "") -> SummaryWork:
        """Return the request to a model for a summary of `messages`, with the lines by rules.

        `extracted` is the rendered summary by rules and `previous` the one of the distillation before, both redacted.
        """
        by_rules = summary_text.parse(extracted)
        lines = [] if by_rules is None else summary_text.offered(by_rules, summary_text.parse(previous))
        texts = [line for _, line in lines]
        structure = [] if by_rules is None else summary_text.structure(by_rules)
        request = summary_request(source_of(messages, redactor), previous=previous, extracted=texts)
        return cls(request, lines, structure)

    def summary(self, outcome: Outcome, number: int, max_tokens: int) -> Summary:
        """Return the model's summary with the structure, and the lines that it names to keep. Raises ModelFailed."""
        answered = answered_summary(outcome, number)
        kept = [line for at, line in enumerate(self.lines, 1) if at in answered.keep_lines]
        lines = [*self.structure, *kept]
        return summary_text.complete(answered.summary, lines, max_tokens)
