"""The structured summary of seed 001: its text, and its text read back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie import tokens
from reverie.models import Section, Summary

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["heading", "pack", "parse", "render"]

_HEADING = re.compile(r"^# Conversation Summary \(Distillation #(\d+)\)\s*$", re.MULTILINE)
_SECTION = re.compile(r"^## (.+?)\s*$")


def heading(number: int) -> str:
    """The first line of every summary; `number` counts the distillations of the thread from 1."""
    return f"# Conversation Summary (Distillation #{number})"


def render(summary: Summary) -> str:
    """All seven sections in the order of seed 001, one bullet a line; a section with nothing to say says so."""
    parts = [heading(summary.number)]
    for section in Section:
        lines = summary.sections.get(section, ())
        body = "\n".join(f"- {line}" for line in lines) if lines else "- None."
        parts.append(f"## {section.value}\n{body}")
    return "\n\n".join(parts)


def parse(text: str) -> Summary | None:
    """The summary that `render` wrote, or None where `text` is no such summary."""
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
    """The most telling lines of every section that fit in `max_tokens` when rendered.

    Lines are taken in rounds, one of each section at a time, so that no section starves another; within a section
    the order given is the order of worth. The headings always stand, whatever the budget.
    """
    budget = max_tokens - tokens.count(render(Summary(number=number, sections={})))
    kept: dict[Section, list[str]] = {section: [] for section in Section}
    queues = {section: list(dict.fromkeys(lines.get(section, ()))) for section in Section}
    while any(queues.values()):
        for section, queue in queues.items():
            if not queue:
                continue
            line = queue.pop(0)
            cost = tokens.count(f"- {line}\n") + 1
            if cost <= budget:
                kept[section].append(line)
                budget -= cost
    return Summary(number=number, sections={section: tuple(found) for section, found in kept.items()})
