"""The messages of a thread as steps (utterances, tool calls with results, interruptions), and answered questions."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from reverie.distill.cues import NO_CHOICE, OF_STEP
from reverie.distill.sentences import clip, one_line
from reverie.distill.tools import canonical_calls, canonical_result
from reverie.lazy_regex import lazy_regex
from reverie.models import NO_RESULT, ORPHAN_RESULT
from reverie.replies import answers, refusal
from reverie.tagged_spans import without_tagged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reverie.models import Message

# Blocks that a client adds to the person's text.
_HIDDEN = lazy_regex(r"<(system-reminder|local-command-\w+|command-message|command-contents|ide_\w+|bash-\w+)>")
# Texts of other authors that a client puts into the person's role, each a whole text block: a message of another agent,
# or the end of a subagent or a command in the background.
_OF_OTHERS = lazy_regex(r"<(?P<tag>teammate-message|task-notification|subagent_notification)\b(?P<attributes>[^>]*)>")
_TEAMMATE = lazy_regex(r"\bteammate_id=[\"'](?P<name>[^\"'\n]{1,80})[\"']")
_ELEMENT = lazy_regex(r"<(?P<tag>summary|result)>(?P<text>.{0,20000}?)</(?P=tag)>", re.DOTALL)
# A slash command as the client stores it; it is restored as typed: "/review 12".
_COMMAND = lazy_regex(
    r"<command-name>(?P<name>[^<]*)</command-name>(?:\s*<command-args>(?P<args>.{0,10000}?)</command-args>)?",
    re.DOTALL,
)
# What a client shows in place of what was pasted, at the beginning of a line: words beside it were typed. A text's that
# stands alone is left, since the paste may follow it.
_PLACEHOLDER = lazy_regex(
    r"^[^\S\n]*(?:\[Image #\d{1,6}\]\s*|\[Pasted text #\d{1,6}(?: \+\d{1,9} lines)?\][^\S\n]*(?=\S))+", re.MULTILINE
)
# Beginnings of texts in the person's role that no person typed.
_NOT_SPEECH = (
    "Caveat:",
    "Base directory for this skill",
    "This session is being continued from a previous conversation",
    "Operation stopped by hook:",
    ORPHAN_RESULT,
)
_INTERRUPTED = "[Request interrupted"
# Tools that run another agent. Where its report ends, the client adds its id for calls of its own.
REPORTS = frozenset({"Task", "Agent", "TaskOutput"})
"""Tools that run another agent, or wait for one."""
RUNNING = "(still running)\n"
"""The beginning of the result of a call that waited for another agent in vain."""
_QUESTIONS = frozenset({"AskUserQuestion"})  # tools whose results are the person's answers
_OF_CLIENT_BELOW = lazy_regex(r"^agentId: (?P<id>\w+)", re.MULTILINE)
# Files outside of any project: the client's own notes and temporary files.
ELSEWHERE = lazy_regex(r"/\.claude/|^/(?:private/)?(?:tmp|var)/")
# Share of the files used that the project's root must contain; a few files elsewhere (a config in the home folder)
# must not make the root "/".
_NEARLY_ALL = 0.97
_LAUNCHED = 60  # characters of one line in place of a report: the client's word that the agent was started
_ANSI = lazy_regex(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Utterance:
    """Text that somebody said, without the markup that a client adds.

    `role` says who: `user` typed it, `assistant` is the agent, `teammate` another agent (`name` is its name), `report`
    a subagent or a command in the background. The last two stand in the person's role in a transcript, and are nobody's
    orders. `via` says how the person said it: a message of its own (""), words at which the agent was stopped or still
    at work (`aside`), a no to what it did (`objection`), words in refusing a call (`refusal`), a question that was
    answered without changing anything (`talk`), or an answer to the client's question tool (`answer`).
    `proposal` is the agent's question or offer that the message answers, `choice` the option that it names by number.
    """

    role: str
    text: str
    seq: int
    at: str | None
    via: str = ""
    name: str = ""
    proposal: str = ""
    choice: str = ""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A point where the person stopped the agent."""

    seq: int
    at: str | None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call with its result; `answered` is false and `result` empty if the thread ends before it.

    `succeeded` is true where the client reports success: exit code 0, or a result that is marked as no error.
    """

    tool: str
    input: dict[str, Any]
    seq: int
    at: str | None
    result: str = ""
    failed: bool = False
    succeeded: bool = False
    answered: bool = False
    result_seq: int = 0

    def word(self, key: str) -> str:
        """Return the input field `key` if it is text, else the empty string."""
        value = self.input.get(key)
        return value if isinstance(value, str) else ""

    @property
    def path(self) -> str:
        """Return the path of the file the call is about, or the empty string."""
        return self.word("file_path") or self.word("notebook_path")


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that the agent asked through a tool, and the person's choice or answer.

    `option` is the chosen option's description, empty where it has none. `own_words` is True where options were offered
    and the answer is none of them.
    """

    question: str
    answer: str
    seq: int
    at: str | None
    own_words: bool = False
    option: str = ""

    @property
    def decides(self) -> bool:
        """True if it chooses something about the work: no step at hand, no counter-question, no "you decide"."""
        is_step = OF_STEP.search(self.question) is not None
        return not (is_step or "?" in self.answer or NO_CHOICE.match(self.answer))

    @property
    def text(self) -> str:
        """Return question, answer and the chosen option's description: "Which store? → LMDB: one file, no server"."""
        described = f": {clip(self.option, 200)}" if self.option else ""
        return f"{clip(self.question, 160)} → {self.answer}{described}"


