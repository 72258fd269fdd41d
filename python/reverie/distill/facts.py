"""The facts of a thread, gathered in one pass: requests, decisions, corrections, findings, fixes and files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from reverie.distill import commands as shell_commands_and_commits
from reverie.distill import cues as cue_phrases
from reverie.distill import todo as todo_list
from reverie.distill.answers import answered_questions
from reverie.distill.extractive import blocker_phrases, classify_sentences_by_working_state_cues
from reverie.distill.extractive.announced_intents import last_reply
from reverie.distill.extractive.finished_orders import actions_done
from reverie.distill.extractive.mistakes_from_corrections_and_failures import match_failures
from reverie.distill.questions import chosen_option, offered_options, open_questions
from reverie.distill.sentences import clip, one_line, sentences, unwrapped
from reverie.distill.steps import (
    EDITS,
    READS,
    Interrupted,
    Step,
    ToolCall,
    Trace,
    Utterance,
)
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reverie.distill.answers import AnsweredQuestion
    from reverie.distill.commands import Commit, Run
    from reverie.distill.extractive.mistakes_from_corrections_and_failures import FixedFailure
    from reverie.distill.todo import TodoItem

__all__ = [
    "KeySentence",
    "Pending",
    "ThreadFacts",
    "gather_facts",
    "proposal_in",
    "substantial_requests",
]

MAX_SENTENCE = 320
"""Characters of a sentence worth keeping; longer ones are lists or logs."""

# Characters; a shorter one says of nothing what it is about: "It still fails." (15) is no failure to name, "The test
# fails here." (20) is.
_MIN_SENTENCE = 20
_LONG_QUESTION = 8  # words; a shorter one, such as "Shall I go on?", does not say what about
_CHOICE_WORDS = 5  # of a choice that names what is chosen: "squash merge, not regular merge"
_REJECTS = lazy_regex(r", (?:not|don't|do not) ")  # short ones that name what is not wanted: "squash, don't rebase"
_YES = 160  # characters of an agreement that are kept beside what it agrees to
_PASTED = 40  # sentences; more are a pasted document, not the person talking
_QUOTED = lazy_regex(r"^[ \t]*>.*$", re.MULTILINE)  # what somebody else wrote
_AWAITS = lazy_regex(r"\blet me know\b", re.IGNORECASE)  # "ok" to it reports, and accepts nothing
_HEADING = lazy_regex(r"^#{1,4} ", re.MULTILINE)  # more than one make a document too
_OF_CLIENT = ("<", "Operation stopped by hook:")  # prefixes of messages that the client wrote in the role of the user

_AS_IT_IS: Mapping[str, str] = MappingProxyType({})


_TESTS = (
    ("failures", cue_phrases.is_failure),
    (
        "outcomes",
        lambda sentence: (
            cue_phrases.is_outcome(sentence) or classify_sentences_by_working_state_cues.is_finished_review(sentence)
        ),
    ),
    ("decisions", classify_sentences_by_working_state_cues.is_choice_of_agent),
    ("weighed", classify_sentences_by_working_state_cues.is_weighed_choice),
    ("nexts", cue_phrases.is_next_step),
    ("findings", cue_phrases.is_finding),
    ("remarks", cue_phrases.is_statement),
)
"""What a sentence of the agent tells: the first of these that fits."""

_KINDS = ("decisions", "corrections", "preferences", "findings", "failures", "outcomes", "nexts", "remarks", "blocks")
_WEIGHED = "weighed"
_LOOKS = READS | {"Grep", "Glob", "LS", "WebFetch", "WebSearch", "ToolSearch", "Task", "Agent"}
_LOOKING_ON = {"outcomes": "remarks"}
"""After nothing but looking at files, "Removed the test" is a line of a review, and not what the agent did."""

_REPORTS = {"Task", "Agent", "TaskOutput"}
_OF_REPORTS = dict.fromkeys(("outcomes", "failures"), "findings") | dict.fromkeys(
    ("nexts", "weighed", "decisions"), "remarks"
)
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
class Pending:
    """The open ends of a stretch of messages: the proposal that a "yes" would accept, and the agent's unfinished work.

    `proposed` is the agent's last question or offer; `weighed` are ways that it called the best and nobody decided on
    yet. `has_looked` and `has_acted` are about the time since the person spoke, `turn` is from `last_reply`.
    `in_calls` is True where the last step is a call or was stopped, `options` are those of the agent's last message.
    """

    proposed: str = ""
    weighed: tuple[KeySentence, ...] = ()
    has_looked: bool = False
    has_acted: bool = False
    turn: tuple[int, int] = (0, 0)
    in_calls: bool = False
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ThreadFacts:
    """All facts of a thread; every list is ordered oldest first."""

    trace: Trace
    requests: tuple[Utterance, ...]
    plan: tuple[TodoItem, ...]
    closed: frozenset[str]  # how the labels end of entries made before this stretch and finished in it
    runs: tuple[Run, ...]
    done: Mapping[str, int]  # actions that succeeded, each with the entry of its last call
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
    blocks: tuple[KeySentence, ...]
    steps: tuple[KeySentence, ...]  # of the last plan that was written as a numbered list
    pending: Pending
    answers: tuple[AnsweredQuestion, ...]
    fixes: tuple[FixedFailure, ...]
    failing: tuple[Run, ...]
    edited: tuple[str, ...]
    touched: tuple[str, ...]


_NOTHING = Pending()


def gather_facts(trace: Trace, before: Pending = _NOTHING) -> ThreadFacts:
    """Return the facts of `trace` in linear time; `before` is what the messages before it left open."""
    trace = replace(trace, steps=tuple(_link_answers(trace.steps, before)))
    runs = shell_commands_and_commits.command_runs(trace.calls)
    marks, pending = _key_sentences(trace, before)
    fixes, failing = match_failures(runs, trace, marks["findings"])
    return ThreadFacts(
        trace=trace,
        requests=tuple(step for step in trace.said("user") if not step.text.startswith(_OF_CLIENT)),
        plan=tuple(todo_list.todo_items(trace.calls)),
        closed=todo_list.closed_labels(trace.calls),
        runs=tuple(runs),
        done=actions_done(trace.calls),
        commits=tuple(shell_commands_and_commits.commits(trace.calls)),
        pulls=tuple(shell_commands_and_commits.pull_requests(trace.calls)),
        pending=pending,
        steps=tuple(_enumerated(trace)),
        answers=tuple(answered_questions(trace.calls)),
        fixes=tuple(fixes),
        failing=tuple(failing),
        edited=_paths(trace, EDITS),
        touched=_paths(trace, EDITS | READS),
        **{name: tuple(sentences_of_kind) for name, sentences_of_kind in marks.items()},
    )


def substantial_requests(requests: Iterable[Utterance]) -> list[Utterance]:
    """Return requests that ask for something, "push" and "/review" too; not approvals and one-word answers."""
    return [
        said
        for said in requests
        if not said.answers and not classify_sentences_by_working_state_cues.asks_for_nothing(said.text)
    ]


def _link_answers(steps: Iterable[Step], before: Pending) -> Iterator[Step]:
    """Yield the steps of a thread; brief messages of the person get the question or proposal that they answer.

    Those between two calls, or with which the person stopped the agent, are marked as asides.
    """
    proposed, in_calls = before.proposed, before.in_calls
    said: str | None = None  # by the agent last; what it proposes is looked for where the person is brief alone
    last: str | None = None  # by the agent, whatever the person said since
    for step in steps:
        if isinstance(step, Utterance) and step.role == "assistant":
            said = last = step.text
        if isinstance(step, Utterance) and step.role == "user":
            options = before.options if last is None else offered_options(last)
            if choice := chosen_option(step.text, options):
                step = replace(step, choice=choice)  # noqa: PLW2901 - as below
            if in_calls and not step.refusal:
                step = replace(step, aside=True)  # noqa: PLW2901 - the step with what is known of it
            if _is_answer(step.text):
                proposed, said = proposed if said is None else proposal_in(said), None
                step = replace(step, answers=proposed) if proposed else step  # noqa: PLW2901 - as above
        else:
            in_calls = isinstance(step, ToolCall | Interrupted)
        yield step


def _is_answer(text: str) -> bool:
    return cue_phrases.is_brief(text) and not cue_phrases.is_correction(text)


def _paths(trace: Trace, tools: frozenset[str]) -> tuple[str, ...]:
    """Return the paths used by some tools, ordered by last use, newest last."""
    paths: dict[str, None] = {}
    for call in trace.calls:
        if call.tool in tools and call.path and not call.failed:
            path = trace.relative(call.path)
            paths.pop(path, None)
            paths[path] = None
    return tuple(paths)


def _key_sentences(trace: Trace, before: Pending) -> tuple[dict[str, list[KeySentence]], Pending]:
    kinds: dict[str, list[KeySentence]] = {name: [] for name in (*_KINDS, _WEIGHED)}
    kinds[_WEIGHED] = list(before.weighed)
    proposed, has_looked, has_acted = before.proposed, before.has_looked, before.has_acted
    said: str | None = None  # by the agent since `proposed` was found
    for step in trace.steps:
        match step:
            case Utterance(role="user") if step.text.startswith(_OF_CLIENT):
                continue
            case Utterance(role="user"):
                proposed, said = proposed if said is None else proposal_in(said), None
                agreed = _agrees(step)
                kinds[_WEIGHED] = [mark for mark in kinds[_WEIGHED] if mark.text not in proposed]
                _settle(kinds, "decisions" if agreed and not cue_phrases.is_correction(step.text) else "remarks")
                _classify_user(step, kinds, proposed)
                has_looked = has_acted = False
            case Utterance():
                _classify_agent(step, kinds, _LOOKING_ON if has_looked and not has_acted else _AS_IT_IS)
                said = step.text
            case ToolCall():
                read_as = _OF_REPORTS if step.tool in _REPORTS else _AS_IT_IS
                for text in _prose_in_call(step):
                    _classify_agent(Utterance("assistant", text, step.seq, step.at), kinds, read_as)
                if step.tool in EDITS:
                    _settle(kinds, "decisions")
                looks = step.tool in _LOOKS or (
                    step.tool == "Bash" and not shell_commands_and_commits.changes_something(step.word("command"))
                )
                has_looked, has_acted = has_looked or looks, has_acted or not looks
            case Interrupted():
                continue
    proposed = proposed if said is None else proposal_in(said)
    turn = last_reply(trace.steps, before.turn)
    acts = [isinstance(step, ToolCall | Interrupted) for step in trace.steps if not _is_of_user(step)]
    in_calls = acts[-1] if acts else before.in_calls
    words = trace.said("assistant")
    options = offered_options(words[-1].text) if words else before.options
    return kinds, Pending(proposed, tuple(kinds.pop(_WEIGHED)), has_looked, has_acted, turn, in_calls, options)


def _is_of_user(step: Step) -> bool:
    return isinstance(step, Utterance) and step.role == "user"


def _settle(kinds: dict[str, list[KeySentence]], kind: str) -> None:
    """Move the agent's statements of the best way, undecided so far, to the sentences of `kind`, in thread order."""
    if kinds[_WEIGHED]:
        kinds[kind] = sorted([*kinds[kind], *kinds[_WEIGHED]], key=lambda mark: mark.seq)
        kinds[_WEIGHED] = []


