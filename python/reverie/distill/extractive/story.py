"""What a thread tells, gathered once: requests, decisions, corrections, findings, failures mended, files and ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.distill.extractive import commands, plan, signals
from reverie.distill.extractive.prose import clip, one_line, sentences
from reverie.distill.extractive.trace import Call, Interrupted, Said, Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.distill.extractive.commands import Commit, Purpose, Run
    from reverie.distill.extractive.plan import Item

__all__ = ["Answer", "Fix", "Mark", "Story", "tell"]

MAX_SENTENCE = 320
"""Characters of a sentence worth keeping; longer ones are lists or logs."""

_MIN_SENTENCE = 20
_EDITS = {"Edit", "Write", "MultiEdit", "NotebookEdit"}


@dataclass(frozen=True, slots=True)
class Mark:
    """One telling sentence and where it stands."""

    text: str
    seq: int
    at: str | None
    by_user: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A question that the agent put to the person, and what was chosen."""

    question: str
    answer: str
    seq: int
    at: str | None


@dataclass(frozen=True, slots=True)
class Fix:
    """A command that failed and later passed, and the files edited in between."""

    failed: Run
    passed: Run
    files: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Story:
    """Everything is oldest first."""

    trace: Trace
    requests: tuple[Said, ...]
    plan: tuple[Item, ...]
    runs: tuple[Run, ...]
    commits: tuple[Commit, ...]
    pulls: tuple[tuple[str, int], ...]
    decisions: tuple[Mark, ...]
    corrections: tuple[Mark, ...]
    preferences: tuple[Mark, ...]
    findings: tuple[Mark, ...]
    failures: tuple[Mark, ...]
    outcomes: tuple[Mark, ...]
    nexts: tuple[Mark, ...]
    answers: tuple[Answer, ...]
    fixes: tuple[Fix, ...]
    failing: tuple[Run, ...]
    edited: tuple[str, ...]
    touched: tuple[str, ...]


def tell(trace: Trace) -> Story:
    """The story of `trace`. Linear in its size."""
    runs = commands.runs(trace.calls)
    marks = _marks(trace)
    fixes, failing = _mended(runs, trace, marks["findings"])
    return Story(
        trace=trace,
        requests=tuple(step for step in trace.said("user") if not step.text.startswith("<")),
        plan=tuple(plan.items(trace.calls)),
        runs=tuple(runs),
        commits=tuple(commands.commits(trace.calls)),
        pulls=tuple(commands.pull_requests(trace.calls)),
        answers=tuple(_answers(trace.calls)),
        fixes=tuple(fixes),
        failing=tuple(failing),
        edited=_paths(trace, _EDITS),
        touched=_paths(trace, _EDITS | {"Read", "NotebookRead"}),
        **{name: tuple(found) for name, found in marks.items()},
    )


def _paths(trace: Trace, tools: set[str]) -> tuple[str, ...]:
    """Files by their last use, newest last."""
    found: dict[str, None] = {}
    for call in trace.calls:
        if call.tool in tools and call.path and not call.failed:
            path = trace.relative(call.path)
            found.pop(path, None)
            found[path] = None
    return tuple(found)


def _marks(trace: Trace) -> dict[str, list[Mark]]:
    kinds: dict[str, list[Mark]] = {
        name: []
        for name in ("decisions", "corrections", "preferences", "findings", "failures", "outcomes", "nexts")
    }
    for step in trace.steps:
        match step:
            case Said(role="user"):
                _mark_user(step, kinds)
            case Said():
                _mark_agent(step, kinds)
            case Call():
                continue
            case Interrupted():
                continue
    return kinds


def _mark_user(said: Said, kinds: dict[str, list[Mark]]) -> None:
    found = sentences(said.text)
    if len(found) > 40:  # a pasted document is not the person talking
        return
    for sentence in found:
        if len(sentence) > MAX_SENTENCE:
            continue
        mark = Mark(one_line(sentence), said.seq, said.at, by_user=True)
        if signals.is_correction(sentence):
            kinds["corrections"].append(mark)
        if signals.is_preference(sentence):
            kinds["preferences"].append(mark)
        if signals.is_decision(sentence) or sentence.lower().startswith(("let's", "lets ")):
            kinds["decisions"].append(mark)


def _mark_agent(said: Said, kinds: dict[str, list[Mark]]) -> None:
    tests = (
        ("decisions", signals.is_decision),
        ("findings", signals.is_finding),
        ("failures", signals.is_failure),
        ("outcomes", signals.is_outcome),
        ("nexts", signals.says_next),
    )
    for sentence in sentences(said.text):
        if not _MIN_SENTENCE <= len(sentence) <= MAX_SENTENCE:
            continue
        for name, test in tests:
            if test(sentence):
                kinds[name].append(Mark(one_line(sentence), said.seq, said.at))


def _answers(calls: Sequence[Call]) -> Iterator[Answer]:
    for call in calls:
        if call.tool != "AskUserQuestion" or not call.answered or call.failed:
            continue
        for question in _questions(call):
            marker = f'"{question}"="'
            start = call.result.find(marker)
            if start >= 0:
                rest = call.result[start + len(marker) :]
                yield Answer(one_line(question), clip(rest.split('"', 1)[0], 200), call.result_seq, call.at)


def _questions(call: Call) -> list[str]:
    asked = call.input.get("questions")
    return [
        one["question"]
        for one in (asked if isinstance(asked, list) else [])
        if isinstance(one, dict) and isinstance(one.get("question"), str)
    ]


def _mended(runs: Sequence[Run], trace: Trace, findings: Sequence[Mark]) -> tuple[list[Fix], list[Run]]:
    """Failures that a later run of the same purpose passed, and those that nothing passed since."""
    fixes: list[Fix] = []
    open_runs: dict[tuple[Purpose, str], Run] = {}
    for run in runs:
        key = (run.purpose, _subject(run))
        before = open_runs.get(key)
        if run.failed:
            if before is None:
                open_runs[key] = run
        elif before is not None:
            del open_runs[key]
            files = _edited_between(trace, before.seq, run.seq)
            if files:
                fixes.append(Fix(before, run, files, _why(findings, before.seq, run.seq)))
    return fixes, list(open_runs.values())


def _subject(run: Run) -> str:
    """What tells two runs of one purpose apart: for tests, builds and linters nothing, else the program."""
    if run.purpose is not commands.Purpose.OTHER:
        return ""
    words = run.command.split()
    return " ".join(words[:2])


def _edited_between(trace: Trace, after: int, before: int) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            trace.relative(call.path)
            for call in trace.calls
            if call.tool in _EDITS and after <= call.seq <= before and call.path and not call.failed
        )
    )


def _why(findings: Sequence[Mark], after: int, before: int) -> str:
    return next((mark.text for mark in findings if after <= mark.seq <= before), "")
