"""Messages and sections of documents as the units that a search finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reverie.lazy_regex import lazy_regex
from reverie.models import EntryKind
from reverie.replies import with_replies
from reverie.search.weights import TOOL
from reverie.text_index import IndexEntry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.models import Entry, Json

VERSION: Final = 5
"""Raise it when an entry or document gives other units, terms or groups than before: saved indexes are built again."""

K1: Final = 0.6
B: Final = 0.6
"""BM25 for messages: they are short, so that a second mention says less than in a document."""

CALL_CHARS: Final = 400  # of a tool's input: the command or path is at its beginning
RESULT_CHARS: Final = 400  # of the beginning of a tool's result; what is between is mostly found by the file's path
RESULT_END_CHARS: Final = 800  # of its end, where errors are
TEXT_CHARS: Final = 20_000  # of what was said; longer ones are pasted
SECTION_CHARS: Final = 1_200  # of a section of a document: a longer one is cut between its paragraphs

_NAME = lazy_regex(r"([A-Z][\w'-]{1,29})(?: [A-Z][\w'-]{1,29})?: ")
_TAG = lazy_regex(r"<[a-z][\w-]*[ >]")
_HEADING = lazy_regex(r"#{1,6}\s")


def message_unit(thread: str, agent: str | None, entry: Entry, at_ms: int | None) -> IndexEntry | None:
    """Return the index entry of a thread's entry; None for one without text."""
    if entry.kind is not EntryKind.SPEECH:
        return None
    content = with_replies(entry.content, entry.extra)
    said = said_in(content)
    text = _text(content, said)
    if not text:
        return None
    said = said.strip()
    is_tool = is_of_tools(entry.role, said)
    groups = ["is:message", f"thread:{thread}", TOOL if is_tool else f"role:{entry.role}"]
    if agent is not None:
        groups.append(f"agent:{agent}")
    if said.endswith("?"):
        groups.append("asks")
    if (name := _NAME.match(said)) is not None:
        groups.append(f"by:{name[1].lower()}")
    return IndexEntry(f"{thread}/{entry.seq}", text, groups=groups, at=at_ms)


def is_of_tools(role: str | None, said: str) -> bool:
    """Return True for a message without words, or that a client wrote in its user's name: `<task-notification> …`."""
    return not said.strip() or (role == "user" and _TAG.match(said) is not None)


def message_text(entry: Entry) -> str:
    """Return the searchable text of an entry: words, then tool calls and shortened results; empty for others."""
    if entry.kind is not EntryKind.SPEECH:
        return ""
    return content_text(with_replies(entry.content, entry.extra))


def content_text(content: Json) -> str:
    """Return the searchable text of message content, as `message_text`; empty where there is none."""
    return _text(content, said_in(content))


def _text(content: Json, said: str) -> str:
    """Return the searchable text of message content; `said` is its text without tool calls and results."""
    if not content:
        return ""
    if isinstance(content, str):
        return content[:TEXT_CHARS] if not content.isspace() else ""
    parts = [said[:TEXT_CHARS], *[_of_tool(block) for block in content]]
    return "\n".join([part for part in parts if part and not part.isspace()])


def said_in(content: Json) -> str:
    """Return the words of a message without tool calls and results."""
    if isinstance(content, str):
        return content
    texts = [block.get("text") for block in content or [] if block.get("type") == "text"]
    return "\n".join([text for text in texts if isinstance(text, str)])


def _of_tool(block: dict[str, Any]) -> str:
    """Return the beginning of a tool's input or result; empty for another block."""
    if block.get("type") == "tool_use":
        return f"{block.get('name', '')} {' '.join(_strings(block.get('input')))}"[:CALL_CHARS]
    if block.get("type") == "tool_result":
        content = block.get("content")
        text = said_in(content) if isinstance(content, str | list) else ""
        if len(text) <= RESULT_CHARS + RESULT_END_CHARS:
            return text
        return f"{text[:RESULT_CHARS]} … {text[-RESULT_END_CHARS:]}"
    return ""


def _strings(value: Json) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def document_units(path: str, text: str, at_ms: int | None) -> list[IndexEntry]:
    """Return the index entries of a document: its sections, numbered from 1.

    Their ids begin with a slash, which no id of a thread has: message 1 of a thread `notes.md` is `notes.md/1`,
    and section 1 of the document `notes.md` is `/notes.md/1`.
    """
    groups = ["is:document", f"document:{path}"]
    return [
        IndexEntry(f"/{path}/{number}", f"{heading}\n{body}", groups=groups, at=at_ms)
        for number, (heading, body) in enumerate(_sections(text), 1)
    ]


def section_of(text: str, number: int) -> tuple[str, str] | None:
    """Return heading and text of a section of a document by its number; None where there is no such section."""
    return next((section for index, section in enumerate(_sections(text), 1) if index == number), None)


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield heading and text of every section: the lines from one heading to the next, long ones cut between lines."""
    heading, lines, size = "", list[str](), 0
    for line in text.splitlines():
        is_heading = _HEADING.match(line) is not None
        if lines and (is_heading or size + len(line) > SECTION_CHARS):
            yield heading, "\n".join(lines)
            lines, size = [], 0
        if is_heading:
            heading = line.lstrip("#").strip()
        elif line.strip():
            lines.append(line)
            size += len(line) + 1
    if lines:
        yield heading, "\n".join(lines)


def is_number_of(unit: str) -> tuple[str, int]:
    """Split the id of a search unit: return its thread or document, and the number of the message or section in it."""
    name, _, number = unit.rpartition("/")
    return name.removeprefix("/"), int(number)
