"""The structured summary of seed 001: rendering, parsing, and selection of lines by novelty under a token budget."""

from __future__ import annotations

import heapq
import re
from collections import Counter, deque
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from reverie import tokenizer
from reverie.lazy_regex import lazy_regex
from reverie.models import Section, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
DONE: Final = "Done last: "
REQUESTED: Final = "The user last asked: "
OF_END: Final = (DOING, FAILING, REQUESTED, SAID, DONE, LAST, EDITED, NOW, TO_DO, NEXT, UNANSWERED)
"""Prefixes of lines about the end of the messages; of two summaries of the same messages only one has them."""

STRUCTURE: Final = ("Files edited: ", "Committed ", "Opened ", TO_DO, DOING)
"""Prefixes of lines that were read from calls, not from sentences: they stand beside a model's summary."""

FIRM: Final = (BEGAN, USER, TO_DO, DOING, FAILING, UNANSWERED, NEXT)
"""Prefixes of lines that are dropped last: decisions and corrections of the person, and open work."""

_HEADING = lazy_regex(r"^# Conversation Summary \(Distillation #(\d+)\)\s*$", re.MULTILINE)
_SECTION = lazy_regex(r"^## (.+?)\s*$")
_AGAIN = 0.7  # worth of a word each time it was said before

_FULLNESS = ((4, 0.4), (8, 0.7), (15, 1.0))  # worth of the words on a line with fewer than these: it says half a thing
_FULL = 1.2  # and of those on any longer one

_WORD = lazy_regex(r"[a-z][a-z_]{4,}")
_ENDING = lazy_regex(r"(?:ing|ed|es|s)$")


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
    match = _HEADING.search(text)
    if match is None:
        return None
    sections: dict[Section, tuple[str, ...]] = dict.fromkeys(Section, ())
    section_of = {section.value: section for section in Section}
    current: Section | None = None
    for line in text[match.end() :].split("\n"):
        head = _SECTION.match(line)
        if head is not None:
            current = section_of.get(head.group(1))
        elif current is not None and line.startswith("- ") and line != "- None.":
            sections[current] += (line[2:],)
    return Summary(number=int(match.group(1)), sections=sections)


def pack(number: int, lines: Mapping[Section, tuple[str, ...]], max_tokens: int) -> Summary:
    """Return a Summary of the most informative lines of every section that fit in `max_tokens` when rendered.

    The first line of each section and what must not fade (`FIRM`) are taken in rounds, one of each section at a time,
    so that no section starves another; then, wherever it is, what says most that is new. Lines are in the order
    given; the headings always stand, whatever the budget.
    """
    budget = max_tokens - tokenizer.count(render(Summary(number=number, sections={})))
    given = {section: list(dict.fromkeys(lines.get(section, ()))) for section in Section}
    costs = {
        section: tokenizer.count_many([f"- {line}\n" for line in section_lines])
        for section, section_lines in given.items()
    }
    least = 1 + min((cost for section_costs in costs.values() for cost in section_costs), default=0)
    kept: dict[Section, list[int]] = {section: [] for section in Section}
    for section, position in _by_worth(given):
        cost = costs[section][position] + 1
        if cost <= budget:
            kept[section].append(position)
            budget -= cost
        if budget < least:
            break
    return Summary(number, {key: tuple(given[key][at] for at in sorted(positions)) for key, positions in kept.items()})


def structure(others: Summary) -> list[tuple[Section, str]]:
    """Return the lines of a rule-made summary on files, commits and the to-do list, with their sections."""
    return [(section, line) for section, line in _lines(others) if line.startswith(STRUCTURE)]


def offered(others: Summary, before: Summary | None = None) -> list[tuple[Section, str]]:
    """Return the lines of a rule-made summary that a model is shown, so that it names those to keep (`complete`).

    Where things stand at the end (`OF_END`) only the model says, `structure` stands beside its summary anyway, and
    lines of the summary `before` are not taken: the model has read it and carries over what holds.
    """
    lines_before = {line for _, line in _lines(before)} if before is not None else set()
    left_out = (*OF_END, *STRUCTURE)
    return [one for one in _lines(others) if one[1] not in lines_before and not one[1].startswith(left_out)]


