"""The jobs of the compute process by name: a snapshot as MessagePack bytes in, a plan as MessagePack bytes out.

A job that a model takes part in returns the requests that are still to be answered, as a list, in place of its plan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from reverie.decode import from_msgpack
from reverie.usecases import (
    briefs,
    contexts,
    distillation,
    dream,
    dream_plan,
    imports,
    learn,
    message_pages,
    project_joins,
    resume_text,
    run_memories,
    runs,
    unredact,
    working_state,
)
from reverie.usecases.distill import DistillJob

T = TypeVar("T")


def _job(kind: type[T], decide: Callable[[T], Any]) -> Callable[[bytes], bytes]:
    """Return `decide` as a function from the bytes of a snapshot of type `kind` to the bytes of its plan."""

    def run(data: bytes) -> bytes:
        return msgspec.msgpack.encode(decide(from_msgpack(data, kind)))

    return run


JOBS: dict[str, Callable[[bytes], bytes]] = {
    "import": _job(imports.ChunkJob, imports.decide),
    "unredact": _job(unredact.ReadJob, unredact.decide),
    "state": _job(working_state.StateJob, working_state.decide),
    "context": _job(contexts.ContextJob, contexts.decide),
    "context-text": _job(contexts.TextJob, contexts.decide_text),
    "compaction": _job(resume_text.CompactionJob, resume_text.decide),
    "messages": _job(message_pages.PageJob, message_pages.page),
    "outline": _job(message_pages.OutlineJob, message_pages.plan_outline),
    "distill": _job(DistillJob, distillation.decide),
    "learn": _job(learn.LearnJob, learn.decide),
    "learn-candidates": _job(learn.LearnJob, learn.extract),
    "run": _job(runs.RunJob, run_memories.decide),
    "dream": _job(dream.DreamJob, dream_plan.decide),
    "brief": _job(briefs.ThreadJob, briefs.plan_thread),
    "sort": _job(project_joins.SortJob, project_joins.decide),
}


def clear_caches() -> None:
    """Free the entries and distillations that are kept for the next context of their thread."""
    contexts.clear_caches()
