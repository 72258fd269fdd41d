"""The facts of a thread, gathered step by step: requests, the agent's sentences, decisions, checks, commits and files.

`Facts` is a fold: fed piece by piece a thread comes to the same facts, provided that every piece ends where all its
calls are answered. `ThreadFacts` is the whole thread, with its steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reverie.distill import cues
from reverie.distill.commands import (
    Commit,
    Purpose,
    Run,
    add_commits,
    changes_something,
    command_runs,
    message_texts,
    pull_requests,
)
from reverie.distill.questions import chosen_option, offered_options, open_question
from reverie.distill.sentences import clip, one_line, paragraphs, sentences
from reverie.distill.steps import (
    REPORTS,
    RUNNING,
    AnsweredQuestion,
    Interrupted,
    ToolCall,
    Trace,
    Utterance,
    answered_questions,
    folder_counts,
    project_root,
)
from reverie.distill.todo import TodoList
from reverie.distill.tools import EDITS, READS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.distill.todo import TodoItem

MAX_SENTENCE = 320
"""Characters of a sentence worth keeping; longer ones are lists or logs."""

CHECKS = (Purpose.TEST, Purpose.BUILD, Purpose.LINT)
"""The purposes of commands that check the work."""

# Characters and words; a shorter sentence says of nothing what it is about: "It still fails." (15)
_MIN_SENTENCE = 20
_MIN_WORDS = 4
_LOOKED = 4  # calls; with fewer, and without a change, a message was answered at once
_AGREEMENT_WORDS = 8  # of a yes; a longer message says itself what it wants
_OFFER_WORDS = 6  # of a question or offer that a yes makes a decision; "Shall I commit?" is none
_TASK_WORDS = 4  # of a message that asks for something by itself; "fix it" does not say what
_OBJECTED = 3  # sentences at the end of a message: what an objection right after it is about
_PASTED = 40  # sentences; more are a pasted document, not the person talking
_YES = 160  # characters of an agreement that are kept beside what it agrees to


@dataclass(frozen=True, slots=True)
class KeySentence:
    """One sentence and its position in the thread; `kind` is what the agent tells with it (`cues.kind_of`)."""

    text: str
    seq: int
    at: str | None
    place: int = 0  # among all sentences of the agent; neighbours in one message differ by one
    kind: str = ""
    speaker: str = ""  # who reported it, where the agent did not say it itself


@dataclass(slots=True)
class Facts:
    """What is known of a thread so far; every list is ordered oldest first."""

    last_at: str | None = None
    end: int = 0  # the last entry in which anything was said or done
    is_speech: bool = False  # True if the last step is what somebody said
    words: Utterance | None = None  # the last ones of the agent or the person
    reply: str = ""  # the agent's last words
    reply_seq: int = 0
    calls: int = 0  # since the last words
    acted: bool = False  # True if something was changed since the person spoke
    looked: int = 0  # calls since the person spoke
    uses_tools: bool = False  # False in a thread of words alone, where every answer comes at once
    checked_at: int = 0  # the entry where a check passed last
    stopped: bool = False  # True if the person stopped the agent or refused a call since it spoke
    requests: list[Utterance] = field(default_factory=list)  # the person's messages
    orders: list[Utterance] = field(default_factory=list)  # messages of other agents
    plan: TodoList = field(default_factory=TodoList)
    runs: tuple[Run, ...] = ()
    failing: list[Run] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)  # the checks that ran, by purpose
    commits: list[Commit] = field(default_factory=list)
    pulls: dict[str, int] = field(default_factory=dict)
    answers: list[AnsweredQuestion] = field(default_factory=list)
    decisions: list[KeySentence] = field(default_factory=list)
    corrections: list[KeySentence] = field(default_factory=list)
    said: list[KeySentence] = field(default_factory=list)  # by the agent and those that report to it
    place: int = 0
    folders: dict[str, int] = field(default_factory=dict)
    edits: dict[str, int] = field(default_factory=dict)  # path: entry of the last edit, in the order of last use
    uses: dict[str, int] = field(default_factory=dict)

    def add(self, trace: Trace) -> None:
        """Add the steps that follow those added so far."""
        self.last_at = trace.last_at or self.last_at
        self.runs += tuple(command_runs(trace.calls))
        for folder, times in folder_counts(trace.calls).items():
            self.folders[folder] = self.folders.get(folder, 0) + times
        for step in trace.steps:
            match step:
                case Utterance(role="user"):
                    self._add_person(step)
                case Utterance(role="assistant"):
                    self._add_agent(step)
                case Utterance():
                    self._add_other(step)
                case ToolCall():
                    self._add_call(step)
                case Interrupted():
                    self.stopped = True
            self.is_speech = isinstance(step, Utterance)
            self.end = max(self.end, step.seq)

    @property
    def root(self) -> str:
        """The folder that holds nearly all files used."""
        return project_root(self.folders)

    @property
    def edited(self) -> tuple[str, ...]:
        """The paths edited, newest last, relative to the root."""
        return tuple(_relative(self.edits, self.root))

    def used(self) -> dict[str, int]:
        """Return the entry of each file's last use, by the path relative to the root, newest last."""
        return _relative(self.uses, self.root)

    @property
    def todo(self) -> list[TodoItem]:
        """The to-do list as it stands."""
        return self.plan.items()

    # What is said

    def _add_person(self, said: Utterance) -> None:
        proposal = "" if said.via else self._proposal()
        choice = chosen_option(said.text, offered_options(self.reply))
        objects = self._is_objection(said, proposal)
        agrees = bool(proposal) and not objects and _is_yes(said.text)
        via = "objection" if objects and cues.OBJECTS.match(said.text) else self._via(said)
        said = replace(said, choice=choice, proposal=proposal if agrees else "", via=via)
        if said.via != "answer":
            if not (agrees or choice or said.via == "refusal" or _is_yes(said.text)):
                self._close_talk()
            self.requests.append(said)
        if objects:
            self._take_back(said)
        elif choice and not cues.NAVIGATES.search(choice):
            self._decide(said, f"“{clip(said.text, _YES)}”: {choice}")
        elif agrees and len(proposal.split()) >= _OFFER_WORDS and not cues.NAVIGATES.search(proposal):
            self._decide(said, f"“{clip(said.text, _YES)}” to: {proposal}")
        elif said.via != "answer" and not choice:
            own = sentences(said.text)
            for sentence in own if len(own) <= _PASTED else ():
                if len(sentence) <= MAX_SENTENCE and cues.CHOOSES.search(sentence) and not cues.is_question(sentence):
                    self._decide(said, one_line(sentence))
        self.words, self.calls, self.looked, self.acted, self.stopped = said, 0, 0, False, False

    def _close_talk(self) -> None:
        """Mark the last message as talk if it was answered at once: nothing was changed, and little was looked at.

        In a thread without tools every answer comes at once, so that only questions are talk. One that the person
        agrees to opens work: "couldn't we move it into a package?" - "ok, let's do it".
        """
        last = self.requests[-1] if self.requests else None
        at_once = self.uses_tools and self.looked < _LOOKED
        if last and not last.via and not self.acted and (at_once or cues.is_question(last.text)):
            self.requests[-1] = replace(last, via="talk")

    def _via(self, said: Utterance) -> str:
        return said.via or ("" if self.stopped or self.is_speech or self.words is None else "aside")

    def _proposal(self) -> str:
        """Return the question or offer with which the agent's last message ends, if the person has not spoken since."""
        if self.words is None or self.words.role != "assistant":
            return ""
        return open_question(self.reply)

    def _is_objection(self, said: Utterance, proposal: str) -> bool:
        """Return True where the person takes back what the agent proposed or did: by a no, by stopping it.

        "I think ..." objects only to a question or an offer. After a stop "go on" does not, nor does a question.
        """
        if said.via == "answer":
            return False
        if cues.OBJECTS.match(said.text):
            return bool(self.reply) or self.stopped
        if said.via == "refusal" or self.stopped:
            return not (_is_yes(said.text) or cues.goes_on(said.text) or cues.is_question(said.text))
        return bool(proposal) and cues.DOUBTS.match(said.text) is not None

    def _take_back(self, said: Utterance) -> None:
        """Add a correction, and take what it objects to out of what the agent said: the end of its last message.

        What was found out is no proposal and stays: "The cause is the cache. I suggest to drop it." - "no, keep it".
        """
        text = clip(said.text, MAX_SENTENCE)
        self.corrections.append(KeySentence(text, said.seq, said.at))
        since = self.place - _OBJECTED
        self.said = [
            mark
            for mark in self.said
            if mark.seq < self.reply_seq
            or mark.kind in {"finding", "failure"}
            or not (mark.place > since or mark.kind in {"decision", "next"})
        ]

    def _decide(self, said: Utterance, text: str) -> None:
        self.decisions.append(KeySentence(text, said.seq, said.at))

    def _add_agent(self, said: Utterance) -> None:
        self.words, self.reply, self.reply_seq, self.calls, self.stopped = said, said.text, said.seq, 0, False
        self._tell(said.text, said.seq, said.at)

    def _add_other(self, said: Utterance) -> None:
        if said.role == "teammate":
            self.orders.append(said)
        self._tell(said.text, said.seq, said.at, said.name or ("agent" if said.role == "teammate" else "task"))

    def _tell(self, text: str, seq: int, at: str | None, speaker: str = "") -> None:
        """Add the sentences that state something; those of another `speaker` are not its work."""
        for sentence in sentences(text):
            self.place += 1
            if not states(sentence):
                continue
            kind = "" if speaker else cues.kind_of(sentence)
            if kind == "outcome" and not self.acted:
                kind = ""  # after nothing but looking at files "Removed the test" is a line of a review
            self.said.append(KeySentence(one_line(sentence), seq, at, place=self.place, kind=kind, speaker=speaker))

    # What is done

    def _add_call(self, call: ToolCall) -> None:
        self.calls += 1
        self.looked += 1
        self.uses_tools = True
        self.end = max(self.end, call.result_seq)
        if call.failed and call.tool not in REPORTS and call.result.startswith("The user doesn't want"):
            self.stopped = True
        for text in _prose_in(call):
            self._tell(text, call.seq, call.at, "subagent" if call.tool in REPORTS else "")
        if call.path and not call.failed:
            if call.tool in EDITS:
                _renew(self.edits, call.path, call.seq)
            if call.tool in EDITS or call.tool in READS:
                _renew(self.uses, call.path, call.seq)
        self.acted = (
            self.acted or call.tool in EDITS or (call.tool == "Bash" and changes_something(call.word("command")))
        )
        self.plan.follow([call])
        self.answers += answered_questions([call])
        add_commits(self.commits, call)
        for address, seq in pull_requests([call]):
            self.pulls.setdefault(address, seq)
        for run in command_runs([call]):
            self._add_run(run)

    def _add_run(self, run: Run) -> None:
        """Add a command; a check that passes ends the failures of all checks that its command line makes.

        Example: `make lint && make test` with exit code 0 ends a failed lint. What is tested has been built.
        """
        key = _key(run)
        for purpose in (run.purpose, *run.passes):
            if purpose in CHECKS and purpose.value not in self.checked:
                self.checked.append(purpose.value)
        if run.failed:
            self.failing = [one for one in self.failing if _key(one) != key]
            self.failing.append(run)
            return
        if run.purpose in CHECKS:
            self.checked_at = run.seq
        built = (Purpose.BUILD.value,) if run.purpose is Purpose.TEST else ()
        passed = {key, *built, *(purpose.value for purpose in run.passes)}
        self.failing = [one for one in self.failing if _key(one) not in passed]