def _lines(summary: Summary) -> list[tuple[Section, str]]:
    return [(section, line) for section in Section for line in dict.fromkeys(summary.sections.get(section, ()))]


def complete(summary: Summary, lines: Sequence[tuple[Section, str]], max_tokens: int) -> Summary:
    """Return a model's `summary` with `lines` added after its own in each section, as far as `max_tokens` hold them.

    What says most that is new comes first.
    """
    own = pack(summary.number, summary.sections, max_tokens)
    shown = [line for _, line in _lines(own)]
    given = [entry for entry in lines if entry[1] not in shown]
    texts = [line for _, line in given]
    costs = tokenizer.count_many([f"- {line}\n" for line in texts])
    room = max_tokens - tokenizer.count(render(own))
    taken: set[int] = set()
    for position in order_by_novelty(texts, shown):
        if costs[position] + 1 <= room:
            taken.add(position)
            room -= costs[position] + 1
    added = {section: tuple(given[at][1] for at in sorted(taken) if given[at][0] is section) for section in Section}
    return Summary(own.number, {section: own.sections[section] + added[section] for section in Section})


def _by_worth(given: Mapping[Section, Sequence[str]]) -> Iterator[tuple[Section, int]]:
    firm = {
        section: [position for position, line in enumerate(section_lines) if position == 0 or line.startswith(FIRM)]
        for section, section_lines in given.items()
    }
    for turn in zip_longest(*([(section, position) for position in positions] for section, positions in firm.items())):
        yield from (entry for entry in turn if entry is not None)
    rest = [
        (section, position)
        for section, section_lines in given.items()
        for position, line in enumerate(section_lines)
        if position and not line.startswith(FIRM)
    ]
    yield from (rest[at] for at in order_by_novelty([given[section][position] for section, position in rest]))


def content_words(text: str) -> tuple[str, ...]:
    """Return the distinct words of a line that carry meaning (five letters or more), without their endings."""
    return tuple(dict.fromkeys(_ENDING.sub("", word) for word in _WORD.findall(text.lower())))


def line_weight(words: int) -> float:
    """Return the weight of each word on a line of `words` words: short lines are fragments and weigh less."""
    return next((share for fewer, share in _FULLNESS if words < fewer), _FULL)


def order_by_novelty(lines: Sequence[str], shown: Sequence[str] = ()) -> Iterator[int]:
    """Yield the positions of `lines`, the line with most new words per token first; ties keep their order.

    The words of the lines `shown` are not new. Greedy and lazy: the worth of a line only shrinks, so it is weighed
    again when it comes up. Of lines with the same words, which all become worth less at once, the first is weighed.
    """
    said = Counter(word for line in shown for word in content_words(line))
    costs = tokenizer.count_many([f"- {line}\n" for line in lines])
    alike: dict[tuple[str, ...], list[int]] = {}
    for position, line in enumerate(lines):
        alike.setdefault(content_words(line), []).append(position)
    queues = {words: deque(sorted(places, key=lambda at: (costs[at], at))) for words, places in alike.items() if words}

    def entry(words: tuple[str, ...]) -> tuple[float, int, tuple[str, ...]]:
        position = queues[words][0]
        worth = line_weight(len(words)) * sum(_AGAIN ** said[word] for word in words)
        return -worth / costs[position], position, words

    heap = [entry(words) for words in queues]
    heapq.heapify(heap)
    while heap:
        now = entry(heap[0][2])
        if now > heap[0]:
            heapq.heapreplace(heap, now)
            continue
        words = now[2]
        yield queues[words].popleft()
        said.update(words)
        if queues[words]:
            heapq.heapreplace(heap, entry(words))
        else:
            heapq.heappop(heap)
    yield from alike.get((), ())
