"""Puts an entry at the end of a document: behind its last item, and before the line that says its day."""

from __future__ import annotations

import re
from typing import Final

from reverie.documents.document_kind import Form, form_of, is_conflict_copy
from reverie.documents.episode import summarized
from reverie.documents.lines import ending_of
from reverie.documents.read import is_updated_line, parsed
from reverie.documents.render import heading_of

__all__ = ["appended", "is_listed"]

_ENDING: Final = re.compile(r"\r\n|\r|\n")
_LIST: Final = "MEMORY.md"


def appended(path: str, text: str | None, entry: str) -> str:
    """The document with markdown at its end; `text` None is a document that is not there yet.

    Lines end as those of the document do. An episode without a summary of ten words gets one. A section, and whatever
    follows a paragraph, is parted by an empty line.
    """
    form = form_of(path, text or "")
    if text is None:
        text = f"# {heading_of(path)}\n" if form in {Form.FACTS, Form.EPISODES} else ""
    ending = ending_of(text) if text else "\n"
    lines = _ENDING.split(entry.strip("\r\n"))
    if form is Form.EPISODES:
        lines = summarized("\n".join((*lines, ""))).rstrip("\n").split("\n")
    added = ending.join(lines) + ending
    place = _place(path, text)
    before, after = text[:place], text[place:]
    if before and not before.endswith(("\n", "\r")):
        before += ending
    if before.strip() and not _follows(before, lines[0]):
        before += ending
    return before + added + after


def is_listed(path: str) -> bool:
    """Whether agents are told of a document at the beginning of a task: every markdown file but copies and indexes."""
    return path.endswith((".md", ".txt")) and path != _LIST and not is_conflict_copy(path)


def _place(path: str, text: str) -> int:
    """Where the entry goes, in characters: before a last `- Updated:` line of facts, else at the end."""
    parts = parsed(path, text)
    blocks = [block for block in parts.blocks if parts.data[block.start : block.end].strip()]
    if parts.page.form is Form.FACTS and blocks and is_updated_line(blocks[-1]):
        return len(parts.data[: blocks[-1].start].decode())
    return len(text)


def _follows(before: str, first: str) -> bool:
    """Whether the entry may stand right below what is there: an item below an item, anything below an empty line."""
    last = _ENDING.split(before.rstrip("\r\n"))[-1]
    empty = len(_ENDING.findall(before[len(before.rstrip("\r\n")) :])) > 1
    item = first.startswith(("- ", "* ", "+ "))
    return empty or (item and last.lstrip().startswith(("- ", "* ", "+ ")))
