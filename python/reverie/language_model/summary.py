"""Working state and summary of a thread by a model: the requests, and what their answers say.

Both are better where a model answers, and both exist without it: where it fails or is late, what the rules extracted is
used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias

import msgspec

from reverie import tokenizer
from reverie.errors import ModelFailed
from reverie.language_model.answers import answer_schema, read_outcome
from reverie.language_model.pages import newest_page
from reverie.language_model.prompts import STATE, SUMMARY, prompt
from reverie.language_model.requests import ModelMessage, ModelRequest, Outcome, new_request
from reverie.lazy_regex import lazy_regex
from reverie.models import Section, StateSources, Summary, WorkingState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.language_model.pages import Page, SourceEntry

STATE_SOURCE_TOKENS: Final = 6_000  # of the newest messages: a working state has to be there within a second
STATE_OUTPUT_TOKENS: Final = 700
SUMMARY_SOURCE_TOKENS: Final = 70_000
SUMMARY_OUTPUT_TOKENS: Final = 7_000
LINE_CHARS_MAX: Final = 800

Lines: TypeAlias = Annotated[list[str], msgspec.Meta(max_length=100)]


class StateItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An item of a working state, and the number of the entry that it rests on; 0 for one of the state before."""

    text: str
    entry: int


Items: TypeAlias = Annotated[list[StateItem], msgspec.Meta(max_length=100)]


class StateAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A working state as a model writes it."""

    current_task: StateItem
    task_chain: Items
    completed_steps: Items
    next_steps: Items
    open_files: Items
    recent_decisions: Items
    blockers: Items


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


_LISTS: Final = ("task_chain", "completed_steps", "next_steps", "open_files", "recent_decisions", "blockers")
_OF_PERSON: Final = frozenset({"current_task", "recent_decisions"})
_WORD: Final = lazy_regex(r"\w{4,}")
_EXACT: Final = lazy_regex(
    r"[\w./:-]*[\d/_][\w./:-]*\w|\d"
)  # numbers, paths, identifiers: `src/app.ts`, `max_len`, 404

_SECTION_OF: Final = {
    Section.TASK_CONTEXT: "task_context",
    Section.COMPLETED_WORK: "completed_work",
    Section.DECISIONS: "decisions",
    Section.CURRENT_STATE: "current_state",
    Section.OPEN_THREADS: "open_threads",
    Section.CORRECTIONS: "corrections",
    Section.TONE: "tone",
}


class StateWork(NamedTuple):
    """The request for the working state after a page of entries, and what its answer is checked against."""

    request: ModelRequest
    page: Page
    so_far: str
    before: WorkingState

    @classmethod
    def of(cls, entries: Sequence[SourceEntry], before: WorkingState, so_far: str) -> StateWork:
        """Return the request for the state after `entries`, the newest are shown; `so_far` renders `before`."""
        page, _ = newest_page(entries, STATE_SOURCE_TOKENS)
        request = new_request(
            purpose="state",
            role="cheap",
            system=prompt(STATE),
            messages=[ModelMessage("user", f"The state so far:\n\n{so_far or 'none'}\n\n{_record(page.text)}")],
            schema=answer_schema(StateAnswer),
            max_output_tokens=STATE_OUTPUT_TOKENS,
            prompt_version=STATE,
        )
        return cls(request, page, so_far, before)

    def answered(self, outcome: Outcome) -> WorkingState:
        """Return the items of an answer that rest on the entry that they name, not yet cut. Raises ModelFailed.

        An item of the state before stays as it is there. Any other one has the names and numbers of what was shown, and
        half of its longer words; the task and decisions rest on words of the person. A task that does not is "".
        """
        answer = read_outcome(outcome, StateAnswer)
        task = self._rests(answer.current_task, "current_task") or ("", 0)
        lists = {
            name: [found for item in getattr(answer, name) if (found := self._rests(item, name))] for name in _LISTS
        }
        texts: dict[str, Any] = {name: tuple(text for text, _ in items) for name, items in lists.items()}
        seqs: dict[str, Any] = {name: tuple(seq for _, seq in items) for name, items in lists.items()}
        return WorkingState(current_task=task[0], **texts, sources=StateSources(current_task=task[1], **seqs))

    def _rests(self, item: StateItem, name: str) -> tuple[str, int] | None:
        """Return an item's text and entry, None where it rests on nothing that was shown."""
        text = " ".join(item.text.split())
        if item.entry == 0:
            known = getattr(self.before, name)
            return (text, 0) if text in (known if name in _LISTS else (known,)) else None
        entry = next((entry for entry in self.page.entries if entry.seq == item.entry), None)
        if entry is None or (name in _OF_PERSON and entry.speaker != "person"):
            return None
        shown = f"{self.page.text}\n{self.so_far}".casefold()
        words = set(_WORD.findall(text.casefold()))
        is_grounded = 2 * sum(word in shown for word in words) >= len(words)
        is_exact = all(name in shown for name in _EXACT.findall(text.casefold()))
        return (text, item.entry) if text and is_grounded and is_exact else None


def summary_request(entries: Sequence[SourceEntry], *, previous: str, extracted: Sequence[str]) -> ModelRequest:
    """Return the request for the summary of `entries`; the newest are shown where they are more than a request holds.

    `previous` is the text of the summary before. `extracted` are lines by rules of which the model may keep some; they
    are numbered from 1, and cover also what is not shown; where all is shown they are not, since it has their words.
    """
    page, is_whole = newest_page(entries, SUMMARY_SOURCE_TOKENS)
    parts = []
    if previous:
        parts.append(f"The summary of what came before:\n\n{previous}")
    parts.append(_record(page.text))
    if extracted and not is_whole:
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
    cut = tokenizer.truncate(_inside(text), SUMMARY_SOURCE_TOKENS)
    return f"The record:\n\n<record>\n{cut}\n</record>"


def _inside(text: str) -> str:
    """Return `text` without closing tags, so that it cannot end the element around it."""
    return text.replace("</record", "< /record").replace("</lines", "< /lines")
