"""A thread's tiers to one request fragment under a budget, and a page of its messages."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from reverie.context import Limits, Parts, RecallLine, assemble
from reverie.context.excerpts import ExcerptCache
from reverie.distill import working_state
from reverie.importers.messages import main_line
from reverie.models import Message, Note, WorkingState
from reverie.store import open_sealed
from reverie.usecases.decide.entry_cache import OpenedEntries
from reverie.usecases.records import distillation_of, opened_entry, value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.usecases.contexts import ContextJob, MessagesJob

__all__ = ["decide", "opened", "page"]

_ENTRIES = OpenedEntries()


def decide(job: ContextJob) -> dict[str, Any]:
    """The request fragment and its bill, as api.md 2 words them; pure.

    Raises:
        TokenBudgetExceeded: the open turn alone is larger than the tokens given.
    """
    made, shelf = _distillation(job.distillation) if job.distillation else ({}, ExcerptCache())
    parts = Parts(
        bootstrap=tuple(job.bootstrap),
        index=job.thread["index"],
        digest=job.digest,
        notes=tuple(value(Note, note) for note in sorted(job.notes, key=lambda note: note["at"], reverse=True)),
        state=working_state.render(value(WorkingState, job.state)),
        recall=tuple(RecallLine(text, memory, document) for text, memory, document in job.recall),
        summary=made.get("text"),
        distillation=int(made.get("number", 0)),
        passages=shelf,
        messages=_messages(job),
        model=job.thread["model"],
        placement=job.placement,
        distilled_at_seq=made.get("lastSeq"),
    )
    limits = Limits(
        window=job.room.window,
        max_tokens=job.max_tokens,
        preserve_messages=job.room.preserve_messages,
        preserve_tokens=job.room.preserve_tokens,
        trigger=job.room.clear_at,
    )
    context = assemble(parts, limits)
    return {
        "request": context.request,
        "tokens": context.tokens,
        "distillation": context.distillation,
        "dropped": context.dropped,
    }


def _messages(job: ContextJob) -> tuple[Message, ...]:
    entries = (_ENTRIES.open(job.thread["id"], seq, data) for seq, data in job.entries)
    return tuple(message for message in main_line(entries) if not message.rewound)


@lru_cache(maxsize=16)
def _distillation(sealed: bytes) -> tuple[dict[str, Any], ExcerptCache]:
    """A distillation as it is stored, and its passages; an imported one has none."""
    made = open_sealed(sealed)
    return made, ExcerptCache(() if made.get("imported") else distillation_of(made).passages)


def opened(thread_id: str, rows: Sequence[tuple[int, bytes]], *, verbatim: bool = False) -> list[Message]:
    """Sealed entries as the messages of the main line; `verbatim` makes no incomplete pair of a call whole.

    Raises:
        Damaged: naming the entry that is not what was written.
    """
    return main_line((opened_entry(thread_id, seq, data) for seq, data in rows), verbatim=verbatim)


def page(job: MessagesJob) -> dict[str, Any]:
    """One page of a thread's verbatim messages, as api.md 2 words it; pure."""
    rest = [message for message in opened(job.thread, job.entries, verbatim=True) if message.first_seq > job.after]
    items = [
        {
            "role": message.role,
            "content": message.content,
            "firstSeq": message.first_seq,
            "lastSeq": message.last_seq,
            "at": message.at,
            "tokens": message.tokens,
            "rewound": message.rewound,
        }
        for message in rest[: job.limit]
    ]
    return {"items": items, "next": str(items[-1]["firstSeq"]) if len(rest) > job.limit else None}
