"""The jobs of the compute process by name: a snapshot as MessagePack bytes in, a plan as MessagePack bytes out.

A job that a model takes part in returns the requests that are still to be answered, as a list, in place of its plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from reverie.thread_safe_typed_decoding import from_msgpack
from reverie.usecases import (
    assign_older_records_and_join_projects,
    briefs,
    compute_distillation_result,
    contexts,
    dream,
    imports,
    learn_memories_from_thread,
    message_pages,
    plan_memories_of_completed_run,
    runs,
    text_replacing_client_conversation,
    thread_outline,
    unredact,
    working_state,
)
from reverie.usecases.distill import DistillJob

if TYPE_CHECKING:
    from collections.abc import Callable

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
    "compaction": _job(text_replacing_client_conversation.CompactionJob, text_replacing_client_conversation.decide),
    "messages": _job(message_pages.PageJob, message_pages.page),
    "outline": _job(thread_outline.OutlineJob, thread_outline.plan_outline),
    "distill": _job(DistillJob, compute_distillation_result.decide),
    "learn": _job(learn_memories_from_thread.LearnJob, learn_memories_from_thread.decide),
    "learn-candidates": _job(learn_memories_from_thread.LearnJob, learn_memories_from_thread.extract),
    "run": _job(runs.RunJob, plan_memories_of_completed_run.decide),
    "dream": _job(dream.DreamJob, dream.decide),
    "brief": _job(briefs.ThreadJob, briefs.plan_thread),
    "sort": _job(assign_older_records_and_join_projects.SortJob, assign_older_records_and_join_projects.decide),
}


def clear_caches() -> None:
    """Free the entries and distillations that are kept for the next context of their thread."""
    contexts.clear_caches()
