"""The context of a thread: every tier of memory read in one snapshot, assembled into a request under a token budget.

Reading happens in the daemon, assembling (`decide`) in the compute process, which keeps what it opened for the next
context of the same thread.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from reverie import wire
from reverie.context import Limits, Parts, RecallLine, assemble
from reverie.context.excerpts import ExcerptCache
from reverie.distill import state_rendering as state_text
from reverie.importers.messages import main_line
from reverie.models import Message, Note, WorkingState
from reverie.store import DigestRecord, DistillationRecord, DocumentRecord, Kind, NoteRecord, open_sealed_as
from reverie.usecases import threads
from reverie.usecases.distill import distillation_of
from reverie.usecases.stored_entries import OpenedEntries, SealedEntry, sealed_after

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.store import Reader

__all__ = ["ContextJob", "Placement", "Room", "decide", "snapshot"]

Placement: TypeAlias = Literal["system", "late"]

_OPENED = OpenedEntries()  # of the compute process, which runs one job at a time


class Room(msgspec.Struct):
    """The bounds of a context, in tokens except `preserve_messages`; `clear_at` is a fraction of the window."""

    window: int
    preserve_messages: int
    preserve_tokens: int
    clear_at: float


class ContextJob(msgspec.Struct):
    """A snapshot of every tier of a thread.

    `index` is the memory index as it was when the thread was created. `distillation` is the newest one, still sealed:
    the compute process opens each only once. `recall` are memories as (text, memory id, document path), best first.
    """

    thread: str
    model: str | None
    index: str | None
    entries: list[SealedEntry]
    distillation: bytes | None
    state: WorkingState
    digest: str
    notes: list[Note]
    bootstrap: list[tuple[str, str]]
    recall: list[tuple[str, str, str]]
    room: Room
    max_tokens: int | None
    placement: Placement | None


def snapshot(
    reader: Reader,
    thread_id: str,
    *,
    state: WorkingState,
    recall: Sequence[tuple[str, str, str]],
    bootstrap: Sequence[str],
    room: Room,
    max_tokens: int | None,
    placement: Placement | None,
) -> ContextJob:
    """Read every tier of a thread; `bootstrap` are the paths of documents. Raises NotFound for an unknown thread."""
    thread = threads.get(reader, thread_id)
    newest = next((data for _, data in reader.scan_sealed(Kind.DISTILLATION, (thread_id,), reverse=True)), None)
    documents = ((path, reader.load(DocumentRecord, (path,))) for path in bootstrap)
    digest = reader.load(DigestRecord, (thread_id,))
    return ContextJob(
        thread=thread_id,
        model=thread.model,
        index=thread.index,
        entries=sealed_after(reader, thread_id, _through_seq(newest) if newest else 0),
        distillation=newest,
        state=state,
        digest="" if digest is None else digest.text,
        notes=[
            Note(id=note.id, content=note.content, category=note.category, at=note.at)
            for _, note in reader.records(NoteRecord, (thread_id,))
        ],
        bootstrap=[(path, document.content) for path, document in documents if document],
        recall=list(recall),
        room=msgspec.structs.replace(room, window=thread.context_window or room.window),
        max_tokens=max_tokens,
        placement=placement,
    )


@lru_cache(maxsize=8)  # up to a few hundred kilobytes each, in the daemon, which is long-lived
def _through_seq(sealed: bytes) -> int:
    """Return the last entry that a sealed distillation covers."""
    return open_sealed_as(DistillationRecord, sealed).through_seq


def decide(job: ContextJob) -> wire.ContextAnswer:
    """Return the request fragment and the token cost of each tier; pure.

    Raises:
        TokenBudgetExceeded: the open turn alone is larger than `max_tokens`.
        Damaged: naming the entry whose bytes fail their checksum.
    """
    distillation, excerpts = _opened_distillation(job.distillation) if job.distillation else (None, ExcerptCache())
    parts = Parts(
        bootstrap=tuple(job.bootstrap),
        index=job.index,
        digest=job.digest,
        notes=tuple(sorted(job.notes, key=lambda note: note.at, reverse=True)),
        state=state_text.render(job.state),
        recall=tuple(RecallLine(text, memory, document) for text, memory, document in job.recall),
        summary=None if distillation is None else distillation.text,
        distillation=0 if distillation is None else distillation.number,
        passages=excerpts,
        messages=_messages(job),
        model=job.model,
        placement=job.placement,
        distilled_at_seq=None if distillation is None else distillation.last_seq,
    )
    limits = Limits(
        window=job.room.window,
        max_tokens=job.max_tokens,
        preserve_messages=job.room.preserve_messages,
        preserve_tokens=job.room.preserve_tokens,
        trigger=job.room.clear_at,
    )
    context = assemble(parts, limits)
    return wire.ContextAnswer(
        request=wire.RequestFragment(**context.request),
        tokens=msgspec.convert(context.tokens, wire.ContextTokens),
        distillation=context.distillation,
        dropped=context.dropped,
    )


def _messages(job: ContextJob) -> tuple[Message, ...]:
    """Return the main line's messages behind the distillation. Raises Damaged."""
    entries = (_OPENED.open(job.thread, seq, data) for seq, data in job.entries)
    return tuple(message for message in main_line(entries) if not message.rewound)


@lru_cache(maxsize=16)
def _opened_distillation(sealed: bytes) -> tuple[DistillationRecord, ExcerptCache]:
    """Return a distillation's record and its excerpts; an imported one has no excerpts."""
    distillation = open_sealed_as(DistillationRecord, sealed)
    passages = () if distillation.imported else distillation_of(distillation).passages
    return distillation, ExcerptCache(passages)
