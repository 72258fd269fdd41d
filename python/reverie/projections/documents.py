"""Writes memories as the markdown documents that people read and edit, in the formats of seed 004 section 3."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from reverie.documents.lines import bullet, clean, escaped, one_line
from reverie.documents.topics import shortened, summary_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.models import Memory

__all__ = ["documents", "episodes_text", "facts_text", "is_projected", "summary_of"]

_HEADINGS = {"user": "User Facts", "project": "Project Facts"}
_MONTH = re.compile(r"episodes/(\d{4}-\d{2})\.md")
_FIELD_ORDER = {"Summary": 0, "Date": 1, "Problem": 2, "Task": 2, "Solution": 3, "Lesson": 4}
_KEY_BYTES_MAX = 64
_SUMMARY = re.compile(r"^ {0,3}>[ \t]*Summary:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)[ \t]*$", re.MULTILINE)


def documents(memories: Iterable[Memory]) -> dict[str, bytes]:
    """The text (UTF-8) of every document under `facts/` and `episodes/`, by its path, in order of the paths.

    Memories of other documents are whole files of their own and are not written here.
    """
    by_path: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        if is_projected(memory.document):
            by_path[memory.document].append(memory)
    return {
        path: (episodes_text if path.startswith("episodes/") else facts_text)(path, found).encode("utf-8", "replace")
        for path, found in sorted(by_path.items())
    }


def is_projected(path: str) -> bool:
    """Whether a path is one that `documents` writes from memories."""
    return path.startswith(("facts/", "episodes/")) and path.endswith(".md")


def facts_text(path: str, memories: Sequence[Memory]) -> str:
    """A document of bullets: heading, summary, one item for each memory, and the day of the last change."""
    found = sorted(memories, key=_place)
    items = "".join(bullet(memory.content, memory.tags) for memory in found)
    updated = max(memory.updated_at for memory in found)[:10]
    return f"# {_heading(path)}\n\n> Summary: {summary_line(found)}\n\n{items}- Updated: {updated}\n"


def episodes_text(path: str, memories: Sequence[Memory]) -> str:
    """A document of sections, one for each episode, by day."""
    found = sorted(memories, key=lambda memory: (_day(memory), *_place(memory)))
    month = _MONTH.fullmatch(path)
    heading = f"{month[1]} Episodes" if month else _heading(path)
    return f"# {heading}\n\n> Summary: {summary_line(found)}\n\n" + "\n".join(map(_section, found))


def summary_of(text: str) -> str:
    """The file-level summary of a document's text, whoever wrote it: its `> Summary:` line, else its first heading."""
    found = _SUMMARY.search(text)
    if found is not None and found[1]:
        return found[1]
    heading = _HEADING.search(text)
    return shortened(heading[1]) if heading is not None else ""


def _heading(path: str) -> str:
    stem = path.rsplit("/", 1)[-1].removesuffix(".md")
    return _HEADINGS.get(stem) or " ".join(word.capitalize() for word in re.split(r"[-_\s]+", stem) if word)


def _place(memory: Memory) -> tuple[int, str, str]:
    return memory.order, memory.created_at, memory.id


def _section(memory: Memory) -> str:
    title = one_line(memory.title or shortened(memory.content)) or "Untitled"
    title = escaped(re.sub(r"(^|\s)#(?=#*$)", r"\1\\#", title))  # a closing `#` would belong to the heading's mark
    lines = [f"- {_key(key)}: {one_line(value)}" for key, value in _fields(memory)]
    return "\n".join((f"## {title}", *lines)) + "\n"


def _fields(memory: Memory) -> list[tuple[str, str]]:
    """The fields of an episode in the order of the format; what the format needs and the memory lacks is made."""
    fields = [(key, value) for key, value in memory.fields if value.strip()]
    known = {key for key, _ in fields}
    if not fields and one_line(memory.content) != shortened(memory.content):
        fields.append(("Task", memory.content))
    if "Summary" not in known:
        fields.append(("Summary", shortened(memory.content or memory.title or "")))
    if "Date" not in known:
        fields.append(("Date", _day(memory)))
    return sorted(fields, key=lambda field: _FIELD_ORDER.get(field[0], len(_FIELD_ORDER)))


def _day(memory: Memory) -> str:
    dated = next((value for key, value in memory.fields if key == "Date" and value.strip()), None)
    return (dated or str(memory.provenance.get("at") or memory.created_at))[:10]


def _key(key: str) -> str:
    """A field's key as the parser takes it: short, one line, and without the signs that end it."""
    text = re.sub(r"[:`/\s]+", " ", clean(key)).strip() or "Note"
    while len(text.encode()) > _KEY_BYTES_MAX:
        text = text[:-1]
    return text
