"""Context text and knowledge text of a transcript, as if a distillation took place at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import tokens
from reverie.context import Limits, Parts, assemble, ceilings, render, tail_start
from reverie.distill import state_rendering, summary
from reverie.distill.extractive import Extractive
from reverie.errors import TokenBudgetExceeded
from reverie.importers.files import read_entries
from reverie.importers.messages import main_line, past_summaries

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reverie.context import Context
    from reverie.models import Candidate, Entry, Message

__all__ = ["context_of", "context_text", "knowledge_text"]


def context_text(path: Path, max_tokens: int) -> str:
    """Return the context after the transcript at `path` as text: every tier, within `max_tokens` (o200k).

    Raises what the importers raise for an unreadable file, and TokenBudgetExceeded if not even the minimum of each tier
    fits.
    """
    return render(context_of(list(read_entries(path, tokens=False)), max_tokens))


def context_of(entries: Sequence[Entry], max_tokens: int) -> Context:
    """Return the context after these entries of one transcript, as if a distillation took place at their end.

    Raises TokenBudgetExceeded if not even the minimum of each tier fits.
    """
    messages = main_line(entries)
    number = len(past_summaries(entries)) + 1
    limits = Limits(max_tokens=max_tokens)
    caps = ceilings(limits)
    start = tail_start(messages, limits.preserve_messages, min(caps.tail, limits.preserve_tokens))
    try:
        context = _context(messages, start, number, limits)
    except TokenBudgetExceeded:
        return _context(messages, len(messages), number, limits)
    if not _is_crowded(context, max_tokens):
        return context
    # An unanswered tool call in the tail leaves no room for what led to it: it is distilled like the rest.
    return _context(messages, len(messages), number, limits)


def _is_crowded(context: Context, max_tokens: int) -> bool:
    """Return True if the tail takes more than half of the budget while excerpts were dropped."""
    excerpts_dropped = any(part["tier"] == "excerpts" for part in context.dropped)
    return excerpts_dropped and 2 * int(context.tokens["tail"]) > max_tokens


def _context(messages: list[Message], start: int, number: int, limits: Limits) -> Context:
    """Return the context with the messages before `start` distilled and the others as its tail."""
    tail = messages[start:]
    distillation = Extractive().distill(
        messages,
        number=number,
        previous=None,
        tail_from_seq=tail[0].first_seq if tail else _next_seq(messages),
        passage_tokens=limits.max_tokens or 0,
        summary_tokens=ceilings(limits).summary,
    )
    parts = Parts(
        digest=distillation.digest,
        state=state_rendering.render(distillation.state),
        summary=summary.render(distillation.summary),
        distillation=number,
        passages=distillation.passages,
        messages=tuple(tail),
    )
    return assemble(parts, limits)


def knowledge_text(path: Path, max_tokens: int) -> str:
    """Return the structured summary and the memories of the transcript at `path` as text, without its tail.

    At most `max_tokens` of o200k, two fifths of them for the memories. Raises what the importers raise for an
    unreadable file.
    """
    entries = list(read_entries(path, tokens=False))
    messages = main_line(entries)
    engine = Extractive()
    memories = _memories_text(engine.candidates(messages), max_tokens * 2 // 5)
    distillation = engine.distill(
        messages,
        number=len(past_summaries(entries)) + 1,
        previous=None,
        tail_from_seq=_next_seq(messages),
        passage_tokens=0,
        summary_tokens=min(5_000, max_tokens - tokens.count(memories)),
    )
    return tokens.truncate(summary.render(distillation.summary) + memories, max_tokens)


def _memories_text(candidates: tuple[Candidate, ...], max_tokens: int) -> str:
    """Return the memories that fit, in their order, as lines of a document."""
    text = ""
    for candidate in candidates:
        longer = f"{text}\n\n{_memory_text(candidate)}"
        if tokens.fits(longer, max_tokens):
            text = longer
    return text


def _next_seq(messages: list[Message]) -> int:
    """Return the sequence number after the last message."""
    return messages[-1].last_seq + 1 if messages else 1


def _memory_text(candidate: Candidate) -> str:
    """Return a memory as its document has it: an episode as a section, anything else as a bullet."""
    return f"## {candidate.title}\n{candidate.content}" if candidate.title else f"- {candidate.content}"
