"""The lines of a transcript as the measures read them: who said what, one line of the file each."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie.models import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.models import Entry, Json

__all__ = ["Line", "lines_of", "said_by"]

_ADDED: Final = re.compile(r"<((?:command|local-command|ide)[-_]\w+|system-reminder)>.*?</\1>", re.DOTALL)
"""What a client puts among the person's words."""

_NOBODY: Final = ("[Request interrupted", "Caveat:", "Base directory for this skill")
"""Beginnings of texts in the person's place that no person typed."""


@dataclass(frozen=True, slots=True)
class Line:
    """One user or assistant line of the main conversation.

    `text` is everything it holds: words, the input of its calls as JSON with real line breaks and tabs, results.
    `said` are the words alone, without what a client added to them. `place` is the entry's place in the file; `reply`
    tells the lines of one reply together.
    """

    place: int
    role: str
    text: str
    said: str
    reply: str
    summary: bool


def lines_of(entries: Iterable[Entry]) -> list[Line]:
    """The conversation in `entries`, every id once; subagents' lines and what has no message are left out."""
    seen: set[str] = set()
    found: list[Line] = []
    for place, entry in enumerate(entries):
        if entry.role is None or entry.kind is EntryKind.SIDECHAIN or (entry.id is not None and entry.id in seen):
            continue
        if entry.id is not None:
            seen.add(entry.id)
        summary = entry.kind is EntryKind.SUMMARY
        nobody = summary or entry.extra.get("isMeta") is True
        found.append(
            Line(
                place=place,
                role=entry.role,
                text=_text(entry.content),
                said="" if entry.role == "user" and nobody else said_by(entry.role, entry.content),
                reply=entry.reply or f"line {place}",
                summary=summary,
            )
        )
    return found


def said_by(role: str, content: Json) -> str:
    """The words of a message: of a person without what the client put among them."""
    words = content if isinstance(content, str) else "\n".join(_texts(content))
    if role != "user":
        return words
    typed = _ADDED.sub("", words).strip()
    return "" if typed.startswith(_NOBODY) else typed


def _texts(content: Json) -> list[str]:
    return [block["text"] for block in content or [] if block["type"] == "text" and isinstance(block.get("text"), str)]


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(shown for block in content or [] if (shown := _block(block)))


def _block(block: Json) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "tool_use"}:
            return _unescape_whitespace(json.dumps(block.get("input", {}), ensure_ascii=False))
        case {"type": "tool_result"}:
            return _text(block.get("content"))
        case _:
            return ""


def _unescape_whitespace(dumped: str) -> str:
    r"""Return JSON text with its escapes `\n` and `\t` as real line breaks and tabs.

    Left escaped, their letters would join the word after them: `"\tparse_header"` would hold the name `tparse_header`.
    """
    return dumped.replace(r"\n", "\n").replace(r"\t", "\t")
