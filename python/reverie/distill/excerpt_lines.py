"""The text lines of a thread that may become excerpts, each with its origin."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from reverie.distill.sentences import clip
from reverie.distill.steps import Interrupted, ToolCall, Trace, Utterance
from reverie.distill.tools import EDITS
from reverie.lazy_regex import lazy_regex
from reverie.tagged_spans import without_tagged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.models import Json

MAX_LENGTH = 300
"""Characters of one line; a longer one is cut where a sentence ends, and a longer sentence at a space or a mark."""

# Characters of a command's or search's label.
_ORIGIN_LENGTH = 70

# Characters of the longest word in readable text; a longer one is encoded data (base64, a key, an image).
_WORD_LENGTH = 120

# The end of a window is where a person would break a long line of JSON, a list or a command.
_WINDOW = lazy_regex(rf".{{1,{MAX_LENGTH - 1}}}(?:[\s,;|&(){{}}\[\]]|$)|.{{1,{MAX_LENGTH}}}", re.DOTALL)
_ENCODED = lazy_regex(rf"[^\s,;:|&(){{}}\[\]\"'<>]{{{_WORD_LENGTH + 1}}}")
_SENTENCE_END = lazy_regex(r"(?<=[.;!?])\s+")
_LINE_NUMBER = lazy_regex(r"^\s*\d+(?:→|\t)")
_HIT = lazy_regex(r"^(?P<file>[\w./@+-]*\w\.\w+)-\d+-(?P<text>.*\S.*)$")
_REMINDER = lazy_regex(r"<(system-reminder)>")
_WRAPPING = lazy_regex(r"</?tool_use_error>")
_PLANS = {"TaskCreate", "TodoWrite"}
_SEARCH_OPTIONS = ("glob", "type", "output_mode")
# Inputs that say nothing: what an edit replaces, the place and the state of something.
_UNTOLD = {"old_string", "file_path", "notebook_path", "status", "activeForm"}
_SILENT = {"TaskUpdate", "TaskList", "TaskGet", "TodoRead"}


class Source(Enum):
    """The kind of message part a line came from."""

    USER = "user"
    AGENT = "agent"
    INPUT = "input"
    EDIT = "edit"
    RESULT = "result"


_SPEAKERS = {"user": Source.USER, "assistant": Source.AGENT}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text: `origin` is its file, command or speaker, `order` its position in the thread.

    `opens` is true of the first line of what was said, written or read.
    """

    text: str
    origin: str
    source: Source
    seq: int
    order: int
    opens: bool = False


def candidate_lines(trace: Trace) -> Iterator[Line]:
    """Yield every line of a thread that may become an excerpt, in thread order; they are ranked and chosen elsewhere.

    Linear in the thread's size.
    """
    order = 0
    for step in trace.steps:
        for origin, source, seq, text in _texts(step, trace):
            for index, piece in enumerate(_split_long_lines(text)):
                order += 1
                if piece != origin:
                    yield Line(piece, origin, source, seq, order, opens=index == 0)


def speaker(said: Utterance) -> str:
    """Return who said something: the user, the agent, another agent by its name, or a task in the background."""
    match said.role:
        case "user":
            return "The user"
        case "assistant":
            return "The agent"
        case "teammate":
            return f"Another agent, {said.name}" if said.name else "Another agent"
        case _:
            return "A task in the background"


def _texts(step: Utterance | ToolCall | Interrupted, trace: Trace) -> Iterator[tuple[str, Source, int, str]]:
    match step:
        case Utterance():
            source = _SPEAKERS.get(step.role, Source.RESULT)
            yield speaker(step), source, step.seq, step.text
        case ToolCall():
            if step.tool not in _SILENT:
                yield from _call(step, trace)
        case Interrupted():
            return


def _call(call: ToolCall, trace: Trace) -> Iterator[tuple[str, Source, int, str]]:
    origin = _origin(call, trace)
    source = Source.AGENT if call.tool in _PLANS else Source.EDIT if call.tool in EDITS else Source.INPUT
    for text in _input_texts(call, trace):
        yield origin, source, call.seq, text
    if call.tool in _PLANS or (call.tool in EDITS and not call.failed):
        return
    result = call.result
    if "<" in result:
        result = _WRAPPING.sub("", without_tagged(result, _REMINDER))
    result = _shortened(result, trace)
    if call.tool != "Grep":
        yield origin, Source.RESULT, call.result_seq, result
        return
    for line in result.split("\n"):  # those around a hit are lines of their file
        hit = _HIT.match(line)
        yield hit["file"] if hit else origin, Source.RESULT, call.result_seq, hit["text"] if hit else line


def _origin(call: ToolCall, trace: Trace) -> str:
    if call.path:
        return trace.relative(call.path)
    if call.tool in {"Grep", "Glob"}:
        return clip(_search(call, trace), _ORIGIN_LENGTH)
    if call.tool in _PLANS:
        return "The agent's plan"
    return clip(call.word("description"), _ORIGIN_LENGTH) or call.tool


def _search(call: ToolCall, trace: Trace) -> str:
    where = trace.relative(call.word("path")) if call.word("path") != trace.root else ""
    return f"{call.tool} {call.word('pattern')} in {where}" if where else f"{call.tool} {call.word('pattern')}"


def _input_texts(call: ToolCall, trace: Trace) -> Iterator[str]:
    match call.tool:
        case "Bash":
            yield "$ " + _shortened(call.word("command"), trace)
        case "Read" | "Glob":
            return
        case "Grep":
            options = [f"{key}: {call.word(key)}" for key in _SEARCH_OPTIONS if call.word(key)]
            yield ", ".join([_search(call, trace), *options])
        case _:
            yield from (_shortened(text, trace) for text in _strings(call.input))


def _strings(value: Json) -> Iterator[str]:
    """Yield the texts in a JSON value in order, also those in its lists and objects (questions, nested arguments)."""
    open_values = [value]  # a stack and no recursion: an input may be nested deeper than Python calls
    while open_values:
        value = open_values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            open_values += reversed(value)
        elif isinstance(value, dict):
            open_values += reversed([inner for key, inner in value.items() if key not in _UNTOLD])


def _shortened(text: str, trace: Trace) -> str:
    """Return `text` with paths relative to the project's root; a path right below the root stays whole.

    Alone, `README.md` would not say which one of many it is.
    """
    if not trace.root or trace.root not in text:
        return text
    return re.sub(rf"{re.escape(trace.root)}/(?=[\w.@+-]+/)", "", text)


def _split_long_lines(text: str) -> Iterator[str]:
    for raw in text.split("\n"):
        line = _LINE_NUMBER.sub("", raw).strip()
        if not line:
            continue
        if len(line) <= MAX_LENGTH:
            yield line
            continue
        for sentence in _SENTENCE_END.split(line):
            yield from [sentence] if len(sentence) <= MAX_LENGTH else _windows(sentence)


def _windows(text: str) -> Iterator[str]:
    """Yield a long text in pieces of at most `MAX_LENGTH` characters, each cut after a space or a mark.

    A piece with a word longer than `_WORD_LENGTH` characters is encoded data and left out.
    """
    for piece in _WINDOW.findall(text):
        if not _ENCODED.search(piece) and (window := piece.strip()):
            yield window
