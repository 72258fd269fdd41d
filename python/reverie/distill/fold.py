"""Incremental accumulator of a thread's working state: each turn costs only its new messages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reverie.distill import commands as shell_commands_and_commits
from reverie.distill.answers import AnsweredQuestion  # noqa: TC001 - decoded by type
from reverie.distill.commands import Commit, Purpose, Run
from reverie.distill.extractive import classify_sentences_by_working_state_cues
from reverie.distill.extractive.current_request_and_agreed_proposals import opens_task
from reverie.distill.facts import (
    KeySentence,
    Pending,
    ThreadFacts,
    gather_facts,
    substantial_requests,
)
from reverie.distill.sentences import clip, first_sentence
from reverie.distill.state import request_excerpt, working_state
from reverie.distill.steps import (
    EDITS,
    READS,
    Interrupted,
    ToolCall,
    Trace,
    Utterance,
    folder_counts,
    project_root,
    read_trace,
)
from reverie.distill.todo import TodoList

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.models import Message, WorkingState

__all__ = ["FileUse", "ThreadFold"]

_FEW = 24  # of whatever a state shows the newest of: it shows fewer
_EDITS = 2  # of the older calls: whether none, one or more were made is asked for
_COMMAND = 400  # characters


@dataclass(slots=True)
class FileUse:
    """Paths that the agent used, ordered by last use, most recent last.

    `folders` tells how often a file in each was called for, `used` the entry of each file's last use.
    """

    folders: dict[str, int] = field(default_factory=dict)
    edited: dict[str, None] = field(default_factory=dict)
    touched: dict[str, None] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)

    def follow(self, calls: Iterable[ToolCall]) -> None:
        """Add the tool calls that came next to the used paths."""
        calls = list(calls)
        for folder, times in folder_counts(calls).items():
            self.folders[folder] = self.folders.get(folder, 0) + times
        for call in calls:
            if not call.path or call.failed:
                continue
            self.used[call.path] = call.seq
            if call.tool in EDITS:
                _renew(self.edited, call.path)
            if call.tool in EDITS or call.tool in READS:
                _renew(self.touched, call.path)

    def newest(self, number: int) -> tuple[Trace, tuple[str, ...], tuple[str, ...]]:
        """Return the `number` files edited last and used last, oldest first, relative to the project's root.

        Before those edited last stand others of the touched ones that were ever edited. The trace has a call for the
        last use of each.
        """
        trace = Trace((), project_root(self.folders))
        touched = _last(self.touched, trace, number)
        edited = _last(self.edited, trace, number)
        earlier = [path for path in touched if path not in edited and not _names(path, trace).isdisjoint(self.edited)]
        paths = dict.fromkeys((*touched, *edited))
        calls = tuple(ToolCall("Read", {"file_path": path}, self._used(path, trace), None) for path in paths)
        return Trace((), trace.root, calls=calls), (*earlier, *edited), touched

    def _used(self, path: str, trace: Trace) -> int:
        return max(self.used.get(name, 0) for name in _names(path, trace))


def _renew(paths: dict[str, None], path: str) -> None:
    paths.pop(path, None)
    paths[path] = None


def _last(paths: dict[str, None], trace: Trace, number: int) -> tuple[str, ...]:
    relative_paths: dict[str, None] = {}
    for path in reversed(paths):
        relative_paths.setdefault(trace.relative(path))
        if len(relative_paths) == number:
            break
    return tuple(reversed(relative_paths))


def _names(path: str, trace: Trace) -> set[str]:
    """Return the spellings of a path that the agent may have used (relative and absolute)."""
    return {path, f"{trace.root}/{path}"}


@dataclass(slots=True)
class ThreadFold:
    """Serializable summary of the messages so far, reduced to what a working state can show.

    `ThreadFold().follow(messages).state(before)` is the working state of `messages` on top of `before`. Fed piece by
    piece a thread comes to the same, provided that every piece ends where all its calls are answered.
    """

    last_at: str | None = None
    end: int = 0  # the last entry in which anything is said or done
    words: Utterance | None = None  # the last ones
    ends_in_words: bool = False
    calls: list[ToolCall] = field(default_factory=list)  # the last since these words, or whose result has them
    requests: list[Utterance] = field(default_factory=list)
    plan: TodoList = field(default_factory=TodoList)
    runs: dict[str, Run] = field(default_factory=dict)  # the last of each purpose
    done: dict[str, int] = field(default_factory=dict)
    failing: list[Run] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    pulls: dict[str, int] = field(default_factory=dict)
    decisions: list[KeySentence] = field(default_factory=list)
    outcomes: list[KeySentence] = field(default_factory=list)
    nexts: list[KeySentence] = field(default_factory=list)
    blocks: list[KeySentence] = field(default_factory=list)
    steps: list[KeySentence] = field(default_factory=list)
    pending: Pending = field(default_factory=Pending)
    answers: list[AnsweredQuestion] = field(default_factory=list)
    files: FileUse = field(default_factory=FileUse)

    def follow(self, messages: Sequence[Message]) -> ThreadFold:
        """Add the messages that follow those added so far; returns self."""
        trace = read_trace(messages)
        facts = gather_facts(trace, self.pending)
        self._update_speech(trace)
        self._update_failing(facts)
        self.requests = _requests([*self.requests, *map(_shortened, facts.requests)])
        self.done |= facts.done
        self.plan.follow(trace.calls)
        self.files.follow(trace.calls)
        self.commits = shell_commands_and_commits.commits(trace.calls, self.commits)[-_FEW:]
        for address, seq in facts.pulls:
            self.pulls.setdefault(address, seq)
        self.decisions = _decisions([*self.decisions, *facts.decisions])
        self.outcomes = [*self.outcomes, *facts.outcomes][-_FEW:]
        self.nexts = [*self.nexts, *facts.nexts][-_FEW:]
        self.blocks = [*self.blocks, *facts.blocks][-_FEW:]
        self.steps = list(facts.steps) or self.steps
        self.pending = facts.pending
        self.answers = [*self.answers, *facts.answers][-_FEW:]
        return self

    def state(self, previous: WorkingState | None = None) -> WorkingState:
        """Return the working state after the messages added so far, on top of `previous`."""
        return working_state(self._as_facts(), previous)

    def _update_speech(self, found: Trace) -> None:
        self.last_at = found.last_at or self.last_at
        if not found.steps:
            return
        spoken = [step for step in found.steps if isinstance(step, Utterance)]
        self.end = found.steps[-1].seq
        self.ends_in_words = bool(spoken) and spoken[-1] is found.steps[-1]
        self.words = spoken[-1] if spoken else self.words
        since = self.words.seq if self.words is not None else 0
        calls = [call for call in (*self.calls, *found.calls) if max(call.seq, call.result_seq) >= since]
        edits = [call for call in calls[:-_FEW] if call.edits and call.answered and not call.failed]
        self.calls = [_bare_call(call) for call in (*edits[-_EDITS:], *calls[-_FEW:])]

    def _update_failing(self, facts: ThreadFacts) -> None:
        """Update failing checks: a failure stays until a run of the same purpose passes."""
        passed = {run.purpose for run in facts.runs if not run.failed}
        open_runs = {run.purpose: run for run in self.failing if run.purpose not in passed}
        for run in facts.failing:
            if run.purpose is not Purpose.OTHER:
                open_runs.pop(run.purpose, None)
                open_runs[run.purpose] = _bare(run)
        self.failing = list(open_runs.values())
        self.runs |= {run.purpose.value: _bare(run) for run in facts.runs}

    def _as_facts(self) -> ThreadFacts:
        """Return the accumulated facts in the form that `working_state` reads from a whole thread."""
        files, edited, touched = self.files.newest(_FEW)
        return ThreadFacts(
            trace=replace(files, steps=self._last_steps(), last_at=self.last_at),
            requests=tuple(self.requests),
            plan=tuple(self.plan.items()),
            closed=self.plan.closed(),
            runs=tuple(self.runs.values()),
            done=self.done,
            commits=tuple(self.commits),
            pulls=tuple(self.pulls.items()),
            decisions=tuple(self.decisions),
            corrections=(),
            preferences=(),
            findings=(),
            failures=(),
            outcomes=tuple(self.outcomes),
            remarks=(),
            nexts=tuple(self.nexts),
            blocks=tuple(self.blocks),
            steps=tuple(self.steps),
            pending=self.pending,
            answers=tuple(self.answers),
            fixes=(),
            failing=tuple(self.failing),
            edited=edited,
            touched=touched,
        )

    def _last_steps(self) -> tuple[Utterance | ToolCall | Interrupted, ...]:
        """Return the last utterance with the calls around it; a placeholder at the end if other entries came last."""
        since = self.words.seq if self.words is not None else 0
        before = [call for call in self.calls if call.seq < since]
        words = () if self.words is None else (self.words,)
        if self.ends_in_words or not self.end:
            return (*before, *words)
        after = [call for call in self.calls if call.seq >= since]
        is_last = bool(after) and after[-1].seq == self.end
        return (*before, *words, *after, *(() if is_last else (Interrupted(self.end, None),)))


def _requests(found: Sequence[Utterance]) -> list[Utterance]:
    """Return the requests that a state can need: the first, the last new task, a few newest, the very last."""
    asked = substantial_requests(found)
    opener = next(
        (said for said in reversed(asked) if classify_sentences_by_working_state_cues.is_new_task(said.text)), None
    )
    task = next((said for said in reversed(asked) if opens_task(said)), None)
    newest: dict[str, Utterance] = {}
    for said in reversed(asked):
        newest.setdefault(first_sentence(said.text), said)
        if len(newest) == _FEW:
            break
    kept = {id(said) for said in (*asked[:1], opener, task, *newest.values(), *found[-1:])}
    return [said for said in found if id(said) in kept]


def _shortened(said: Utterance) -> Utterance:
    return replace(said, text=request_excerpt(said.text))


def _decisions(found: list[KeySentence]) -> list[KeySentence]:
    """Return the newest decisions, and the newest of the agent's among the older ones."""
    old, new = found[:-_FEW], found[-_FEW:]
    own = [mark for mark in old if not mark.by_user]
    return [*own[-_FEW:], *new]


def _bare(run: Run) -> Run:
    return replace(run, command=clip(run.command, _COMMAND), description=clip(run.description, _COMMAND))


def _bare_call(call: ToolCall) -> ToolCall:
    """Return a call without its result, and without input but the command that it ran."""
    command = call.word("command")
    return replace(call, input={"command": clip(command, _COMMAND)} if command else {}, result="")
