"""The facts of a thread, gathered in one pass: requests, decisions, corrections, findings, fixes and files."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from reverie.distill.extractive import commands, cue_phrases, todo_list
from reverie.distill.extractive.prose import clip, one_line, sentences, unwrapped
from reverie.distill.extractive.trace import EDITS, READS, Interrupted, Step, ToolCall, Trace, Utterance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reverie.distill.extractive.commands import Commit, Purpose, Run
    from reverie.distill.extractive.todo_list import TodoItem

__all__ = [
    "AnsweredQuestion",
    "FixedFailure",
    "KeySentence",
    "ThreadFacts",
    "gather_facts",
    "proposal_in",
    "substantial_requests",
]

MAX_SENTENCE = 320
"""Characters of a sentence worth keeping; longer ones are lists or logs."""

_MIN_SENTENCE = 20
_LONG_QUESTION = 8  # words; a shorter one, such as "Shall I go on?", does not say what about
_PASTED = 40  # sentences; more are a pasted document, not the person talking
_HEADING = re.compile(r"^#{1,4} ", re.MULTILINE)  # more than one make a document too
_OF_CLIENT = ("<", "Operation stopped by hook:")
"""How texts begin that stand in the person's place and are the client's."""

_AS_IT_IS: Mapping[str, str] = MappingProxyType({})


_TESTS = (
    ("failures", cue_phrases.is_failure),
    ("outcomes", cue_phrases.is_outcome),
    ("decisions", cue_phrases.is_decision),
    ("nexts", cue_phrases.is_next_step),
    ("findings", cue_phrases.is_finding),
    ("remarks", cue_phrases.is_statement),
)
"""What a sentence of the agent tells: the first of these that fits."""

_REPORTS = {"Task", "Agent", "TaskOutput"}
_OF_REPORTS = {"outcomes": "findings", "failures": "findings", "nexts": "remarks"}
"""What a subagent reports was found by it: it is not this agent's work, nor its list of what to do."""


@dataclass(frozen=True, slots=True)
class KeySentence:
    """One informative sentence and its position in the thread."""

    text: str
    seq: int
    at: str | None
    by_user: bool = False
    place: int = 0  # among all sentences of the agent; neighbours in one message differ by one


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that the agent asked through a tool, and the person's choice."""

    question: str
    answer: str
    seq: int
    at: str | None


@dataclass(frozen=True, slots=True)
class FixedFailure:
    """A command that failed and later passed, with the files edited in between."""

    failed: Run
    passed: Run
    files: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class ThreadFacts:
    """All facts of a thread; every list is ordered oldest first."""

    trace: Trace
    requests: tuple[Utterance, ...]
    plan: tuple[TodoItem, ...]
    closed: frozenset[str]  # how the labels end of entries made before this stretch and finished in it
    runs: tuple[Run, ...]
    commits: tuple[Commit, ...]
    pulls: tuple[tuple[str, int], ...]
    decisions: tuple[KeySentence, ...]
    corrections: tuple[KeySentence, ...]
    preferences: tuple[KeySentence, ...]
    findings: tuple[KeySentence, ...]
    failures: tuple[KeySentence, ...]
    outcomes: tuple[KeySentence, ...]
    remarks: tuple[KeySentence, ...]
    nexts: tuple[KeySentence, ...]
    answers: tuple[AnsweredQuestion, ...]
    fixes: tuple[FixedFailure, ...]
    failing: tuple[Run, ...]
    edited: tuple[str, ...]
    touched: tuple[str, ...]


