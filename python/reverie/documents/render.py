"""Writes documents and their items from nothing, in the formats of seed 004 section 3."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from reverie.blocks import BlockKind, parse
from reverie.documents.document_kind import stem_of
from reverie.documents.lines import clean, escaped_heading, escaped_tag, one_line, tag
from reverie.documents.topics import WORDS_MAX, shortened

if TYPE_CHECKING:
    from reverie.documents.changes import Wording

__all__ = ["day_of", "heading_of", "in_short", "section", "section_again", "told_again", "updated_line"]

_HEADINGS: Final = {"user": "User Facts", "project": "Project Facts"}
_MONTH: Final = re.compile(r"episodes/(\d{4}-\d{2})\.md")
_FIELD_ORDER: Final = {"Summary": 0, "Date": 1, "Problem": 2, "Task": 2, "Solution": 3, "Lesson": 4}
_NEEDED: Final = ("Summary", "Date")
_KEY_BYTES_MAX: Final = 64
_FIELD: Final = re.compile(r"[-*+] +(?:Summary|Date):")
_MARK: Final = re.compile(r"^[-*+] +")


def heading_of(path: str) -> str:
    """The first heading of a new document: `User Facts`, `2026-02 Episodes`, or the file's name in words."""
    month = _MONTH.fullmatch(path)
    if month is not None:
        return f"{month[1]} Episodes"
    stem = stem_of(path)
    return _HEADINGS.get(stem) or " ".join(word.capitalize() for word in re.split(r"[-_\s]+", stem) if word)


def updated_line(day: str) -> str:
    """The line that says when a file of facts was changed last."""
    return f"- Updated: {day}\n"


def section(words: Wording, day: str) -> str:
    """An episode: its heading with its tags, and its fields in the order of the format.

    What the format needs and the words lack is made from them, and words that stand in no field become a note.
    """
    title = _title(words)
    lines = [f"- {_key(key)}: {value}\n" for key, value in _fields(words, day_of(words, day))]
    note = "\n  ".join(_unsaid(words, "\n".join((title, *lines))))
    return _headed(title, words) + _ended("".join(lines) + (f"- Note: {note}" if note else ""))


def section_again(words: Wording, day: str) -> str:
    """An episode told again: its content stays as it is where it is one section, whatever follows its fields."""
    words = told_again(words)
    text = f"{_headed(_title(words), words)}{_ended(words.content)}"
    blocks = parse(f"{text}## Next\n".encode(), sections=True)
    is_one = [block.kind for block in blocks] == [BlockKind.SECTION] * 2
    return text if is_one and words.content else section(words, day)


def told_again(words: Wording) -> Wording:
    """What an update makes an episode say: its content, and of the fields that it had no more than it still needs.

    Its summary and its day stay where the content names none; for a content without fields a summary is made.
    """
    had = {key: one_line(value) for key, value in words.fields if value.strip()}
    body, told = clean(words.content), {key for key, _ in _told(replace(words, fields=()))}
    anew = replace(words, content=body, title=_title(words), fields=(), day=had.get("Date") or words.day)
    lacks = {key: had[key] for key in _NEEDED if key in had and key not in told}
    if not lacks:
        return anew
    if not told:
        lacks = lacks | {"Summary": in_short(anew)}
        body = body if "\n" in body else "" if lacks["Summary"] == body else f"- Task: {body}"
    lines = [f"- {key}: {lacks[key]}" for key in _NEEDED if key in lacks]
    first, _, rest = body.partition("\n")
    if _MARK.sub("", first).startswith("Summary:"):
        return replace(anew, content="\n".join((first, *lines, rest)).rstrip())
    apart = [] if not body or _MARK.match(first) else [""]
    return replace(anew, content="\n".join((*lines, *apart, body)).rstrip())


def day_of(words: Wording, day: str) -> str:
    """When an episode happened, `YYYY-MM-DD`: its `Date`, else the day that is known, else `day`."""
    dated = next((value for key, value in _told(words) if key == "Date"), None)
    return (dated or words.day or day)[:10]


def in_short(words: Wording) -> str:
    """An episode in ten words: its problem and how it was solved, else how its content begins, else its title."""
    told = {key: one_line(value) for key, value in _told(words) if key not in _NEEDED}
    said = [told[key] for key in ("Problem", "Task", "Solution") if key in told] or list(told.values())[:1]
    if said:
        both = " → ".join(said)
        return both if len(both.split()) <= WORDS_MAX else shortened(said[0])
    prose = takewhile(lambda line: not line.startswith(("```", "~~~")), clean(words.content).split("\n"))
    lines = (_MARK.sub("", line.strip()) for line in prose if not _FIELD.match(line))
    return shortened(" ".join(lines)) or shortened(words.title or "")


def _title(words: Wording) -> str:
    return one_line(words.title or shortened(words.content)) or "Untitled"


def _headed(title: str, words: Wording) -> str:
    tags = dict.fromkeys(word for word in map(tag, words.tags) if word)
    return " ".join(("##", escaped_heading(title), *(f"#{word}" for word in tags))) + "\n"


def _ended(text: str) -> str:
    """What stands below a heading, with a last line that says no tags."""
    return escaped_tag(text.rstrip("\n")) + "\n"


def _told(words: Wording) -> list[tuple[str, str]]:
    """The fields that an episode has, be it as such or as lines of its content; empty ones are none."""
    fields = words.fields or parse(f"## Told\n{clean(words.content)}\n".encode(), sections=True)[0].fields
    return [(key, value) for key, value in fields if value.strip()]


def _fields(words: Wording, day: str) -> list[tuple[str, str]]:
    fields = [(key, one_line(value)) for key, value in _told(words)]
    known = {key for key, _ in fields}
    if not fields and one_line(words.content) != shortened(words.content):
        fields.append(("Task", one_line(words.content)))
    if "Summary" not in known:
        fields.append(("Summary", in_short(words)))
    if "Date" not in known:
        fields.append(("Date", day))
    return sorted(fields, key=lambda field: _FIELD_ORDER.get(field[0], len(_FIELD_ORDER)))


def _unsaid(words: Wording, told: str) -> list[str]:
    """The lines of the content that stand nowhere in what is told already."""
    told = f" {one_line(told)} "
    lines = (line for line in clean(words.content).split("\n") if line.strip())
    return [line.strip() for line in lines if f" {one_line(_MARK.sub('', line.strip()))} " not in told]


def _key(key: str) -> str:
    """A field's key as the parser takes it: short, one line, and without the signs that end it."""
    text = re.sub(r"[:`/\s]+", " ", clean(key)).strip() or "Note"
    while len(text.encode()) > _KEY_BYTES_MAX:
        text = text[:-1]
    return text
