"""The structured summary of seed 001: rendering, parsing, and selection of lines under a token budget."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from reverie import token_counter
from reverie.distill.novelty import order_by_novelty
from reverie.models import Section, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "ASKED",
    "BEGAN",
    "DOING",
    "EDITED",
    "FAILING",
    "FIRM",
    "LAST",
    "NEXT",
    "NOW",
    "OF_NOW",
    "SAID",
    "TO_DO",
    "UNANSWERED",
    "USER",
    "heading",
    "pack",
    "parse",
    "render",
]

NOW: Final = "Now: "
BEGAN: Final = "The thread began with: "
ASKED: Final = "Asked before that: "
FAILING: Final = "Failing "
USER: Final = "User: "
TO_DO: Final = "To do: "
DOING: Final = "In progress: "
UNANSWERED: Final = "The user has not answered yet: "
NEXT: Final = "Next: "
SAID: Final = "The agent last said: "
LAST: Final = "Last "
EDITED: Final = "Edited last: "
OF_NOW: Final = (DOING, FAILING, SAID, LAST, EDITED)
"""How lines of the current state begin that the next summary has anew; the others are what was found out."""

FIRM: Final = (BEGAN, USER, TO_DO, DOING, FAILING, UNANSWERED, NEXT)
"""How lines begin that stay before all others: what the person decided and corrected, and what is left to do."""

_HEADING = re.compile(r"^# Conversation Summary \(Distillation #(\d+)\)\s*$", re.MULTILINE)
_SECTION = re.compile(r"^## (.+?)\s*$")


def heading(number: int) -> str:
    """Return the first line of a summary; `number` counts the thread's distillations from 1."""
    return f"# Conversation Summary (Distillation #{number})"


def render(summary: Summary) -> str:
    """Return the summary as markdown: seven sections in the order of seed 001, one bullet a line."""
    parts = [heading(summary.number)]
    for section in Section:
        lines = summary.sections.get(section, ())
        body = "\n".join(f"- {line}" for line in lines) if lines else "- None."
        parts.append(f"## {section.value}\n{body}")
    return "\n\n".join(parts)


def parse(text: str) -> Summary | None:
    """Parse the text that `render` wrote, or return None if `text` is not a summary."""
    found = _HEADING.search(text)
    if found is None:
        return None
    sections: dict[Section, tuple[str, ...]] = dict.fromkeys(Section, ())
    known = {section.value: section for section in Section}
    current: Section | None = None
    for line in text[found.end() :].split("\n"):
        head = _SECTION.match(line)
        if head is not None:
            current = known.get(head.group(1))
        elif current is not None and line.startswith("- ") and line != "- None.":
            sections[current] += (line[2:],)
    return Summary(number=int(found.group(1)), sections=sections)


def pack(number: int, lines: Mapping[Section, tuple[str, ...]], max_tokens: int) -> Summary:
    """Select the most informative lines of every section that fit in `max_tokens` when rendered.

    The first line of each section and what must not fade (`FIRM`) are taken in rounds, one of each section at a time,
    so that no section starves another; then, wherever it stands, what says most that is new. Lines stand in the order
    given; the headings always stand, whatever the budget.
    """
    budget = max_tokens - token_counter.count(render(Summary(number=number, sections={})))
    given = {section: list(dict.fromkeys(lines.get(section, ()))) for section in Section}
    costs = {section: token_counter.count_many([f"- {line}\n" for line in found]) for section, found in given.items()}
    least = 1 + min((cost for found in costs.values() for cost in found), default=0)
    kept: dict[Section, list[int]] = {section: [] for section in Section}
    for section, position in _by_worth(given):
        cost = costs[section][position] + 1
        if cost <= budget:
            kept[section].append(position)
            budget -= cost
        if budget < least:
            break
    return Summary(number, {each: tuple(given[each][at] for at in sorted(found)) for each, found in kept.items()})


def _by_worth(given: Mapping[Section, Sequence[str]]) -> Iterator[tuple[Section, int]]:
    """Yield (section, position of the line) pairs in the order in which `pack` takes lines."""
    firm = {
        section: [position for position, line in enumerate(found) if position == 0 or line.startswith(FIRM)]
        for section, found in given.items()
    }
    for turn in zip_longest(*([(section, position) for position in found] for section, found in firm.items())):
        yield from (each for each in turn if each is not None)
    rest = [
        (section, position)
        for section, found in given.items()
        for position, line in enumerate(found)
        if position and not line.startswith(FIRM)
    ]
    yield from (rest[at] for at in order_by_novelty([given[section][position] for section, position in rest]))
