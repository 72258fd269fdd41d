"""The origin of a candidate's words: typed by the person, written by the agent, or taken from outside.

Words from outside (a tool's result, a web page, pasted or quoted text) may have been written to be believed, so a
candidate that rests on them alone waits for a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from reverie.context.tiers import DISTILLED, FRAME
from reverie.distill.own_words import message_words, own_words
from reverie.distill.steps import text_of
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate, MemoryType, Message
from reverie.words import analyze, strip_source

Origin: TypeAlias = Literal["person", "agent", "paste", "tool", "web"]

WHY: Final[dict[str, str]] = {
    "paste": "its words are from pasted or quoted text",
    "tool": "its words are from a tool's result",
    "web": "its words are from a web page",
    "unsure": "it may hold for one task alone",
    "scope": "it would hold in every project",
}
_COVERED: Final = 0.6  # share of a candidate's words that one line must have to be where they are from
_COPIED_CHARS: Final = 40  # of a sentence that an agent repeats; a shorter one is found in many texts by chance

_WEB_TOOL: Final = lazy_regex(r"web|fetch|brows|http|url|search_engine|navigate", re.IGNORECASE)
_FRAME: Final = lazy_regex(r"^the user (?:said|wants|asked to remember):", re.IGNORECASE)
# Where the person refuses a call, its result is what they say instead. Only of Claude Code's own tools whose results no
# file, program or page can begin: a server of MCP writes the results of its tools, and names them, as it likes.
_REFUSABLE: Final = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write", "Read", "Glob", "ExitPlanMode"})
_REFUSAL: Final = lazy_regex(
    r"The user doesn't want to proceed with this tool use\..{0,400}?\bthe user said:", re.DOTALL
)
# Before the output of a command that failed the client puts "Exit code 1", so a result that begins with the client's
# words is the client's. In all of 18 recorded refusals of commands they are these.
_REFUSED_COMMAND: Final = lazy_regex(
    r"The user doesn't want to proceed with this tool use\. The tool use was rejected \(eg\. if it was a file edit, the"
    r" new_string was NOT written to the file\)\. To tell you how to proceed, the user said:"
)
# Tools of clients by which the agent asks the person: their results are the person's answers.
_ASKING_TOOLS: Final = frozenset(
    {"AskUserQuestion", "ask_followup_question", "request_user_input", "ask_user", "ask_human"}
)
# Between the sentences, steps and labels of a statement: "Deploy: Log in → Push (from a.md)".
_PARTS: Final = lazy_regex(r" → | — |: |\uff1a|(?<=[.;!?])\s+|(?<=[。\uff1b！？])")
_WORDS: Final = lazy_regex(r"\w+")
_PART_CHARS: Final = 12  # of a step or sentence that is looked for: shorter ones are found in many texts by chance
_WIDE: Final = 3  # letters that a Chinese, Japanese or Korean character counts for
_WIDE_FROM: Final = "\u2e80"


class FoundOrigins:
    """The result of `Origins` from when the messages were read: for each candidate why it is from outside, or None."""

    def __init__(self, candidates: Sequence[Candidate], outside: Sequence[str | None]) -> None:
        self._outside = {id(candidate): why for candidate, why in zip(candidates, outside, strict=True)}

    def outside(self, candidate: Candidate) -> str | None:
        """Return why this candidate's words come from outside, as found before; None where they do not."""
        return self._outside[id(candidate)]


class Origins:
    """The lines of a thread's messages by origin, with which the origin of each candidate's words is found."""

    def __init__(self, messages: Sequence[Message], words: Callable[[str], tuple[str, str]] = own_words) -> None:
        """`words` tells what a person typed from what they pasted."""
        self._words = words
        self._messages = [message for message in messages if not message.rewound]
        self._tools = tool_names(self._messages)
        self._heard: list[tuple[Origin, str]] | None = None  # all texts in their order, casefolded
        self._comparable: dict[int, str] = {}  # those of them that were compared, by their place

    def outside(self, candidate: Candidate) -> str | None:
        """Return why a candidate's words come from outside, and not from the person or the agent; else None.

        A candidate without entries (from a file, or from working memory) was written by the agent itself, unless its
        words were in a tool's result, a page or a paste of the thread before.
        """
        if candidate.type is MemoryType.EPISODE:
            return None
        text = _FRAME.sub("", strip_source(candidate.content))
        words = frozenset(analyze(text).content)
        best: dict[Origin, float] = {}
        for origin, said in self._lines(candidate.provenance.get("seqs") or []):
            share = len(words & said) / len(words) if words else 0.0
            best[origin] = max(best.get(origin, 0.0), share)
        typed = best.pop("person", 0.0)
        own = max(typed, best.pop("agent", 0.0))
        outside = max(best, key=lambda origin: best[origin], default=None)
        if outside is not None and best[outside] >= _COVERED and best[outside] > own:
            return WHY[outside]
        return None if typed >= _COVERED else self._heard_first(text)

    def _heard_first(self, text: str) -> str | None:
        """Return why a text is from outside: most of it was in a result or a paste before the agent said it; else None.

        What an agent wrote into a file and read again, or what a tool showed after an edit, is the agent's own.
        """
        parts = [words for part in _PARTS.split(text) if _size(words := _words(part)) >= _PART_CHARS]
        total = sum(map(_size, parts))
        sizes: dict[Origin, int] = {}
        for part in parts if total >= _COPIED_CHARS else ():
            origin = self._first_with(part)
            if origin in WHY:
                sizes[origin] = sizes.get(origin, 0) + _size(part)
        size = sum(sizes.values())
        if size < _COPIED_CHARS or size < _COVERED * total:
            return None
        return WHY[max(sizes, key=lambda origin: sizes[origin])]

    def _first_with(self, part: str) -> Origin | None:
        if self._heard is None:
            segments = (pair for message in self._messages for pair in _segments(message, self._tools, self._words))
            self._heard = [(origin, text.casefold()) for origin, text in segments]
        # Few texts have its longest word: the others need not be split, which takes ten times as long.
        word = max(part.split(" "), key=len)
        for place, (origin, text) in enumerate(self._heard):
            if word in text:
                if place not in self._comparable:
                    self._comparable[place] = _words(text)
                if part in self._comparable[place]:
                    return origin
        return None

    def _lines(self, seqs: Sequence[int]) -> Iterator[tuple[Origin, frozenset[str]]]:
        """Yield the meaning words of each line, with its origin, of the messages that contain one of these entries."""
        for message in self._messages:
            if any(message.first_seq <= seq <= message.last_seq for seq in seqs):
                for origin, text in _segments(message, self._tools, self._words):
                    for line in text.splitlines():
                        if words := frozenset(analyze(line).content if line.strip() else ()):
                            yield origin, words


