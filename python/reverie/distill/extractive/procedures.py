"""Procedures and skills: commands that worked repeatedly, as advice for later threads."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from reverie.distill.extractive.candidate_builder import build_candidate, file_tag
from reverie.distill.extractive.commands import Purpose
from reverie.models import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.distill.extractive.commands import Run
    from reverie.distill.extractive.thread_facts import ThreadFacts
    from reverie.models import Candidate

__all__ = ["procedures", "skills", "split_command"]

_CHECKS = (Purpose.TEST, Purpose.LINT, Purpose.BUILD)
_DOING = {Purpose.TEST: "run the tests of", Purpose.LINT: "lint", Purpose.BUILD: "build"}
# "Run the tests again" and "Run the tests" are one description.
_AGAIN = re.compile(r"\s+(?:now|again|once more)$", re.IGNORECASE)
# Between two commands of one line.
_SEPARATOR = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
# Redirections and output filters say nothing about the command: "go test ./... 2>&1 | tail -5".
_FILTER = re.compile(r"\s*(?:\d?>&\d|&?\d?>>?\s*[^\s&|]+|\|\s*(?:head|tail|grep|cat|less|wc)\b.*)")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_CONTINUED = re.compile(r"\\\n\s*")
# Endings of a command that was cut in the middle.
_CUT_SHORT = ("\\", "|", "&", "(", "{", ",", "=", "<")
# Names something that existed once: "gh pr view 42", "kill 31337", "/tmp/x".
_ONE_OFF = re.compile(
    r"/\d+\b|#\d+\b|\b\d{5,}\b"  # comments, pull requests, runs by number
    r"|\b(?:pr|mr|issue|run|job|release)s? (?:[\w-]+ )?\d+\b"
    r"|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b"  # a commit
    r"|(?:^|[\s='\"])(?:/(?:Users|home|tmp|private|var)/|~/)"
    r"|<<|\$\w*(?:tmp|id)\b",
    re.IGNORECASE,
)
# Runs a single test: "pytest -k parser".
_ONE_TEST = re.compile(r"(?:^|\s)(?:-run|-k|-t|--filter|--testNamePattern|--test)[ =]|\s-c\s|::\w|\btest_\w+\.py\b")
# Plain shell teaches nothing: "ls -la", "cd src".
_PLAIN = re.compile(
    r"^(?:cd|echo|ls|cat|sed|grep|rg|find|head|tail|sleep|pwd|which|rm|cp|mv|mkdir|export|true|wc|touch|chmod"
    r"|python3? -c|for|if|while|git|\w+=)\b|^\w+="
)
# A number in a description makes it one occasion: "Show issue 12".
_ONE_CASE = re.compile(r"\d")
# Characters; a longer command is a script.
_MAX_COMMAND = 160
_MANY_WORDS = 3  # fewer are a bare program, which teaches nothing
_HABIT = 2  # times; once may be chance


def procedures(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield how the project is tested, built and linted, and which checks precede a commit."""
    for purpose in _CHECKS:
        command, used = _most_used_command([run for run in facts.runs if run.purpose is purpose and not run.failed])
        if len(used) >= _HABIT:
            when = used[-1].at or at
            # No count and no date: the next thread's would differ, and make another memory of the same habit.
            content = f"To {_DOING[purpose]} this project: `{command}`."
            yield build_candidate(MemoryType.PROCEDURE, content, when, [run.seq for run in used[-3:]], purpose.value)
    before = _before_commits(facts)
    if before:
        steps = ", then ".join(f"`{command}`" for command in before)
        yield build_candidate(
            MemoryType.PROCEDURE,
            f"Before each commit the work of this project is checked in this order: {steps}, then `git commit`.",
            facts.trace.last_at or at,
            [commit.seq for commit in facts.commits[-3:]],
            "commit",
        )


def skills(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield commands that worked more than once and are not plain shell, grouped by program and verb."""
    by: dict[str, list[Run]] = {}
    for run in facts.runs:
        first = _first(run.command)
        if run.failed or run.purpose is not Purpose.OTHER or not run.description or _ONE_CASE.search(run.description):
            continue
        words = first.split()
        if len(words) >= _MANY_WORDS and _is_reusable(first):
            by.setdefault(" ".join(words[:3]), []).append(run)
    for used in sorted(by.values(), key=lambda runs: (-len(runs), runs[0].seq)):
        if len(used) >= _HABIT:
            last = used[-1]
            command = _first(last.command)
            purpose = last.description[0].lower() + _AGAIN.sub("", last.description[1:].rstrip("."))
            content = f"To {purpose}: `{command}`."
            seqs = [run.seq for run in used[-3:]]
            yield build_candidate(MemoryType.SKILL, content, last.at or at, seqs, file_tag(command.split()[0]))


def split_command(command: str) -> list[str]:
    """Split a shell line into its commands, without redirections and output filters; quoted text stays intact."""
    line = _CONTINUED.sub(" ", command.strip())
    masked = _QUOTED.sub(lambda found: "q" * len(found.group()), line)
    found, start = [], 0
    for end, following in [*((match.start(), match.end()) for match in _SEPARATOR.finditer(masked)), (len(line), 0)]:
        found.append(_without_filters(line[start:end], masked[start:end]))
        start = following
    return [part for part in found if part]


def _without_filters(command: str, masked: str) -> str:
    kept, start = [], 0
    for match in _FILTER.finditer(masked):
        kept.append(command[start : match.start()])
        start = match.end()
    return "".join([*kept, command[start:]]).strip()


def _first(command: str) -> str:
    """Return the first command of a shell line, or the empty string."""
    return next(iter(split_command(command)), "")


def _is_reusable(command: str) -> bool:
    """True if a command is complete, more than plain shell, and names nothing specific to one occasion."""
    return (
        len(command) <= _MAX_COMMAND
        and not _PLAIN.match(command)
        and not _ONE_OFF.search(command)
        and not command.endswith(_CUT_SHORT)
        and _is_balanced(command)
    )


def _is_balanced(command: str) -> bool:
    """True if all quotes and brackets in a command are balanced."""
    bare = _QUOTED.sub("", command)
    if "'" in bare or '"' in bare or bare.count("`") % 2:
        return False
    return all(bare.count(opening) == bare.count(closing) for opening, closing in ("()", "{}", "[]"))


def _most_used_command(found: Sequence[Run]) -> tuple[str, list[Run]]:
    """Return the most frequent command of some runs (the latest of equals) with its runs."""
    by: dict[str, list[Run]] = {}
    for run in found:
        for command in split_command(run.command):
            if _is_reusable(command) and not _ONE_TEST.search(command):
                by.setdefault(command, []).append(run)
    return max(by.items(), key=lambda pair: (len(pair[1]), pair[1][-1].seq, pair[0]), default=("", []))


def _before_commits(facts: ThreadFacts) -> list[str]:
    """Return the checks, in order, that preceded at least half of the commits (and at least two)."""
    orders: Counter[tuple[str, ...]] = Counter()
    recent: list[str] = []
    for run in facts.runs:
        if run.failed:
            continue
        if run.purpose is Purpose.COMMIT:
            orders[tuple(dict.fromkeys(recent))] += 1
            recent = []
        elif run.purpose in _CHECKS:
            recent.append(_most_used_command([run])[0])
    order, count = max(orders.items(), key=lambda pair: (pair[1], len(pair[0]), pair[0]), default=((), 0))
    return [command for command in order if command] if count >= _HABIT and 2 * count >= orders.total() else []