def _prose_in_call(call: ToolCall) -> Iterator[str]:
    """Yield the prose in a tool call: plans, commit and pull request messages, reports of subagents."""
    match call.tool:
        case "ExitPlanMode":
            yield call.word("plan")
        case "Bash" if "git commit" in call.word("command") or "gh pr " in call.word("command"):
            yield from map(unwrapped, shell_commands_and_commits.message_texts(call.word("command")))
        case "TaskCreate":
            yield call.word("description")
        case tool if tool in _REPORTS and not call.failed:
            yield call.result
        case _:
            return


def proposal_in(text: str) -> str:
    """Return the question or offer at the end of `text` that a "yes" accepts, or an empty text."""
    question = open_questions(text)
    if len(question.split()) >= _LONG_QUESTION:
        return question
    last = sentences(text)[-2:]
    if last and not cue_phrases.is_offer(last[-1]):
        return question
    if last and (not cue_phrases.is_question(last[-1]) or len(last[-1].split()) >= _LONG_QUESTION):
        return one_line(last[-1])
    return one_line(" ".join(last))


def _agrees(said: Utterance) -> bool:
    """Return True if a person's message accepts what was proposed before it."""
    if said.answers or cue_phrases.is_question(said.text):
        return bool(said.answers)
    return cue_phrases.is_approval(said.text) or classify_sentences_by_working_state_cues.is_agreement(said.text)