Step: TypeAlias = Utterance | ToolCall | Interrupted


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps of a thread, oldest first, with the common root folder of its files."""

    steps: tuple[Step, ...]
    root: str = ""
    last_at: str | None = None
    calls: tuple[ToolCall, ...] = field(default=(), repr=False)

    def relative(self, path: str) -> str:
        """Return `path` relative to the project's root, or unchanged if it is not below it."""
        if self.root and path.startswith(self.root + "/"):
            return path[len(self.root) + 1 :]
        return path

    def said(self, role: str) -> list[Utterance]:
        """Return everything that `role` said, oldest first."""
        return [step for step in self.steps if isinstance(step, Utterance) and step.role == role]


def read_trace(messages: Sequence[Message]) -> Trace:
    """Return the trace of `messages` without rewound ones. Linear in their size."""
    live = [message for message in messages if not message.rewound]
    results = _results(live)
    steps: list[Step] = []
    for message in live:
        steps.extend(_steps(message, results))
    calls = tuple(step for step in steps if isinstance(step, ToolCall))
    last_at = next((message.at for message in reversed(live) if message.at), None)
    return Trace(steps=tuple(steps), root=project_root(folder_counts(calls)), last_at=last_at, calls=calls)


def user_speech(text: str) -> str:
    """Return what a person typed in a user message: client markup and placeholders removed, slash commands restored.

    Empty for what other agents or the client itself wrote.
    """
    if "<" in text:
        if next(_of_others(text), None) is not None:
            return ""
        text = without_tagged(text, _HIDDEN)
        text = _COMMAND.sub(_as_typed, text)
    if " #" in text:
        text = _PLACEHOLDER.sub("", text).strip() or text  # an image alone is what the person sent
    text = text.strip()
    return "" if text.startswith(_NOT_SPEECH) else text


def text_of(content: Any) -> str:
    """Return the text of message or tool result content, text blocks joined by newlines."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(
        block["text"]
        for block in content
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    )


def _of_others(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield role, name and words of each text of another agent or background task in a block of the person's role.

    Words that are JSON are signals between the agents' programs, and said by nobody.
    """
    end = 0
    for begin in _OF_OTHERS.finditer(text):
        close = text.find(f"</{begin['tag']}>", begin.end())
        if begin.start() < end or close < 0:
            continue
        end = close
        body = text[begin.end() : close]
        if begin["tag"] == "teammate-message":
            name = _TEAMMATE.search(begin["attributes"])
            yield "teammate", name["name"] if name else "", "" if body.lstrip().startswith("{") else body.strip()
        else:
            yield "report", "", "\n".join(part["text"].strip() for part in _ELEMENT.finditer(body))


def _as_typed(found: re.Match[str]) -> str:
    return f"{found['name'].strip()} {(found['args'] or '').strip()}".strip()


def _blocks(message: Message) -> list[dict[str, Any]]:
    if isinstance(message.content, str):
        return [{"type": "text", "text": message.content}]
    return [block for block in message.content or [] if isinstance(block, dict)]


def _results(messages: Iterable[Message]) -> dict[str, tuple[dict[str, Any], int]]:
    results: dict[str, tuple[dict[str, Any], int]] = {}
    for message in messages:
        if message.role != "user" or isinstance(message.content, str):
            continue
        for block in _blocks(message):
            if block.get("type") == "tool_result" and block.get("content") != NO_RESULT:
                results[str(block.get("tool_use_id"))] = (block, message.last_seq)
    return results


