"""Learn memories from a thread without distilling it: after an import, or on request."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from reverie import wire
from reverie.doubts import Objection
from reverie.errors import Conflict
from reverie.language_model.requests import ModelRequest, Outcome, tokens_used
from reverie.models import Candidate, CommandUse
from reverie.store import Reader, ThreadRecord, Writer
from reverie.usecases import consolidation, projects, provenance, threads
from reverie.usecases.by import By, Decided, writes
from reverie.usecases.consolidation import MemoryPlan, MemorySnapshot, Terms
from reverie.usecases.entries import SealedEntry, active_messages, sealed_after, spoken_messages
from reverie.usecases.follow import Follow

if TYPE_CHECKING:
    from reverie.distill.facts import ThreadFacts
    from reverie.redact import Redactor
    from reverie.usecases.screening import Worked


class Extracted(msgspec.Struct):
    """The candidates of a thread's entries up to `last_seq`, redacted, with why each is from outside, else None."""

    last_seq: int
    candidates: list[Candidate]
    outside: list[str | None]
    counts: CommandCounts
    objections: list[Objection] = []


class LearnJob(msgspec.Struct):
    """A snapshot: the thread, its entries that were not learnt from, and the memories.

    `outcomes` are the answers of a model by the ids of their requests; None decides without one, from `extracted` where
    that is there.
    """

    thread: ThreadRecord
    entries: list[SealedEntry]
    memories: MemorySnapshot
    counts: CommandCounts
    terms: Terms
    outcomes: dict[str, Outcome] | None = None
    extracted: Extracted | None = None


class LearnPlan(msgspec.Struct):
    """The memories learnt at the time `at` from entries `since` (exclusive) to `last_seq` of `thread`.

    Where a model failed, `last_seq` is `since`: nothing is written, and the same entries are read by the next run.
    """

    thread: str
    at: str
    since: int
    last_seq: int
    memories: MemoryPlan
    counts: CommandCounts
    model_tokens: int = 0


def snapshot(reader: Reader, thread_id: str, terms: Terms, *, memories: bool = True) -> LearnJob:
    """Return a LearnJob: a thread's entries not learnt from yet, and the memories of the space.

    Without `memories` they are to be added once the candidates are known. Raises NotFound for an unknown thread.
    """
    thread = threads.get(reader, thread_id)
    return LearnJob(
        thread=thread,
        entries=sealed_after(reader, thread_id, thread.extracted_seq),
        memories=consolidation.snapshot(reader, window=terms.window)
        if memories
        else MemorySnapshot(0, [], {}, terms.window),
        counts=command_counts(reader, thread),
        terms=terms,
    )


def decide(job: LearnJob) -> LearnPlan | list[ModelRequest]:
    """Return the candidates of the job's messages, consolidated with the existing memories; pure.

    With a model, the requests that have no outcome in the job yet. Raises Damaged where an entry's bytes fail their
    checksum.
    """
    from reverie.distill.distiller import Extractive
    from reverie.distill.objections import objections
    from reverie.usecases import screening
    from reverie.usecases.origins import FoundOrigins, without_recalled

    if job.outcomes is not None and not job.thread.subagent:
        messages = without_recalled(active_messages(job.thread.id, job.entries))
        redactor = job.terms.redact.redactor()
        worked = _worked(job, job.outcomes)
        if worked.plan is None:
            return worked.requests
        # Without a page behind it, everything was read, also what no page shows, such as the client's own lines.
        last_seq = (worked.last_seq or job.thread.extracted_seq) if worked.more else job.entries[-1][0]
        facts = Extractive().facts([message for message in messages if message.last_seq <= last_seq])
        worked.plan.doubts = _doubts(job, objections(facts))
        return LearnPlan(
            thread=job.thread.id,
            at=job.terms.at,
            since=job.thread.extracted_seq,
            last_seq=last_seq,
            memories=worked.plan,
            counts=counted(job.counts, facts, redactor),
            model_tokens=tokens_used(job.outcomes),
        )
    extracted = job.extracted or extract(job)
    usable = screening.screen_readable(
        job.memories, extracted.candidates, FoundOrigins(extracted.candidates, extracted.outside), at=job.terms.at
    )
    plan = screening.decide_screened(job.memories, usable, at=job.terms.at, random=job.terms.random)
    plan.doubts = _doubts(job, extracted.objections)
    return LearnPlan(
        thread=job.thread.id,
        at=job.terms.at,
        since=job.thread.extracted_seq,
        last_seq=extracted.last_seq,
        counts=extracted.counts,
        memories=plan,
    )


def _doubts(job: LearnJob, said: Iterable[Objection]) -> list[provenance.Mark]:
    return provenance.marks(
        said, job.memories.memories, thread=job.thread.id, project=projects.of_thread(job.thread), at=job.terms.at
    )


