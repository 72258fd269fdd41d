"""Working state and summary of a thread by a model: the requests, and what their answers say.

Both are better where a model answers, and both exist without it: where it fails or is late, what the rules extracted is
used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, TypeAlias

import msgspec

from reverie import count_and_truncate_tokens
from reverie.errors import ModelFailed
from reverie.language_model.read_versioned_prompt_files import STATE, SUMMARY, prompt
from reverie.language_model.requests_and_answers import ModelMessage, ModelRequest, Outcome, new_request
from reverie.language_model.strict_answer_reader import answer_schema, read_outcome
from reverie.language_model.thread_text_in_pages import newest_page
from reverie.models import Section, Summary, WorkingState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.language_model.thread_text_in_pages import SourceEntry

__all__ = ["ModelSummary", "answered_state", "answered_summary", "state_request", "summary_request"]

STATE_SOURCE_TOKENS: Final = 6_000  # of the newest messages: a working state has to be there within a second
STATE_OUTPUT_TOKENS: Final = 700
SUMMARY_SOURCE_TOKENS: Final = 70_000
SUMMARY_OUTPUT_TOKENS: Final = 7_000
LINE_CHARS_MAX: Final = 800

Lines: TypeAlias = Annotated[list[str], msgspec.Meta(max_length=100)]


class StateAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A working state as a model writes it."""

    current_task: str
    task_chain: Lines
    completed_steps: Lines
    next_steps: Lines
    open_files: Lines
    recent_decisions: Lines
    blockers: Lines


class SummaryAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The seven sections of a summary as a model writes them; numbers of lines that it was shown and wants to keep."""

    task_context: Lines
    completed_work: Lines
    decisions: Lines
    current_state: Lines
    open_threads: Lines
    corrections: Lines
    tone: Lines
    keep_lines: Annotated[list[int], msgspec.Meta(max_length=1_000)] = []


class ModelSummary(NamedTuple):
    """A summary by a model, and the numbers of the lines by rules that it wants to keep."""

    summary: Summary
    keep_lines: frozenset[int]


_SECTION_OF: Final = {
    Section.TASK_CONTEXT: "task_context",
    Section.COMPLETED_WORK: "completed_work",
    Section.DECISIONS: "decisions",
    Section.CURRENT_STATE: "current_state",
    Section.OPEN_THREADS: "open_threads",
    Section.CORRECTIONS: "corrections",
    Section.TONE: "tone",
}


def state_request(entries: Sequence[SourceEntry], state: str) -> ModelRequest:
    """Return the request for the working state after `entries`, of which the newest are shown; `state` is rendered."""
    record = newest_page(entries, STATE_SOURCE_TOKENS)[0].text
    return new_request(
        purpose="state",
        role="cheap",
        system=prompt(STATE),
        messages=[ModelMessage("user", f"The state so far:\n\n{state or 'none'}\n\n{_record(record)}")],
        schema=answer_schema(StateAnswer),
        max_output_tokens=STATE_OUTPUT_TOKENS,
        prompt_version=STATE,
    )


def answered_state(outcome: Outcome) -> WorkingState:
    """Return the working state of an answer, not yet cut to its limits. Raises ModelFailed."""
    answer = read_outcome(outcome, StateAnswer)
    return WorkingState(
        current_task=answer.current_task,
        task_chain=tuple(answer.task_chain),
        completed_steps=tuple(answer.completed_steps),
        next_steps=tuple(answer.next_steps),
        open_files=tuple(answer.open_files),
        recent_decisions=tuple(answer.recent_decisions),
        blockers=tuple(answer.blockers),
    )


def summary_request(entries: Sequence[SourceEntry], *, previous: str, extracted: Sequence[str]) -> ModelRequest:
    """Return the request for the summary of `entries`; the newest are shown where they are more than a request holds.

    `previous` is the text of the summary before. `extracted` are lines by rules of which the model may keep some; they
    are numbered from 1, and cover also what is not shown.
    """
    page, _ = newest_page(entries, SUMMARY_SOURCE_TOKENS)
    parts = []
    if previous:
        parts.append(f"The summary of what came before:\n\n{previous}")
    parts.append(_record(page.text))
    if extracted:
        lines = "\n".join(f"[{number}] {_inside(line)}" for number, line in enumerate(extracted, 1))
        parts.append(
            f"Lines that rules took from all of it, also from what is not shown:\n\n<lines>\n{lines}\n</lines>"
        )
    return new_request(
        purpose="summary",
        role="strong",
        system=prompt(SUMMARY),
        messages=[ModelMessage("user", "\n\n".join(parts))],
        schema=answer_schema(SummaryAnswer),
        max_output_tokens=SUMMARY_OUTPUT_TOKENS,
        prompt_version=SUMMARY,
        about=page.text,
    )


def answered_summary(outcome: Outcome, number: int) -> ModelSummary:
    """Return the summary of an answer, one line a bullet. Raises ModelFailed, also for one without a task."""
    answer = read_outcome(outcome, SummaryAnswer)
    sections = {
        section: tuple(line for text in getattr(answer, name) if (line := " ".join(text.split())[:LINE_CHARS_MAX]))
        for section, name in _SECTION_OF.items()
    }
    if not sections[Section.TASK_CONTEXT]:
        raise ModelFailed("The answer cannot be used: it names no task.", reason="unparseable")
    return ModelSummary(Summary(number=number, sections=sections), frozenset(answer.keep_lines))


def _record(text: str) -> str:
    """Return a text as the `<record>` element of a prompt, cut to its limit, and unable to close the element."""
    cut = count_and_truncate_tokens.truncate(_inside(text), SUMMARY_SOURCE_TOKENS)
    return f"The record:\n\n<record>\n{cut}\n</record>"


def _inside(text: str) -> str:
    """Return `text` without closing tags, so that it cannot end the element around it."""
    return text.replace("</record", "< /record").replace("</lines", "< /lines")