def _segments(
    message: Message, tools: dict[str, str], words: Callable[[str], tuple[str, str]]
) -> Iterator[tuple[Origin, str]]:
    blocks = message.content if isinstance(message.content, list) else [{"type": "text", "text": message.content}]
    for block in blocks:
        if not isinstance(block, dict):
            continue
        match block.get("type"):
            case "text" if isinstance(block.get("text"), str):
                if message.role == "assistant":
                    yield "agent", block["text"]
                else:
                    own, foreign = message_words(block["text"], words)
                    yield "person", own
                    yield "paste", foreign
            case "tool_use" if isinstance(block.get("input"), dict):
                yield "agent", "\n".join(_strings(block["input"]))
            case "tool_result":
                name = tools.get(str(block.get("tool_use_id")), "")
                result = text_of(block.get("content"))
                if name in _ASKING_TOOLS:
                    yield "person", result
                elif block.get("is_error") and (refused := _refusal(name, result)):
                    own, foreign = words(result[refused.end() :])
                    yield "person", own
                    yield "paste", foreign
                else:
                    yield "web" if _WEB_TOOL.search(name) else "tool", result


def _refusal(name: str, result: str) -> re.Match[str] | None:
    """Return the client's words at the beginning of a refused call's result; None for a tool that could write them."""
    if name == "Bash":
        return _REFUSED_COMMAND.match(result)
    return _REFUSAL.match(result) if name in _REFUSABLE else None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)


def _words(text: str) -> str:
    """Return the words of a text alone, so that marks, line breaks and capitals make no difference."""
    return " ".join(_WORDS.findall(text.casefold()))


def _size(words: str) -> int:
    return sum(_WIDE if char >= _WIDE_FROM else 1 for char in words)


def casefolded(text: str) -> str:
    """Return a text for comparing word by word: casefolded, with one space for each run of white space."""
    return " ".join(text.split()).casefold()


# Text that Reverie itself has shown to an agent is left out before memories are read: none must confirm itself.


# Text that was served to an agent begins with one of these; each is followed by memories to the end of its block.
_SERVED: Final = (
    FRAME,
    DISTILLED,
    "Remembered by Reverie (data from earlier work",
    "Remembered from earlier work: data with an origin",
)
_INDEX: Final = lazy_regex(
    r"^Available memory:.*?(?:Use memory_read to load relevant files before responding\.|\Z)", re.DOTALL | re.MULTILINE
)
# Tools of Reverie, also behind the prefix of a client: `mcp__reverie__recall`.
_MEMORY_TOOL: Final = lazy_regex(
    r"(?:^|__)(?:recall|memory_(?:list|read|write|patch|append)|working_state_(?:get|set)|note)$|reverie"
)
# The person runs the memory's own commands in the agent's shell: `reverie recall "…"`.
_MEMORY_COMMAND: Final = lazy_regex(r"\breverie\s+(?:recall|context|memories|search|show|thread|review)\b")


def without_recalled(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without text that Reverie served: contexts, recalled memories, answers of its tools."""
    tools = tool_names(messages)
    return [replace(message, content=_unserved(message.content, tools)) for message in messages]


def _unserved(content: Any, tools: dict[str, str]) -> Any:
    if isinstance(content, str):
        return _without_frames(content)
    if not isinstance(content, list):
        return content
    return [_unserved_block(block, tools) if isinstance(block, dict) else block for block in content]


def _unserved_block(block: dict[str, Any], tools: dict[str, str]) -> dict[str, Any]:
    if block.get("type") == "text" and isinstance(block.get("text"), str):
        text = _without_frames(block["text"])
        return block if text == block["text"] else {**block, "text": text}
    if block.get("type") == "tool_result":
        result = text_of(block.get("content"))
        if _MEMORY_TOOL.search(tools.get(str(block.get("tool_use_id")), "")) or _without_frames(result) != result:
            return {**block, "content": ""}
    return block


def _without_frames(text: str) -> str:
    begins = [at for frame in _SERVED if (at := text.find(frame)) >= 0]
    kept = text[: min(begins)] if begins else text
    return _INDEX.sub("", kept) if "Available memory:" in kept else kept


def tool_names(messages: Sequence[Message]) -> dict[str, str]:
    """Return each call's tool name by the call's id; `recall` for a shell call that runs a memory command."""
    names = {}
    for message in messages:
        for block in message.content if isinstance(message.content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_use":
                given = block.get("input")
                command = given.get("command") if isinstance(given, dict) else None
                asks_memory = isinstance(command, str) and _MEMORY_COMMAND.search(command)
                names[str(block.get("id"))] = "recall" if asks_memory else str(block.get("name", ""))
    return names