def extract(job: LearnJob) -> Extracted:
    """Return the candidates of the job's messages, found without a model; pure. The memories are not looked at.

    What a subagent was told, another agent wrote: nothing is learnt from its thread but which commands passed.

    Raises Damaged where an entry's bytes fail their checksum.
    """
    from reverie.distill.candidates import candidates, unsure_wishes
    from reverie.distill.distiller import Extractive
    from reverie.distill.objections import objections
    from reverie.usecases.origins import Origins, without_recalled
    from reverie.usecases.screening import Origin, readable_of

    messages = without_recalled(spoken_messages(job.thread.id, job.entries))
    redactor = job.terms.redact.redactor()
    facts = Extractive().facts(messages)
    counts = counted(job.counts, facts, redactor)
    if job.thread.subagent:
        return Extracted(last_seq=job.entries[-1][0], candidates=[], outside=[], counts=counts)
    said = [
        *candidates(facts, {}, {}, job.terms.at, [*counts.others, *counts.own]),
        *unsure_wishes(facts, job.terms.at),
    ]
    origins = Origins(messages)
    readable = readable_of(said, redactor, Origin.of(job.thread))
    return Extracted(
        last_seq=job.entries[-1][0],
        candidates=readable,
        outside=[origins.outside(candidate) for candidate in readable],
        counts=counts,
        objections=list(objections(facts)),
    )


def _worked(job: LearnJob, outcomes: dict[str, Outcome]) -> Worked:
    """Return the plan of memories by the model's answers, or the requests that still have no answer."""
    from reverie.usecases.memory_plan import work_on
    from reverie.usecases.origins import without_recalled
    from reverie.usecases.screening import MemoryWork, Origin

    return work_on(
        MemoryWork(
            messages=without_recalled(spoken_messages(job.thread.id, job.entries)),
            snapshot=job.memories,
            outcomes=outcomes,
            redactor=job.terms.redact.redactor(),
            terms=job.terms,
            thread=Origin.of(job.thread),
        )
    )


@writes("thread.learn", answers=wire.MemoryChanges)
def commit(to: Writer, _: By, plan: LearnPlan) -> wire.MemoryChanges:
    """Commit the learnt memories.

    Raises NotFound where the thread is gone, and Conflict with `details["stale"]` where the thread was learnt from, or
    a memory changed, since the snapshot.
    """
    thread = threads.get(to, plan.thread)
    if thread.extracted_seq != plan.since:
        raise Conflict("the thread was learnt from meanwhile", hint="try again", stale=True)
    changes = consolidation.commit(to, plan.memories)
    after = replace(
        thread,
        extracted_seq=plan.last_seq,
        commands=plan.counts.own,
        model_tokens=(thread.model_tokens or 0) + plan.model_tokens or None,
    )
    to.save(after, (plan.thread,))
    return changes


DECIDED = Decided("learn", LearnPlan, commit, learns=True, bulk=True)


# Counts of the commands that passed, by thread: the evidence for a project's commands over all its sessions.
#
# Each thread's record has its own counts, so that they go when the thread is deleted or purged. One thread alone cannot
# say how a project is tested: most of what it runs are parts of the tests.


class CommandCounts(msgspec.Struct):
    """Commands that passed in a thread so far (`own`), and in the other threads of its project."""

    own: list[CommandUse] = []
    others: list[CommandUse] = []


class _OfThread(NamedTuple):
    """A thread's project, and the commands that passed in it."""

    thread: str
    project: str | None
    commands: tuple[CommandUse, ...]


def command_counts(reader: Reader, thread: ThreadRecord) -> CommandCounts:
    """Return the counts of a thread and of the other threads of its project, if it has one.

    Of threads that did not change since the last call the record is not opened again.
    """
    others: list[CommandUse] = []
    if thread.project is not None:
        for one in _counts.at(reader).values():
            if one.project == thread.project and one.thread != thread.id:
                others += one.commands
    return CommandCounts(own=list(thread.commands or []), others=others)


def _of_thread(_: Reader, thread: ThreadRecord) -> _OfThread | None:
    return _OfThread(thread.id, thread.project, tuple(thread.commands)) if thread.commands else None


_counts = Follow(ThreadRecord, _of_thread)


def counted(counts: CommandCounts, facts: ThreadFacts, redactor: Redactor) -> CommandCounts:
    """Return the counts increased by the commands that passed in `facts`; secrets in them are redacted."""
    from reverie.distill.procedures import command_uses, merged_uses

    new = [
        dataclasses.replace(use, command=redactor.text(use.command), description=redactor.text(use.description))
        for use in command_uses(facts)
    ]
    return CommandCounts(own=list(merged_uses(counts.own, new)), others=counts.others)
