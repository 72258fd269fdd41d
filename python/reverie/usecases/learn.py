"""Learn memories from a thread without distilling it: after an import, or on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from reverie.errors import Conflict
from reverie.redact import Redactor
from reverie.store import Write
from reverie.usecases import consolidation, projects, threads
from reverie.usecases.consolidation import MemoryPlan, MemorySnapshot
from reverie.usecases.stored_entries import SealedEntry, active_messages, sealed_after

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie import wire
    from reverie.store import Reader, Writer

__all__ = ["LearnJob", "LearnPlan", "commit", "decide", "snapshot"]


class LearnJob(msgspec.Struct):
    """A snapshot: the thread's entries after `learnt_through`, the last entry learnt from, and the memories.

    `random` seeds the ids of new memories; `literals` are the configured strings to redact.
    """

    thread: str
    project: str | None
    learnt_through: int
    entries: list[SealedEntry]
    memories: MemorySnapshot
    at: str
    random: bytes
    literals: list[str] = []


class LearnPlan(msgspec.Struct):
    """The memories learnt at the time `at` from entries `since` (exclusive) to `last_seq` of `thread`."""

    thread: str
    at: str
    since: int
    last_seq: int
    memories: MemoryPlan


def snapshot(
    reader: Reader, thread_id: str, *, window: int, literals: Sequence[str], at: str, random: bytes
) -> LearnJob:
    """Read what learning needs; `window` is `consolidation.window` in tokens. Raises NotFound for an unknown thread."""
    thread = threads.get(reader, thread_id)
    return LearnJob(
        thread=thread_id,
        project=projects.of_thread(thread),
        learnt_through=thread.extracted_seq,
        entries=sealed_after(reader, thread_id, thread.extracted_seq),
        memories=consolidation.snapshot(reader, window=window),
        at=at,
        random=random,
        literals=list(literals),
    )


def decide(job: LearnJob) -> LearnPlan:
    """Return the candidates of the job's messages, consolidated with the existing memories; pure."""
    from reverie.distill.extractive import Extractive
    from reverie.usecases import consolidation_plan

    return LearnPlan(
        thread=job.thread,
        at=job.at,
        since=job.learnt_through,
        last_seq=job.entries[-1][0],
        memories=consolidation_plan.decide(
            job.memories,
            Extractive().candidates(active_messages(job.thread, job.entries), at=job.at),
            redactor=Redactor(job.literals),
            at=job.at,
            random=job.random,
            thread=consolidation_plan.Origin(job.thread, job.project),
        ),
    )


def commit(plan: LearnPlan, *, space: str, who: str) -> Write[wire.MemoryChanges]:
    """Return the write that commits the learnt memories.

    Its body raises NotFound where the thread is gone, and Conflict with `details["stale"]` where the thread was learnt
    from, or a memory changed, since the snapshot.
    """

    def body(writer: Writer) -> wire.MemoryChanges:
        thread = threads.get(writer, plan.thread)
        if thread.extracted_seq != plan.since:
            raise Conflict("the thread was learnt from meanwhile", hint="try again", stale=True)
        changes = consolidation.commit(writer, plan.memories, at=plan.at)
        writer.save(replace(thread, extracted_seq=plan.last_seq), (plan.thread,))
        return changes

    return Write(space=space, who=who, why="thread.learn", body=body)