def gather_facts(trace: Trace, proposed: str = "") -> ThreadFacts:
    """Return the facts of `trace` in linear time; `proposed` is what an initial "yes" agrees to."""
    trace = replace(trace, steps=tuple(_link_answers(trace.steps, proposed)))
    runs = commands.command_runs(trace.calls)
    marks = _key_sentences(trace, proposed)
    fixes, failing = _match_failures(runs, trace, marks["findings"])
    return ThreadFacts(
        trace=trace,
        requests=tuple(step for step in trace.said("user") if not step.text.startswith(_OF_CLIENT)),
        plan=tuple(todo_list.todo_items(trace.calls)),
        closed=todo_list.closed_labels(trace.calls),
        runs=tuple(runs),
        commits=tuple(commands.commits(trace.calls)),
        pulls=tuple(commands.pull_requests(trace.calls)),
        answers=tuple(_answers(trace.calls)),
        fixes=tuple(fixes),
        failing=tuple(failing),
        edited=_paths(trace, EDITS),
        touched=_paths(trace, EDITS | READS),
        **{name: tuple(found) for name, found in marks.items()},
    )


def substantial_requests(requests: Iterable[Utterance]) -> list[Utterance]:
    """Return requests that ask for something, without bare approvals and one-word answers."""
    return [said for said in requests if not said.answers and not cue_phrases.is_acknowledgement(said.text)]


def _link_answers(steps: Iterable[Step], proposed: str) -> Iterator[Step]:
    """Return the steps with the person's briefest messages linked to the question or proposal they answer."""
    for step in steps:
        if isinstance(step, Utterance) and step.role == "assistant":
            proposed = proposal_in(step.text)
        if isinstance(step, Utterance) and step.role == "user" and proposed and _is_answer(step.text):
            yield replace(step, answers=proposed)
        else:
            yield step


def _is_answer(text: str) -> bool:
    return cue_phrases.is_brief(text) and not cue_phrases.is_correction(text)


def _paths(trace: Trace, tools: frozenset[str]) -> tuple[str, ...]:
    """Return the paths used by some tools, ordered by last use, newest last."""
    found: dict[str, None] = {}
    for call in trace.calls:
        if call.tool in tools and call.path and not call.failed:
            path = trace.relative(call.path)
            found.pop(path, None)
            found[path] = None
    return tuple(found)


def _key_sentences(trace: Trace, proposed: str) -> dict[str, list[KeySentence]]:
    kinds: dict[str, list[KeySentence]] = {
        name: []
        for name in ("decisions", "corrections", "preferences", "findings", "failures", "outcomes", "nexts", "remarks")
    }
    for step in trace.steps:
        match step:
            case Utterance(role="user"):
                _classify_user(step, kinds, proposed)
            case Utterance():
                _classify_agent(step, kinds)
                proposed = proposal_in(step.text)
            case ToolCall():
                told = _OF_REPORTS if step.tool in _REPORTS else _AS_IT_IS
                for text in _prose_in_call(step):
                    _classify_agent(Utterance("assistant", text, step.seq, step.at), kinds, told)
            case Interrupted():
                continue
    return kinds


def _prose_in_call(call: ToolCall) -> Iterator[str]:
    """Return prose from tool calls: plans, commit and pull request messages, reports of subagents."""
    match call.tool:
        case "ExitPlanMode":
            yield call.word("plan")
        case "Bash" if "git commit" in call.word("command") or "gh pr " in call.word("command"):
            yield from map(unwrapped, commands.message_texts(call.word("command")))
        case "TaskCreate":
            yield call.word("description")
        case tool if tool in _REPORTS and not call.failed:
            yield call.result
        case _:
            return


def proposal_in(text: str) -> str:
    """Return the proposal a "yes" to `text` accepts: its last sentence, and the one before if needed.

    Empty where nothing is asked or offered.
    """
    last = sentences(text)[-2:]
    if last and not cue_phrases.is_offer(last[-1]):
        return ""
    if last and (not cue_phrases.is_question(last[-1]) or len(last[-1].split()) >= _LONG_QUESTION):
        return one_line(last[-1])
    return one_line(" ".join(last))


