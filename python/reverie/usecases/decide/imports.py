"""A chunk of a transcript to entries ready to be appended: parsed, redacted and sealed."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from reverie.importers import PartialLine, plan_chunk
from reverie.models import Entry, EntryKind
from reverie.redact import Redactor
from reverie.store import Sealed, seal
from reverie.usecases import usage
from reverie.usecases.imports import ChunkJob, ChunkPlan, mark
from reverie.usecases.records import entry_record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.models import Json

__all__ = ["decide"]

PROBLEMS_MAX = 100  # named in one answer; the rest are only counted
TITLE_CHARS_MAX = 120
NAME_LETTERS = 3


def decide(job: ChunkJob) -> ChunkPlan:
    """Parses, redacts and seals the whole lines of a chunk; pure."""
    redactor = Redactor(job.literals)
    read = plan_chunk(job.data, first_line=job.first_line, final=job.final, inside=PartialLine(job.inside))
    known = set(job.seen)
    fresh: list[Entry] = []
    sealed: list[Sealed] = []
    duplicates = 0
    for entry in read.entries:
        record = entry_record(entry)
        if known and (told := _mark_clean(record, redactor)) in known:
            known.discard(told)
            duplicates += 1
            continue
        fresh.append(entry)
        sealed.append(seal(record, redactor))
    plan = ChunkPlan(
        sealed=[item.data for item in sealed],
        stood=job.stood,
        consumed=read.consumed,
        lines=job.first_line - 1 + read.lines,
        final=job.final,
        inside=read.inside.value,
        duplicates=duplicates,
        redacted=sum(item.redacted for item in sealed),
        counts=dict(Counter(entry.kind.value for entry in fresh)),
        problems=[(problem.line, problem.why) for problem in read.problems[:PROBLEMS_MAX]],
        problem_count=len(read.problems),
        messages=0,
        tokens=sum(entry.tokens for entry in fresh if entry.kind is EntryKind.SPEECH),
        sha256=hashlib.sha256(job.data[: read.consumed]).hexdigest(),
        reply=job.reply,
    )
    _tell(plan, fresh)
    return plan


def _tell(plan: ChunkPlan, fresh: list[Entry]) -> None:
    """Fills in what the entries say about their thread: messages begun, model, title, last usage, summaries."""
    live = 0
    for index, entry in enumerate(fresh):
        if entry.kind is EntryKind.SUMMARY and isinstance(entry.content, str | list):
            plan.summaries.append((index, _text(entry.content), entry.at))
        if entry.kind is not EntryKind.SPEECH:
            continue
        plan.messages += entry.reply is None or entry.reply != plan.reply
        plan.reply = entry.reply
        plan.at = entry.at or plan.at
        live += entry.tokens
        if entry.usage:
            plan.used, plan.used_live = usage.used(entry.usage), live
        message = entry.extra.get("message")
        if isinstance(message, dict) and isinstance(model := message.get("model"), str):
            plan.model = model
        if plan.project is None and isinstance(folder := entry.extra.get("cwd"), str):
            plan.project = _project(folder)
        if plan.title is None and entry.role == "user":
            plan.title = _title(entry.content)


def _project(folder: str) -> str | None:
    """The last part of a folder's path that reads as a name: a worktree may be called `2`."""
    return next(
        (part for part in reversed(PurePath(folder).parts) if sum(map(str.isalpha, part)) >= NAME_LETTERS), None
    )


def _title(content: Json) -> str | None:
    """The first words that a person said, on one line."""
    words = " ".join(_text(content).split())
    if not words:
        return None
    return words if len(words) <= TITLE_CHARS_MAX else words[: TITLE_CHARS_MAX - 1].rsplit(" ", 1)[0] + "…"


def _text(content: Json) -> str:
    """The text of message content, tool results left out."""
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in _texts(content))


def _texts(content: Iterable[Json]) -> Iterable[dict[str, str]]:
    return (block for block in content if isinstance(block, dict) and isinstance(block.get("text"), str))


def _mark_clean(record: dict[str, Any], redactor: Redactor) -> str:
    """The mark that the record will have once it is stored."""
    return mark(record) if isinstance(record.get("id"), str) else mark(redactor.value(record)[0])
