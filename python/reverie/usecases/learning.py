"""Learns from a thread what should be remembered, without distilling it: after an import, or whenever it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from reverie.errors import Conflict
from reverie.store import Kind, Write
from reverie.usecases import consolidation, contexts, threads
from reverie.usecases.consolidation import MemoryPlan, Shelf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.store import Reader, Writer

__all__ = ["LearnJob", "LearnPlan", "commit", "nothing_new", "snapshot"]


class LearnJob(msgspec.Struct):
    """A thread's entries since it was last learnt from, and the memories as they stand."""

    thread: dict[str, Any]
    entries: list[tuple[int, bytes]]
    shelf: Shelf
    at: str
    random: bytes
    literals: list[str] = []


class LearnPlan(msgspec.Struct):
    """What will be remembered of `thread` up to entry `last_seq`, learnt from what came after entry `since`."""

    thread: str
    since: int
    last_seq: int
    memories: MemoryPlan


def snapshot(
    reader: Reader, thread_id: str, *, window: int, literals: Sequence[str], at: str, random: bytes
) -> LearnJob:
    """Reads what learning needs; `window` is `consolidation.window` in tokens. Raises NotFound."""
    thread = threads.get(reader, thread_id)
    return LearnJob(
        thread=thread,
        entries=contexts.sealed_since(reader, thread_id, int(thread["extractedSeq"])),
        shelf=consolidation.shelf(reader, window=window),
        at=at,
        random=random,
        literals=list(literals),
    )


def nothing_new(job: LearnJob) -> bool:
    """Whether everything in the thread was learnt from already."""
    return not job.entries


def commit(plan: LearnPlan, *, space: str, who: str, at: str) -> Write[dict[str, Any]]:
    """Writes what was learnt.

    The body raises Conflict with `details["stale"]` when the thread was learnt from, or a memory changed, since the
    snapshot.
    """

    def body(writer: Writer) -> dict[str, Any]:
        thread = threads.get(writer, plan.thread)
        if thread["extractedSeq"] != plan.since:
            raise Conflict("the thread was learnt from meanwhile", hint="try again", stale=True)
        changes = consolidation.apply(writer, plan.memories, at=at)
        writer.put(Kind.THREAD, (plan.thread,), {**thread, "extractedSeq": plan.last_seq})
        return changes

    return Write(space=space, who=who, why="thread.learn", body=body)