def _classify_user(said: Utterance, kinds: dict[str, list[KeySentence]], proposed: str) -> None:
    found = sentences(said.text)
    if len(found) > _PASTED or len(_HEADING.findall(said.text)) > 1:
        return
    if (said.answers or cue_phrases.is_approval(said.text)) and 0 < len(proposed) <= MAX_SENTENCE:
        agreed = f"“{one_line(said.text)}” to: {proposed}"
        kinds["decisions"].append(KeySentence(agreed, said.seq, said.at, by_user=True))
        return
    for sentence in found:
        if len(sentence) > MAX_SENTENCE:
            continue
        mark = KeySentence(one_line(sentence), said.seq, said.at, by_user=True)
        if cue_phrases.is_correction(sentence):
            kinds["corrections"].append(mark)
        if cue_phrases.is_preference(sentence):
            kinds["preferences"].append(mark)
        chosen = cue_phrases.is_decision(sentence) or sentence.lower().startswith(("let's", "lets "))
        if chosen and not cue_phrases.is_uninformative(sentence):
            kinds["decisions"].append(mark)


def _classify_agent(said: Utterance, kinds: dict[str, list[KeySentence]], told: Mapping[str, str] = _AS_IT_IS) -> None:
    """Sort every informative sentence of the agent into decisions, findings, failures, outcomes and next steps."""
    place = 1 + max((found[-1].place for found in kinds.values() if found), default=0)
    for sentence in sentences(said.text):
        place += 1
        kind = _kind(sentence)
        if kind:
            kinds[told.get(kind, kind)].append(KeySentence(one_line(sentence), said.seq, said.at, place=place))


def _kind(sentence: str) -> str:
    if not _MIN_SENTENCE <= len(sentence) <= MAX_SENTENCE or sentence.endswith(":") or cue_phrases.is_intent(sentence):
        return ""
    return next((name for name, test in _TESTS if test(sentence)), "")


def _answers(calls: Sequence[ToolCall]) -> Iterator[AnsweredQuestion]:
    for call in calls:
        if call.tool != "AskUserQuestion" or not call.answered or call.failed:
            continue
        for question in _questions(call):
            marker = f'"{question}"="'
            start = call.result.find(marker)
            if start >= 0:
                rest = call.result[start + len(marker) :]
                yield AnsweredQuestion(one_line(question), clip(rest.split('"', 1)[0], 200), call.result_seq, call.at)


def _questions(call: ToolCall) -> list[str]:
    asked = call.input.get("questions")
    return [
        one["question"]
        for one in (asked if isinstance(asked, list) else [])
        if isinstance(one, dict) and isinstance(one.get("question"), str)
    ]


def _match_failures(
    runs: Sequence[Run], trace: Trace, findings: Sequence[KeySentence]
) -> tuple[list[FixedFailure], list[Run]]:
    """Split failures into those a later run of the same purpose passed, and those still failing."""
    fixes: list[FixedFailure] = []
    open_runs: dict[tuple[Purpose, str], Run] = {}
    for run in runs:
        key = (run.purpose, _run_key(run))
        before = open_runs.get(key)
        if run.failed:
            if before is None:
                open_runs[key] = run
        elif before is not None:
            del open_runs[key]
            files = _edited_between(trace, before.seq, run.seq)
            if files:
                fixes.append(FixedFailure(before, run, files, _why(findings, before.seq, run.seq)))
    return fixes, list(open_runs.values())


def _run_key(run: Run) -> str:
    """Return the key by which runs are compared: the purpose for checks, else the program."""
    if run.purpose is not commands.Purpose.OTHER:
        return ""
    words = run.command.split()
    return " ".join(words[:2])


def _edited_between(trace: Trace, after: int, before: int) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            trace.relative(call.path)
            for call in trace.calls
            if call.tool in EDITS and after <= call.seq <= before and call.path and not call.failed
        )
    )


def _why(findings: Sequence[KeySentence], after: int, before: int) -> str:
    return next((mark.text for mark in findings if after <= mark.seq <= before), "")
