"""Render documents and their items from scratch, in the formats of seed 004 section 3."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from reverie.documents.escape import clean, escaped_heading, escaped_tag, one_line, tag, untagged
from reverie.documents.items import Wording
from reverie.documents.layout import stem_of
from reverie.documents.summary import WORDS_MAX, shortened
from reverie.lazy_regex import lazy_regex
from reverie.markdown_blocks import BlockKind, parse

if TYPE_CHECKING:
    from reverie.markdown_blocks import Block

_HEADINGS: Final = {"user": "User Facts", "project": "Project Facts"}
_MONTH: Final = lazy_regex(r"episodes/(?:.+-)?(\d{4}-\d{2})(?:-\d+)?\.md")
_FIELD_ORDER: Final = {"Summary": 0, "Date": 1, "Problem": 2, "Task": 2, "Solution": 3, "Lesson": 4}
_REQUIRED_FIELDS: Final = ("Summary", "Date")
_KEY_BYTES_MAX: Final = 64  # the parser takes no longer key as a field's
_REQUIRED_FIELD: Final = lazy_regex(r"[-*+] +(?:Summary|Date):")
_LIST_MARK: Final = lazy_regex(r"^[-*+] +")
_SUMMARY_FIELD: Final = lazy_regex(r"^(?P<head>[-*+][ \t]+Summary:)[ \t]*(?P<value>.*(?:\n[ \t]+\S.*)*)$", re.MULTILINE)
_FIELDS: Final = lazy_regex(r".*\n(?:(?:[-*+][ \t]|[ \t]+\S).*(?:\n|\Z))*")  # a heading and the lines right below it
_ITEM_OR_BLANK: Final = lazy_regex(r"[-*+][ \t]|\n|\Z")


def heading_of(path: str) -> str:
    """Return the title of a new document: `User Facts`, `2026-02 Episodes`, or the file's name in words."""
    month = _MONTH.fullmatch(path)
    if month is not None:
        return f"{month[1]} Episodes"
    stem = stem_of(path)
    return _HEADINGS.get(stem) or " ".join(word.capitalize() for word in re.split(r"[-_\s]+", stem) if word)


def updated_line(day: str) -> str:
    """Return the line with the day on which a file of facts was changed last."""
    return f"- Updated: {day}\n"


def section(words: Wording, day: str) -> str:
    """Return an episode as markdown: its heading with its tags, and its fields in the order of the format.

    Required fields that the words lack are made from them, and content that is in no field becomes a note.
    """
    title = _title(words)
    lines = [f"- {_key(key)}: {value}\n" for key, value in _all_fields(words, day_of(words, day))]
    note = "\n  ".join(_lines_not_in(words, "\n".join((title, *lines))))
    return _heading_line(title, words) + _section_body("".join(lines) + (f"- Note: {note}" if note else ""))


def section_of_update(words: Wording, day: str) -> str:
    """Return an updated episode: its content stays as it is if it is one section, whatever follows its fields."""
    words = updated_wording(words)
    text = f"{_heading_line(_title(words), words)}{_section_body(words.content)}"
    blocks = parse(f"{text}## Next\n".encode(), sections=True)
    is_one_section = [block.kind for block in blocks] == [BlockKind.SECTION] * 2
    return text if is_one_section and words.content else section(words, day)


def updated_wording(words: Wording) -> Wording:
    """Return the wording of an update: its content, and of the episode's old fields only the required ones it lacks.

    Summary and day stay if the content names none; for a content without fields a new summary is made.
    """
    old = {key: one_line(value) for key, value in words.fields if value.strip()}
    body, named = clean(words.content), {key for key, _ in _own_fields(replace(words, fields=()))}
    updated = replace(words, content=body, title=_title(words), fields=(), day=old.get("Date") or words.day)
    missing = {key: old[key] for key in _REQUIRED_FIELDS if key in old and key not in named}
    if not missing:
        return updated
    if not named:
        missing = missing | {"Summary": short_summary(updated)}
        # One line of prose: nothing more than its summary, or the task that the summary shortens.
        body = body if "\n" in body else "" if missing["Summary"] == body else f"- Task: {body}"
    lines = [f"- {key}: {missing[key]}" for key in _REQUIRED_FIELDS if key in missing]
    first, _, rest = body.partition("\n")
    if _LIST_MARK.sub("", first).startswith("Summary:"):
        return replace(updated, content="\n".join((first, *lines, rest)).rstrip())
    separator = [] if not body or _LIST_MARK.match(first) else [""]
    return replace(updated, content="\n".join((*lines, *separator, body)).rstrip())


def day_of(words: Wording, day: str) -> str:
    """Return the day of an episode, `YYYY-MM-DD`: its `Date`, else the day that is known, else `day`."""
    date = next((value for key, value in _own_fields(words) if key == "Date"), None)
    return (date or words.day or day)[:10]


