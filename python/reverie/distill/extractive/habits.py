"""Procedures and skills: commands that kept working here, as advice for the next time."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from reverie.distill.extractive.commands import Purpose
from reverie.distill.extractive.made import dated, made, stem
from reverie.models import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.distill.extractive.commands import Run
    from reverie.distill.extractive.story import Story
    from reverie.models import Candidate

__all__ = ["procedures", "skills"]

_CHECKS = (Purpose.TEST, Purpose.LINT, Purpose.BUILD)
_SEPARATOR = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_FILTER = re.compile(r"\s*(?:2>&1|\|\s*(?:head|tail|grep|cat)\b.*|>\s*\S+)")
_PLAIN = re.compile(
    r"^(?:cd|echo|ls|cat|sed|grep|rg|find|head|tail|sleep|pwd|which|rm|cp|mv|mkdir|export|true|wc|touch|chmod"
    r"|python3? -c|for|if|while|git|\w+=)\b|^\w+="
)
_ONE_CASE = re.compile(r"\d")
_MAX_COMMAND = 160
_MANY_WORDS = 3  # fewer are a bare program, which teaches nothing
_HABIT = 2  # times; once may be chance


def procedures(story: Story, at: str | None) -> Iterator[Candidate]:
    """How this project is tested, built and linted, and what is run before a commit."""
    for purpose in _CHECKS:
        command, used = _usual([run for run in story.runs if run.purpose is purpose and not run.failed])
        if len(used) >= _HABIT:
            when = used[-1].at or at
            content = f"To run the {purpose.value} of this project: `{command}`; it passed {len(used)} times, last"
            yield made(MemoryType.PROCEDURE, dated(content, when), when, [run.seq for run in used[-3:]], purpose.value)
    before = _before_commits(story)
    if before:
        steps = ", then ".join(f"`{command}`" for command in before)
        yield made(
            MemoryType.PROCEDURE,
            f"Before each commit the work of this project is checked in this order: {steps}, then `git commit`.",
            story.trace.last_at or at,
            [commit.seq for commit in story.commits[-3:]],
            "commit",
        )


def skills(story: Story, at: str | None) -> Iterator[Candidate]:
    """Ways of doing something that worked more than once and are not plain shell: by program and verb."""
    by: dict[str, list[Run]] = {}
    for run in story.runs:
        first = _first(run.command)
        if run.failed or run.purpose is not Purpose.OTHER or not run.description or _ONE_CASE.search(run.description):
            continue
        words = first.split()
        if len(words) >= _MANY_WORDS and not _PLAIN.match(first) and len(first) <= _MAX_COMMAND:
            by.setdefault(" ".join(words[:3]), []).append(run)
    for used in sorted(by.values(), key=lambda runs: (-len(runs), runs[0].seq)):
        if len(used) >= _HABIT:
            last = used[-1]
            command = _first(last.command)
            purpose = last.description[0].lower() + last.description[1:].rstrip(".")
            content = f"To {purpose}: `{command}` (worked {len(used)} times)"
            when = last.at or at
            yield made(
                MemoryType.SKILL, dated(content, when), when, [run.seq for run in used[-3:]], stem(command.split()[0])
            )


def _first(command: str) -> str:
    """The first of several commands, without the filters behind it."""
    return _FILTER.sub("", _SEPARATOR.split(command.strip())[0]).strip()


def _usual(found: Sequence[Run]) -> tuple[str, list[Run]]:
    """The command used most, the latest of equals, as it was typed but for folders and filters."""
    by: dict[str, list[Run]] = {}
    for run in found:
        for part in _SEPARATOR.split(run.command):
            command = _FILTER.sub("", part).strip()
            if command and not _PLAIN.match(command) and len(command) <= _MAX_COMMAND:
                by.setdefault(command, []).append(run)
    return max(by.items(), key=lambda pair: (len(pair[1]), pair[1][-1].seq, pair[0]), default=("", []))


def _before_commits(story: Story) -> list[str]:
    """The checks that preceded at least half of the commits, and more than one, in their usual order."""
    orders: Counter[tuple[str, ...]] = Counter()
    recent: list[str] = []
    for run in story.runs:
        if run.failed:
            continue
        if run.purpose is Purpose.COMMIT:
            orders[tuple(dict.fromkeys(recent))] += 1
            recent = []
        elif run.purpose in _CHECKS:
            recent.append(_usual([run])[0])
    order, count = max(orders.items(), key=lambda pair: (pair[1], len(pair[0]), pair[0]), default=((), 0))
    return [command for command in order if command] if count >= _HABIT and 2 * count >= orders.total() else []
