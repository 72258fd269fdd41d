"""What an earlier summary says that still holds, word for word, beside what the newer stretch tells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.distill.summary import ASKED, BEGAN, DOING, FAILING, NOW, TO_DO, UNANSWERED
from reverie.models import Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.distill.extractive.thread_facts import Story
    from reverie.models import Summary

__all__ = ["carried"]

_LONGEST = 1_000  # characters of a label, uncut
_FEW = 2  # words, which may stand anywhere by chance
_FAILING = re.compile(rf"^{FAILING}(?P<purpose>tests|build|lint): ")


def carried(found: Mapping[Section, Sequence[str]], previous: Summary, story: Story) -> dict[Section, list[str]]:
    """The sections of `found` with what of `previous` is still true: nothing is told a second time in other words.

    What was open stays in front until `story` closes it. Decisions, corrections and completed work follow the new
    lines. Of the state only what nothing contradicts is left: a check that failed and did not pass since.
    """
    before = {section: list(previous.sections.get(section, ())) for section in Section}
    still_open = _still_open(before, story)
    finished = [line for line in _open(before) if line not in still_open and line.startswith(TO_DO)]
    return {
        Section.TASK_CONTEXT: _task(found[Section.TASK_CONTEXT], before[Section.TASK_CONTEXT]),
        Section.COMPLETED_WORK: [
            *found[Section.COMPLETED_WORK],
            *(f"Done: {line.removeprefix(TO_DO)}" for line in finished),
            *before[Section.COMPLETED_WORK],
        ],
        Section.DECISIONS: [*found[Section.DECISIONS], *before[Section.DECISIONS]],
        Section.CURRENT_STATE: [*found[Section.CURRENT_STATE], *_still_failing(before[Section.CURRENT_STATE], story)],
        Section.OPEN_THREADS: [*still_open, *found[Section.OPEN_THREADS]],
        Section.CORRECTIONS: [*found[Section.CORRECTIONS], *before[Section.CORRECTIONS]],
        Section.TONE: list(found[Section.TONE] or before[Section.TONE]),
    }


def _task(found: Sequence[str], before: Sequence[str]) -> list[str]:
    """The new request first, then how the thread began; what was asked in between follows, newest first."""
    if not found or not before:
        return list(found or before)
    began = next((line for line in before if line.startswith(BEGAN)), "")
    older = [line for line in before if line != began] if began else before[1:]
    return [
        found[0],
        began or f"{BEGAN}{before[0].removeprefix(NOW)}",
        *(f"{ASKED}{line.removeprefix(BEGAN)}" if line.startswith(BEGAN) else line for line in found[1:]),
        *(f"{ASKED}{line.removeprefix(NOW)}" if line.startswith(NOW) else line for line in older),
    ]


def _open(before: Mapping[Section, Sequence[str]]) -> list[str]:
    """What was in progress counts as left to do, until the agent says otherwise."""
    doing = [line for line in before[Section.CURRENT_STATE] if line.startswith(DOING)]
    return [*(f"{TO_DO}{line.removeprefix(DOING)}" for line in doing), *before[Section.OPEN_THREADS]]


def _still_open(before: Mapping[Section, Sequence[str]], story: Story) -> list[str]:
    ended = " ".join(mark.text for mark in story.outcomes).lower()
    listed = [item.label(_LONGEST) for item in story.plan]
    kept = []
    for line in _open(before):
        subject = line.removeprefix(TO_DO).rstrip("…")
        answered = line.startswith(UNANSWERED) and story.requests
        told = len(subject.split()) > _FEW and subject.lower() in ended
        settled = told or any(label.startswith(subject) for label in listed)
        if not (answered or settled or any(subject.endswith(mark) for mark in story.closed)):
            kept.append(line)
    return kept


def _still_failing(before: Sequence[str], story: Story) -> list[str]:
    """Checks that failed, where no later one of their kind was run."""
    run = {each.purpose.value for each in story.runs}
    return [line for line in before if (found := _FAILING.match(line)) is not None and found["purpose"] not in run]
