"""Cuts through a transcript: where a client compacted a session, and which names the work after the cut needed.

A cut is a real compaction, or a chosen point in a session without one. A context is measured by what of the lines
before the cut it still has: the names that the work after the cut used, and the word sequences of the person's last
messages.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from reverie.importers.claude_code import is_queue_operation
from reverie.lazy_regex import lazy_regex
from reverie.models import EntryKind
from reverie.tagged_spans import without_tagged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reverie.models import Entry, Json

TURNS: Final = 20
"""Replies after the cut that count as the work that continues."""

GRAMS_MIN: Final = 8
"""With fewer word sequences in the person's last messages, a cut is not measured by them."""

_LINES_BEFORE_MIN: Final = 20  # before a cut: less is no session
_REPLIES_MIN: Final = 4  # after a cut: less is no work that continues
_NEEDED_MIN: Final = 8  # names: with fewer, one name more or less changes the share too much
_ASKED_MESSAGES: Final = 6  # last messages of the person that are compared
_ASKED_CHARS: Final = 600  # of each of them: a long paste is no request
_ROW_CHARS: Final = 2_000  # longer rows are minified text, in which every word is beside every name
_GRAM_WORDS: Final = 4
_GRAM_WORD: Final = lazy_regex(r"\w+")

NAME_CHARS_MIN: Final = 7
"""A shorter name is often an ordinary word."""

_EXTENSIONS: Final = "go py ts tsx js rs md json toml yaml yml sh txt sql html css c h cpp java rb lock mod"

_NAME_KINDS: Final[dict[str, str]] = {
    "path": r"(?:[\w.-]+/)+[\w.-]+",
    "file": rf"\b[\w-]+\.(?:{'|'.join(_EXTENSIONS.split())})\b",
    "snake": r"\b[a-z]+(?:_[a-z0-9]+)+\b",
    "camel": r"\b[a-zA-Z]+(?:[A-Z][a-z0-9]+)+\b",
    "commit": r"\b[0-9a-f]{7,40}\b",
    "flag": r"--[a-z][a-z0-9-]{3,}",
}
"""Patterns of names; if two match at one place, the first of this table counts."""

_NAME: Final = lazy_regex("|".join(_NAME_KINDS.values()))

_TOOL_PARAMETERS: Final = frozenset(
    {
        *("file_path", "old_string", "new_string", "replace_all", "output_mode", "head_limit"),
        *("subagent_type", "run_in_background", "activeForm", "tool_use", "tool_use_id", "tool_result"),
    }
)
"""Parameter names of tools: they occur in every session, whatever it is about."""

_CONTEXT_WORD: Final = lazy_regex(r"[a-z]{4,}")

_ADDED_BY_CLIENT: Final = lazy_regex(r"<((?:command|local-command|ide)[-_]\w+|system-reminder)>")
"""Elements that a client inserts into a person's message."""

_NOT_TYPED: Final = ("[Request interrupted", "Caveat:", "Base directory for this skill")
"""Prefixes of user messages that the client wrote."""


@dataclass(frozen=True, slots=True)
class Line:
    """One user or assistant line of the main conversation.

    `text` is all of it: words, the input of tool calls as JSON with real line breaks and tabs, tool results. `words`
    are the words alone, without what a client inserted. `index` is the index of the entry in the file; `reply` is
    equal for the lines of one reply.
    """

    index: int
    role: str
    text: str
    words: str
    reply: str
    summary: bool


@dataclass(frozen=True, slots=True)
class Cut:
    """One cut through a session, and what the work after it needed.

    `entries` are the file's entries before the cut, `before` their lines without earlier summaries. `needed` are the
    names that occur both before the cut and in the work after it; `near` maps each to the words on the same rows before
    the cut. `asked` are the word sequences of the person's last messages. `summary` is the client's own summary; empty
    if the point was chosen.
    """

    session: str
    entries: Sequence[Entry] = field(repr=False)
    before: Sequence[Line] = field(repr=False)
    summary: str = field(repr=False)
    needed: tuple[str, ...]
    near: dict[str, set[str]] = field(repr=False)
    asked: frozenset[str] = field(repr=False)


def find_cuts(session: str, entries: Sequence[Entry], *, points: int = 0) -> Iterator[Cut]:
    """Yield the cuts of one transcript: its compactions; if it has none, `points` points spread evenly over it.

    A chosen point is the nearest line at which the person speaks, so that no turn is cut. Cuts with too little before
    or after them are skipped.
    """
    lines = read_lines(entries)
    starts = [at for at, line in enumerate(lines) if line.summary] or _chosen_points(lines, points)
    for start, end in pairwise([*starts, len(lines)]):
        head = lines[start]
        work_start = start + 1 if head.summary else start
        needs = _needs(lines[:start], lines[work_start:end])
        if needs is not None:
            needed, near, asked = needs
            yield Cut(
                session=session,
                entries=entries[: head.index],
                before=[line for line in lines[:start] if not line.summary],
                summary=head.text if head.summary else "",
                needed=needed,
                near=near,
                asked=asked,
            )


def word_sequences(text: str) -> frozenset[str]:
    """Return the sequences of four words (4-grams) in `text`, in lower case."""
    words = _GRAM_WORD.findall(text.lower())
    return frozenset(" ".join(words[at : at + _GRAM_WORDS]) for at in range(len(words) - _GRAM_WORDS + 1))