@dataclass(slots=True)
class ThreadFacts(Facts):
    """The facts of a whole thread, and its steps."""

    trace: Trace = field(default_factory=lambda: Trace(()))


def gather_facts(trace: Trace) -> ThreadFacts:
    """Return the facts of `trace` in linear time."""
    facts = ThreadFacts(trace=trace)
    facts.add(trace)
    return facts


def asking(requests: Sequence[Utterance]) -> list[Utterance]:
    """Return the messages that ask for something: no bare yes, no "go on"; "/review 181" and "push" do ask."""
    return [said for said in requests if said.choice or not cues.goes_on(said.text)]


def states(sentence: str) -> bool:
    """Return True for a sentence that states something; a question, a heading and an announcement do not."""
    return (
        _MIN_SENTENCE <= len(sentence) <= MAX_SENTENCE
        and not sentence.endswith(":")
        and not cues.is_question(sentence)
        and len(sentence.split()) >= _MIN_WORDS
        and not cues.announced(sentence)
    )


def _is_yes(text: str) -> bool:
    return cues.agrees(text) and len(text.split()) <= _AGREEMENT_WORDS


def _prose_in(call: ToolCall) -> Iterator[str]:
    """Yield the prose in a tool call that succeeded: plans, commit and pull request messages, reports of subagents."""
    if call.failed:
        return
    match call.tool:
        case "ExitPlanMode":
            yield call.word("plan")
        case "Bash" if "git commit" in call.word("command") or "gh pr " in call.word("command"):
            yield from ("\n".join(paragraphs(text)) for text in message_texts(call.word("command")))
        case "TaskCreate":
            yield call.word("description")
        case tool if tool in REPORTS and not call.result.startswith(RUNNING):
            yield call.result
        case _:
            return


def _key(run: Run) -> str:
    return " ".join(run.command.split()[:2]) if run.purpose is Purpose.OTHER else run.purpose.value


def _renew(paths: dict[str, int], path: str, seq: int) -> None:
    paths.pop(path, None)
    paths[path] = seq


def _relative(paths: dict[str, int], root: str) -> dict[str, int]:
    return {path.removeprefix(f"{root}/") if root else path: seq for path, seq in paths.items()}