def short_summary(words: Wording) -> str:
    """Return an episode in ten words: its problem and solution if they fit, else its title, or how it begins."""
    fields = {key: one_line(value) for key, value in _own_fields(words) if key not in _REQUIRED_FIELDS}
    parts = [fields[key] for key in ("Problem", "Task", "Solution") if key in fields] or list(fields.values())[:1]
    if parts:
        fitting = (text for text in (" → ".join(parts), parts[0]) if len(text.split()) <= WORDS_MAX)
        return next(fitting, None) or shortened(words.title or parts[0])
    prose = takewhile(lambda line: not line.startswith(("```", "~~~")), clean(words.content).split("\n"))
    lines = (_LIST_MARK.sub("", line.strip()) for line in prose if not _REQUIRED_FIELD.match(line))
    return shortened(" ".join(lines)) or shortened(words.title or "")


def _title(words: Wording) -> str:
    """Return an episode's title: its own, else the first words of its content."""
    return one_line(words.title or shortened(words.content)) or "Untitled"


def _heading_line(title: str, words: Wording) -> str:
    tags = dict.fromkeys(word for word in map(tag, words.tags) if word)
    return " ".join(("##", escaped_heading(title), *(f"#{word}" for word in tags))) + "\n"


def _section_body(text: str) -> str:
    """Return a section's text with a last line that would parse as tags escaped, and one newline at its end."""
    return escaped_tag(text.rstrip("\n")) + "\n"


def _own_fields(words: Wording) -> list[tuple[str, str]]:
    """Return the non-empty fields of an episode, from its `fields` or from `Name: value` lines of its content."""
    fields = words.fields or parse(f"## Told\n{clean(words.content)}\n".encode(), sections=True)[0].fields
    return [(key, value) for key, value in fields if value.strip()]


def _all_fields(words: Wording, day: str) -> list[tuple[str, str]]:
    """Return an episode's fields in the order of the format, the missing required ones added."""
    fields = [(key, one_line(value)) for key, value in _own_fields(words)]
    named = {key for key, _ in fields}
    if not fields and one_line(words.content) != shortened(words.content):
        fields.append(("Task", one_line(words.content)))
    if "Summary" not in named:
        fields.append(("Summary", short_summary(words)))
    if "Date" not in named:
        fields.append(("Date", day))
    return sorted(fields, key=lambda field: _FIELD_ORDER.get(field[0], len(_FIELD_ORDER)))


def _lines_not_in(words: Wording, text: str) -> list[str]:
    """Return the lines of the content that are nowhere in `text`."""
    text = f" {one_line(text)} "
    lines = (line for line in clean(words.content).split("\n") if line.strip())
    return [line.strip() for line in lines if f" {one_line(_LIST_MARK.sub('', line.strip()))} " not in text]


def _key(key: str) -> str:
    """Return a field's key as the parser takes it: short, one line, and without the characters that end it."""
    text = re.sub(r"[:`/\s]+", " ", clean(key)).strip() or "Note"
    while len(text.encode()) > _KEY_BYTES_MAX:
        text = text[:-1]
    return text


def with_summaries(entry: str) -> str:
    """Return markdown whose sections each have a summary of at most ten words; its lines end with a newline.

    A missing summary is made from the section's words. Of a longer one the first ten words are the summary, and the
    whole of it becomes a note. A section in which this would change anything else stays as it is.
    """
    data = entry.encode("utf-8", "replace")
    for block in reversed(parse(data, sections=True)):
        if block.kind is BlockKind.SECTION:
            text = data[block.start : block.end].decode()
            data = data[: block.start] + _with_summary(text, block).encode() + data[block.end :]
    return data.decode()


def _with_summary(text: str, block: Block) -> str:
    """Return one section with a summary of at most ten words."""
    summary = next((value for key, value in block.fields if key == "Summary"), "").strip()
    if summary and "\n" not in summary and len(summary.split()) <= WORDS_MAX:
        return text
    if summary:
        short = shortened(summary)
    else:
        short = short_summary(Wording(untagged(text.partition("\n")[2].strip())[0], title=block.text))
    line = _SUMMARY_FIELD.search(text, 0, len(text) if summary else _end_of_fields(text))
    if line is not None:
        after = f"{text[: line.start()]}{line['head']} {short}{text[line.end() :]}"
    else:
        head, _, body = text.partition("\n")
        after = f"{head}\n- Summary: {short}\n" + ("" if _ITEM_OR_BLANK.match(body) else "\n") + body
    if summary and short != one_line(summary):
        end = _end_of_fields(after)
        after = f"{after[:end].rstrip()}\n- Note: {one_line(summary)}\n{after[end:]}"
    return after if _is_same_episode(after, block, short) else text


def _end_of_fields(text: str) -> int:
    """Return the offset after a section's heading and fields."""
    fields = _FIELDS.match(text)
    return 0 if fields is None else fields.end()


def _is_same_episode(text: str, before: Block, summary: str) -> bool:
    """Return True if a text parses to one section with the fields that it had before, and this summary."""
    blocks = parse(text.encode(), sections=True)
    if [block.kind for block in blocks] != [BlockKind.SECTION] or blocks[0].text != before.text:
        return False
    fields = dict(blocks[0].fields)
    same = all(fields.get(key) == value for key, value in before.fields if key not in {"Summary", "Note"})
    return same and fields.get("Summary") == summary