def names(text: str) -> list[str]:
    """Return the names in `text` that an agent cannot guess, each once, in order.

    Names are paths (their last two parts), long identifiers, commits and flags. Example: `src/app/parser.py` gives
    `app/parser.py`.
    """
    names_in_order: dict[str, None] = {}
    for match in _NAME.finditer(text):
        name = match.group().strip("-./")
        if len(name) >= NAME_CHARS_MIN and name not in _TOOL_PARAMETERS and not name.isdigit():
            names_in_order["/".join(name.split("/")[-2:])] = None
    return list(names_in_order)


def words_beside(text: str, name: str) -> set[str]:
    """Return the words of four letters or more in `text` except `name`, in lower case."""
    return set(_CONTEXT_WORD.findall(text.lower().replace(name.lower(), " ")))


def read_lines(entries: Iterable[Entry]) -> list[Line]:
    """Return the lines of the main conversation, each id once, without subagents and entries that are no message.

    Words in the client's queue are left out: most stand there again as a prompt, and would count twice.
    """
    ids: set[str] = set()
    lines: list[Line] = []
    for index, entry in enumerate(entries):
        if entry.role is None or entry.kind is EntryKind.SIDECHAIN or (entry.id is not None and entry.id in ids):
            continue
        if is_queue_operation(entry):
            continue
        if entry.id is not None:
            ids.add(entry.id)
        summary = entry.kind is EntryKind.SUMMARY
        not_typed = summary or entry.extra.get("isMeta") is True
        lines.append(
            Line(
                index=index,
                role=entry.role,
                text=_content_text(entry.content),
                words="" if entry.role == "user" and not_typed else _words(entry.role, entry.content),
                reply=entry.reply or f"line {index}",
                summary=summary,
            )
        )
    return lines


def _needs(
    before: Sequence[Line], after: Sequence[Line]
) -> tuple[tuple[str, ...], dict[str, set[str]], frozenset[str]] | None:
    """Return the needed names, the words near them and the asked word sequences; None if there is too little."""
    conversation = [line for line in before if not line.summary]
    work = list(_first_replies(after))
    replies = {line.reply for line in work}
    if len(conversation) < _LINES_BEFORE_MIN or len(replies) < _REPLIES_MIN:
        return None
    text_before = "\n".join(line.text for line in before)
    needed = tuple(name for name in names("\n".join(line.text for line in work)) if name in text_before)
    if len(needed) < _NEEDED_MIN:
        return None
    return needed, _words_near(before, needed), _asked(conversation)


def _first_replies(after: Sequence[Line]) -> Iterator[Line]:
    """Yield the assistant's lines of the first TURNS replies."""
    replies: set[str] = set()
    for line in after:
        if line.role != "assistant":
            continue
        replies.add(line.reply)
        if len(replies) > TURNS:
            return
        yield line


def _words_near(before: Sequence[Line], needed: Sequence[str]) -> dict[str, set[str]]:
    """Return for each needed name the words on the same rows before the cut."""
    near: dict[str, set[str]] = {name: set() for name in needed}
    for line in before:
        present = [name for name in needed if name in line.text]
        if not present:
            continue
        for row in line.text.split("\n"):
            if len(row) > _ROW_CHARS:
                continue
            for name in present:
                if name in row:
                    near[name] |= words_beside(row, name)
    return near


def _asked(before: Sequence[Line]) -> frozenset[str]:
    """Return the word sequences of the person's last messages."""
    messages = [line.words for line in before if line.role == "user" and line.words][-_ASKED_MESSAGES:]
    return frozenset().union(*(word_sequences(_beginning(words)) for words in messages))


def _beginning(words: str) -> str:
    """Return at most the first _ASKED_CHARS characters, cut at a word."""
    return words if len(words) <= _ASKED_CHARS else words[:_ASKED_CHARS].rsplit(None, 1)[0]


def _chosen_points(lines: Sequence[Line], points: int) -> list[int]:
    """Return the indices of lines that the person spoke, nearest to even shares of the session, each once."""
    spoken = [at for at, line in enumerate(lines) if line.role == "user" and line.words]
    even = (len(lines) * share // (points + 1) for share in range(1, points + 1))
    nearest = {min(spoken, key=lambda at: abs(at - point)) for point in even} if spoken else set()
    return sorted(nearest)


def _words(role: str, content: Json) -> str:
    """Return the words of a message; of a person, without what the client inserted."""
    words = content if isinstance(content, str) else "\n".join(_text_blocks(content))
    if role != "user":
        return words
    typed = without_tagged(words, _ADDED_BY_CLIENT).strip()
    return "" if typed.startswith(_NOT_TYPED) else typed


def _text_blocks(content: Json) -> list[str]:
    """Return the texts of the text blocks."""
    return [block["text"] for block in content or [] if block["type"] == "text" and isinstance(block.get("text"), str)]


def _content_text(content: Json) -> str:
    """Return all text of a message: words, tool inputs and results."""
    if isinstance(content, str):
        return content
    return "\n".join(text for block in content or [] if (text := _block_text(block)))


def _block_text(block: Json) -> str:
    """Return all text of one content block."""
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "tool_use"}:
            return _unescape_whitespace(json.dumps(block.get("input", {}), ensure_ascii=False))
        case {"type": "tool_result"}:
            return _content_text(block.get("content"))
        case _:
            return ""


def _unescape_whitespace(dumped: str) -> str:
    r"""Return JSON text with its escapes `\n` and `\t` as real line breaks and tabs.

    Left escaped, their letters would join the word after them: `"\tparse_header"` would contain the name
    `tparse_header`.
    """
    return dumped.replace(r"\n", "\n").replace(r"\t", "\t")
