"""A transcript distilled, and written out as the text that an agent would wake up with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import tokens
from reverie.context import Limits, Parts, assemble, ceilings, render, tail_start
from reverie.distill import summary, working_state
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
    """What an agent would get after the transcript at `path`: every tier, within `max_tokens` as counted in o200k.

    Raises what the importers raise for a file that cannot be read, and TokenBudgetExceeded where not even the floors
    fit.
    """
    return render(context_of(list(read_entries(path, tokens=False)), max_tokens))


def context_of(read: Sequence[Entry], max_tokens: int) -> Context:
    """The context after these entries of one transcript, taken as if a distillation took place at their end.

    Raises TokenBudgetExceeded where not even the floors fit.
    """
    messages = main_line(read)
    number = len(past_summaries(read)) + 1
    limits = Limits(max_tokens=max_tokens)
    caps = ceilings(limits)
    start = tail_start(messages, limits.preserve_messages, min(caps.tail, limits.preserve_tokens))
    try:
        context = _assembled(messages, start, number, limits)
    except TokenBudgetExceeded:
        return _assembled(messages, len(messages), number, limits)
    if not _is_crowded(context, max_tokens):
        return context
    # A call that is still open leaves no room for what led to it: it is distilled like the rest.
    return _assembled(messages, len(messages), number, limits)


def _is_crowded(context: Context, max_tokens: int) -> bool:
    """Whether the tail has most of the room while passages found none."""
    lost = any(each["tier"] == "excerpts" for each in context.dropped)
    return lost and 2 * int(context.tokens["tail"]) > max_tokens


def _assembled(messages: list[Message], start: int, number: int, limits: Limits) -> Context:
    """The context where everything before `messages[start]` is distilled and the rest preserved."""
    tail = messages[start:]
    distillation = Extractive().distill(
        messages,
        number=number,
        previous=None,
        tail_from_seq=tail[0].first_seq if tail else _after(messages),
        passage_tokens=limits.max_tokens or 0,
        summary_tokens=ceilings(limits).summary,
    )
    parts = Parts(
        digest=distillation.digest,
        state=working_state.render(distillation.state),
        summary=summary.render(distillation.summary),
        distillation=number,
        passages=distillation.passages,
        messages=tuple(tail),
    )
    return assemble(parts, limits)


def knowledge_text(path: Path, max_tokens: int) -> str:
    """What is learnt from the transcript at `path`, without its tail: structured summary, then memories.

    At most `max_tokens` of o200k. Raises what the importers raise for a file that cannot be read.
    """
    read = list(read_entries(path, tokens=False))
    messages = main_line(read)
    engine = Extractive()
    memories = _memories(engine.candidates(messages), max_tokens * 2 // 5)
    distillation = engine.distill(
        messages,
        number=len(past_summaries(read)) + 1,
        previous=None,
        tail_from_seq=_after(messages),
        passage_tokens=0,
        summary_tokens=min(5_000, max_tokens - tokens.count(memories)),
    )
    return tokens.truncate(summary.render(distillation.summary) + memories, max_tokens)


def _memories(candidates: tuple[Candidate, ...], max_tokens: int) -> str:
    """The memories that fit, in their order, each as it stands in its document."""
    text = ""
    for candidate in candidates:
        longer = f"{text}\n\n{_written(candidate)}"
        if tokens.fits(longer, max_tokens):
            text = longer
    return text


def _after(messages: list[Message]) -> int:
    return messages[-1].last_seq + 1 if messages else 1


def _written(candidate: Candidate) -> str:
    """A memory as it stands in its document."""
    return f"## {candidate.title}\n{candidate.content}" if candidate.title else f"- {candidate.content}"