def _steps(message: Message, results: dict[str, tuple[dict[str, Any], int]]) -> Iterable[Step]:
    for block in _blocks(message):
        match block.get("type"):
            case "text" if isinstance(block.get("text"), str):
                yield from _spoken(message, block["text"])
            case "tool_use":
                for call in _calls(message, block, results.get(str(block.get("id")))):
                    yield call
                    yield from _said_in_result(call)
            case _:
                continue


def _spoken(message: Message, text: str) -> Iterable[Step]:
    if message.role == "assistant":
        if text.strip():
            yield Utterance("assistant", text.strip(), message.last_seq, message.at)
        return
    if text.lstrip().startswith(_INTERRUPTED):
        yield Interrupted(message.last_seq, message.at)
        return
    if said := user_speech(text):
        yield Utterance("user", said, message.last_seq, message.at)
    elif "<" in text:
        for role, name, words in _of_others(text):
            if words:
                yield Utterance(role, words, message.last_seq, message.at, name=name)


def _calls(message: Message, block: dict[str, Any], answer: tuple[dict[str, Any], int] | None) -> Iterator[ToolCall]:
    """Yield a tool call as Claude Code would have made it; a patch of several files is one call for each."""
    given = block.get("input")
    name = str(block.get("name", ""))
    call_input = given if isinstance(given, dict) else {"input": given} if isinstance(given, str) else {}
    for tool, tool_input in canonical_calls(name, call_input):
        call = ToolCall(tool, tool_input, message.last_seq, message.at)
        yield call if answer is None else _answered(call, name, *answer)


def _answered(call: ToolCall, name: str, result: dict[str, Any], seq: int) -> ToolCall:
    """Return `call` with its result; `name` is the client's name of the tool."""
    text = text_of(result.get("content"))
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if call.tool in REPORTS:
        text = _report(text)
    output, code = canonical_result(name, text, call.input)
    return replace(
        call,
        result=output,
        failed=result.get("is_error") is True,
        succeeded=code == 0 if code is not None else result.get("is_error") is False,
        answered=True,
        result_seq=seq,
    )


def _report(text: str) -> str:
    r"""Return what another agent reported, nothing where it was only started; what it did so far says that it runs.

    What the client writes below a report is left out but the agent's id, which later calls need. Example: "Async agent
    launched successfully.\nagentId: a291e03 (internal ID ...)" gives "(still running)\nagentId: a291e03".
    """
    if text.startswith("<retrieval_status>"):
        output = text.partition("<output>")[2].rpartition("</output>")[0].strip()
        return output if "<status>completed" in text else f"{RUNNING}{output}"
    below = _OF_CLIENT_BELOW.search(text)
    if below is None:
        return text
    report = text[: below.start()].strip()
    is_report = "\n" in report or len(report) > _LAUNCHED
    return f"{report if is_report else RUNNING.strip()}\nagentId: {below['id']}"


def _said_in_result(call: ToolCall) -> Iterable[Utterance]:
    """Yield what the person said in refusing a call, or in answering the agent's questions; only results have it."""
    if call.failed:
        for reply in refusal(call.result):
            yield Utterance("user", reply.text, call.result_seq, call.at, via="answer" if reply.question else "refusal")
    for one in answered_questions([call]):
        yield Utterance("user", one.text, one.seq, one.at, via="answer")


def answered_questions(calls: Iterable[ToolCall]) -> Iterator[AnsweredQuestion]:
    """Yield the questions that the agent asked through a tool and the person answered, oldest first."""
    for call in calls:
        if call.tool not in _QUESTIONS or not call.answered or call.failed:
            continue
        for one in answers(call.input, call.result):
            yield AnsweredQuestion(
                one_line(one.question), one.words, call.result_seq, call.at, one.is_own, one_line(one.option)
            )


def folder_counts(calls: Iterable[ToolCall]) -> Counter[str]:
    """Return the folders of the files that calls refer to, with the number of references."""
    paths = (call.path for call in calls)
    return Counter(path.rpartition("/")[0] for path in paths if path.startswith("/") and not ELSEWHERE.search(path))


def project_root(folders: Mapping[str, int]) -> str:
    """Return the deepest folder that holds nearly all files used."""
    root = ""
    total = sum(folders.values())
    while total:
        children: Counter[str] = Counter()
        for folder, times in folders.items():
            if folder.startswith(root + "/"):
                children[folder[len(root) + 1 :].partition("/")[0]] += times
        best = max(children, key=lambda name: (children[name], name), default="")
        if not best or children[best] < _NEARLY_ALL * total:
            break
        root = f"{root}/{best}"
    return root
