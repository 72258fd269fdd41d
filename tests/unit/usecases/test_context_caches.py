"""Caches between the contexts of a thread are freed where the process is not the compute process."""

from __future__ import annotations

import gc

from reverie.models import Entry, EntryKind, Role, WorkingState
from reverie.redact import Redactor
from reverie.store import seal
from reverie.usecases import contexts
from reverie.usecases.contexts import ContextJob, Room
from reverie.usecases.entries import entry_record
from reverie.usecases.limits import DistillationCache


def job() -> ContextJob:
    """Return a snapshot of a thread that has to be distilled for its size."""
    said: list[tuple[Role, str]] = [
        ("user", "Paint the north gate green."),
        ("assistant", "The north gate is painted green now."),
    ] * 200
    lines = [Entry(kind=EntryKind.SPEECH, role=role, content=f"{text} {at}") for at, (role, text) in enumerate(said)]
    return ContextJob(
        thread="thr_1",
        model=None,
        index=None,
        entries=[(seq, seal(entry_record(line), Redactor()).data) for seq, line in enumerate(lines, 1)],
        distillation=None,
        distillations=0,
        is_distilled=False,
        state=WorkingState(),
        digest="",
        forgotten=[],
        notes=[],
        bootstrap=[],
        recall=[],
        room=Room(window=200_000, preserve_messages=4, preserve_tokens=400, clear_at=0.75),
        max_tokens=2_000,
        placement=None,
    )


def kept() -> int:
    """Return the number of distillation caches in memory."""
    gc.collect()
    return sum(isinstance(each, DistillationCache) for each in gc.get_objects())


def test_nothing_of_a_thread_is_kept_after_the_caches_are_cleared() -> None:
    """After clearing the caches no distillation cache of a context is left in memory."""
    contexts.clear_caches()
    before = kept()
    contexts.decide(job())
    assert kept() == before + 1
    contexts.clear_caches()
    assert kept() == before