def _classify_user(said: Utterance, kinds: dict[str, list[KeySentence]], proposed: str) -> None:
    parts = sentences(_QUOTED.sub("", said.text))
    if len(parts) > _PASTED or len(_HEADING.findall(said.text)) > 1:
        return
    if _agrees(said) and 0 < len(proposed) <= MAX_SENTENCE and not _AWAITS.search(proposed):
        agreed = f"“{clip(said.text, _YES)}” to: {proposed}"
        kinds["decisions"].append(KeySentence(agreed, said.seq, said.at, by_user=True))
        return
    for sentence in parts:
        if len(sentence) > MAX_SENTENCE:
            continue
        mark = KeySentence(one_line(sentence), said.seq, said.at, by_user=True)
        if cue_phrases.is_correction(sentence):
            kinds["corrections"].append(mark)
        if cue_phrases.is_preference(sentence):
            kinds["preferences"].append(mark)
        is_long = len(sentence.split()) >= _CHOICE_WORDS or _REJECTS.search(sentence) is not None
        is_choice = classify_sentences_by_working_state_cues.is_choice_of_person(sentence)
        if is_choice and (is_long or not cue_phrases.is_uninformative(sentence)):
            kinds["decisions"].append(mark)
        if blocker_phrases.is_blocker(sentence):
            kinds["blocks"].append(mark)


