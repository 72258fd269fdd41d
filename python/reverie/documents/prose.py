"""Prose in memory files, which is no memory: make bullets of it where a text has no memory, or find it for a note."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.documents.escape import bullet, clean
from reverie.documents.layout import DIVIDED, DocumentKind, kind_of
from reverie.documents.parse import parse_source
from reverie.errors import ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.markdown_blocks import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator


_PARAGRAPHS: Final = lazy_regex(r"\n[ \t]*\n")
_ENDING: Final = lazy_regex(r"\r\n|\r|\n")
# A line that is code, a table, a quote, HTML, a heading or a rule: what of it is one memory, only its author knows.
_STRUCTURE: Final = lazy_regex(r" {0,3}(?:```|~~~|\||>|<|#{1,6}(?:\s|$)|={3,}\s*$|(?:[-*_][ \t]*){3,}$)|\t| {4,}\S")
_INDENTED_MARK: Final = lazy_regex(r"([ \t]+)(?:[-*+]|\d{1,3}[.)])[ \t]+\S")
_SUMMARY: Final = lazy_regex(r" {0,3}>[ \t]*Summary:", re.IGNORECASE)
# How an item begins in lists that are no markdown bullets: a number, or a sign that text programs use for a bullet.
_LIST_MARK: Final = lazy_regex(r" {0,3}(?:\d{1,3}[.)]|[•‣◦▪●–])[ \t]+")
_SUMMARY_FORM: Final = "give the file's summary as `summary`, beside `entry`"
_WORD: Final = lazy_regex(r"\w")
_EXCERPTS: Final = 3  # paragraphs that a note shows
_EXCERPT_CHARS: Final = 60
_FACTS_FORM: Final = 'write each memory as a bullet, such as "- The tests run with `make test`"'
_EPISODES_FORM: Final = 'begin each episode with "## Title", then "- Summary: ...", "- Date: ..." and "- Lesson: ..."'


def count_items(path: str, text: str) -> int:
    """Return how many memories a document of this text has as it is, before prose becomes bullets."""
    return len(parse_source(path, text).document.items)


def with_bullets(path: str, text: str) -> tuple[str, int]:
    """Return a text for `path` in which prose without a memory is a bullet a paragraph, and the number of bullets made.

    A text that has a memory, or no words beside headings, stays as it is, and so does one for a path that has no
    memories. Example: for `facts/user.md`, "Ann sails" becomes "- Ann sails".
    Raises ValidationError, with the form of a memory, where words would not be remembered and it is not plain which of
    them belong together, as in code, a table, or an episode without a heading.
    """
    source = parse_source(path, text)
    kind = source.document.kind
    if source.document.items or kind not in DIVIDED or not path.endswith(".md"):
        return text, 0
    prose = [block for block in source.blocks if block.kind is BlockKind.OPAQUE]
    texts = [source.data[block.start : block.end].decode() for block in prose]
    if not any(part.strip("\ufeff \t\r\n") for part in texts):
        return text, 0
    if kind is DocumentKind.EPISODES:
        raise _not_remembered(path, _EPISODES_FORM)
    if any(_STRUCTURE.match(line) for part in texts for line in _ENDING.split(part)):
        raise _not_remembered(path, _FACTS_FORM)
    made = 0
    pieces: list[str] = []
    for block in source.blocks:
        part = source.data[block.start : block.end].decode()
        if block.kind is not BlockKind.OPAQUE or not part.strip():
            pieces.append(part)
            continue
        bullets = [bullet(content) for content in _contents(part)]
        made += len(bullets)
        pieces.append(part[: len(part) - len(part.lstrip("\r\n"))] + "".join(bullets))
    after = "".join(pieces)
    if count_items(path, after) != made:
        raise _not_remembered(path, _FACTS_FORM)
    return after, made


def entry_with_bullets(path: str, text: str | None, entry: str) -> tuple[str, int]:
    """Return an entry to append to a file of facts as `with_bullets` does, and the number of bullets made.

    A list that is indented as a whole begins at the margin: below the last memory of `text` (None for a file that does
    not exist yet) it would be a part of that. Raises ValidationError as well for an entry that remembers nothing, such
    as a heading alone, and for a summary line, which would stand in the middle of an existing file.
    """
    lines = _ENDING.split(entry.strip("\r\n"))
    if text is not None and any(map(_SUMMARY.match, lines)):
        raise ValidationError(
            f"the summary line of {path} is not appended", hint=_SUMMARY_FORM, field="entry", reason="form"
        )
    if indented := _INDENTED_MARK.match(lines[0]):
        entry = "\n".join(line.removeprefix(indented[1]) for line in lines)
    entry, made = with_bullets(path, entry)
    if not count_items(path, entry):
        raise _not_remembered(path, _FACTS_FORM)
    return entry, made


def prose_note(path: str, text: str, before: str) -> str:
    """Return a note for the agent about paragraphs of `text` that are no memory; empty without any.

    Paragraphs that the text `before` its change had too are left out: they are the words of someone else, such as the
    introduction of a file, and are not meant to be memories. Example: "- Ann sails", a blank line and "Ben rows." are
    one memory, and the note shows "Ben rows.".
    """
    old = set(_paragraphs(path, before))
    new = [paragraph for paragraph in _paragraphs(path, text) if paragraph not in old]
    if not new:
        return ""
    unit = '"## Title" section' if kind_of(path, text) is DocumentKind.EPISODES else '"- " bullet'
    shown = ", ".join(f'"{_shortened(paragraph)}"' for paragraph in new[:_EXCERPTS])
    more = f" and {len(new) - _EXCERPTS:,} more" if len(new) > _EXCERPTS else ""
    return f"only a {unit} is a memory; kept in the file, but not a memory: {shown}{more}"


def _paragraphs(path: str, text: str) -> list[str]:
    """Return the paragraphs that are neither memory, heading nor summary; none for a path that has no memories."""
    source = parse_source(path, text)
    if source.document.kind not in DIVIDED or not path.endswith(".md"):
        return []
    prose = [source.data[block.start : block.end].decode() for block in source.blocks if block.kind is BlockKind.OPAQUE]
    parts = [paragraph.strip() for part in prose for paragraph in _PARAGRAPHS.split("\n".join(_ENDING.split(part)))]
    return [part for part in parts if _WORD.search(part)]


def _shortened(paragraph: str) -> str:
    line = " ".join(paragraph.split())
    return line if len(line) <= _EXCERPT_CHARS else line[:_EXCERPT_CHARS].rstrip() + "…"


def _contents(part: str) -> Iterator[str]:
    """Yield the words of each bullet to make: of a paragraph, or of an item of a list without markdown bullets."""
    for paragraph in _PARAGRAPHS.split("\n".join(_ENDING.split(part))):
        lines = [line.strip() for line in paragraph.split("\n") if line.strip()]
        item: list[str] = []
        for line in lines:
            if _LIST_MARK.match(line) and item:
                yield clean("\n".join(item))
                item = []
            item.append(_LIST_MARK.sub("", line, count=1))
        if item:
            yield clean("\n".join(item))


def _not_remembered(path: str, form: str) -> ValidationError:
    return ValidationError(f"nothing of this would be remembered in {path}", hint=form, field="content", reason="form")