def _classify_agent(
    said: Utterance, kinds: dict[str, list[KeySentence]], read_as: Mapping[str, str] = _AS_IT_IS
) -> None:
    """Sort every informative sentence of the agent into decisions, findings, failures, outcomes and next steps."""
    number = 1 + max((marks[-1].place for marks in kinds.values() if marks), default=0)
    for sentence in sentences(said.text):
        number += 1
        if read_as is not _OF_REPORTS and blocker_phrases.is_blocker(sentence):
            kinds["blocks"].append(KeySentence(one_line(sentence), said.seq, said.at, place=number))
        kind = _kind(sentence)
        if kind:
            is_review = read_as is _LOOKING_ON and classify_sentences_by_working_state_cues.is_finished_review(sentence)
            kinds[kind if is_review else read_as.get(kind, kind)].append(
                KeySentence(one_line(sentence), said.seq, said.at, place=number)
            )


def _kind(sentence: str) -> str:
    if len(sentence) < _MIN_SENTENCE and not classify_sentences_by_working_state_cues.is_numbered_step(sentence):
        return ""
    if len(sentence) > MAX_SENTENCE or sentence.endswith(":") or cue_phrases.is_intent(sentence):
        return ""
    return next((name for name, test in _TESTS if test(sentence)), "")


def _enumerated(trace: Trace) -> list[KeySentence]:
    """Return the steps of the newest numbered plan in what was said, or in a plan that was handed in for approval."""
    for step in reversed(trace.steps):
        match step:
            case Utterance():
                steps = classify_sentences_by_working_state_cues.enumerated_steps(
                    step.text, by_person=step.role == "user"
                )
            case ToolCall(tool="ExitPlanMode"):
                steps = classify_sentences_by_working_state_cues.enumerated_steps(f"Plan:\n{step.word('plan')}")
            case _:
                continue
        if steps:
            return [KeySentence(text, step.seq, step.at) for text in steps]
    return []
