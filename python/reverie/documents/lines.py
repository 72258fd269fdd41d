"""Writes one memory as the lines of a markdown document, so that the block parser reads the same words back."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from reverie.blocks import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "bullet",
    "clean",
    "ending_of",
    "escaped",
    "escaped_heading",
    "escaped_tag",
    "one_line",
    "tag",
    "unescaped",
    "unescaped_heading",
    "unescaped_tag",
    "untagged",
]

_TAG_BYTES_MAX: Final = 64  # the parser takes no longer word as a tag
_NOT_TAG: Final = re.compile(r"[^\w\-/.]+")
# A last word that may read as a tag; which letters beyond ASCII do so is the parser's to say, so all are taken for one.
_TAG_LIKE: Final = r"#(?:[\w\-/.]|[^\x00-\x7f\s])*(?:[^\W\d_]|[^\x00-\x7f\s])(?:[\w\-/.]|[^\x00-\x7f\s])*\Z"
_RULE_LIKE: Final = r"(?:[-\t ]+|[*\t ]+)$"  # behind the mark of an item it would make a line of nothing else
_UPDATED_LIKE: Final = r": *\d{4}-\d{2}-\d{2}\Z"
_CLOSING_LIKE: Final = r"#+\Z"  # at the end of a heading it belongs to the heading's mark
_MARKS: Final = frozenset({"-", "*", "+"})
_HEADS: Final = re.compile(rf"\A(?=\\*{_RULE_LIKE})", re.MULTILINE)
_ESCAPED_HEAD: Final = re.compile(rf"\A\\(?=\\*{_RULE_LIKE})", re.MULTILINE)
_DATES: Final = re.compile(rf"\AUpdated(?=\\*{_UPDATED_LIKE})")
_ESCAPED_DATE: Final = re.compile(rf"\AUpdated\\(?=\\*{_UPDATED_LIKE})")
_TAGS: Final = re.compile(rf"(?<!\S)(?=\\*{_TAG_LIKE})")
_ESCAPED_TAG: Final = re.compile(rf"(?<!\S)\\(?=\\*{_TAG_LIKE})")
_CLOSES: Final = re.compile(rf"(?<!\S)(?=\\*{_CLOSING_LIKE})")
_ESCAPED_CLOSE: Final = re.compile(rf"(?<!\S)\\(?=\\*{_CLOSING_LIKE})")


def bullet(content: str, tags: Iterable[str] = ()) -> str:
    """`- content #tag`, with a line ending; further lines are indented so that they belong to the item.

    What would not be read as these words is escaped by a backslash; `unescaped` takes it away again.
    """
    text = escaped(clean(content))
    if not text:
        return "-\n"
    first, *rest = text.split("\n")
    lines = [f"- {first}", *(f"  {line}" if line else "" for line in rest)]
    words = " ".join(f"#{word}" for word in dict.fromkeys(map(tag, tags)) if word)
    if words:
        # Behind several lines the tags stand alone: the last one may be the end of a code fence.
        lines[-1:] = [lines[-1], f"  {words}"] if rest else [f"{lines[-1]} {words}"]
    return "\n".join(lines) + "\n"


def clean(content: str) -> str:
    r"""The content as a document can hold it: `\\n` line endings, no control characters, no space around it."""
    text = content.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    text = "".join(char for char in text if char in "\n\t" or unicodedata.category(char) != "Cc")
    return "\n".join("" if not line.strip() else line.rstrip() for line in text.split("\n")).strip()


def ending_of(text: str) -> str:
    """What ends most lines of a text."""
    both = text.count("\r\n")
    counts = {"\n": text.count("\n") - both, "\r\n": both, "\r": text.count("\r") - both}
    return max(counts, key=lambda ending: counts[ending])


def one_line(content: str) -> str:
    """The content with all white space as single spaces."""
    return " ".join(clean(content).split())


def tag(word: str) -> str:
    """A tag as it may stand behind `#`, lower case; empty when nothing of it can."""
    text = word.strip().lower()
    if text.isascii() or parse(f"- x #{text}".encode("utf-8", "replace"))[0].tags != (text,):
        text = _NOT_TAG.sub("-", text).strip("-./")
    while len(text.encode("utf-8")) > _TAG_BYTES_MAX:
        text = text[:-1]
    return text if any(char.isalpha() for char in text) else ""


def escaped(text: str) -> str:
    """An item's text with a backslash where it would read as a line, as the day of its file, or as a tag."""
    return escaped_tag(_DATES.sub(r"Updated\\", _HEADS.sub(r"\\", text, count=1)))


def unescaped(text: str) -> str:
    """A parsed item's text without the backslashes that `escaped` put there."""
    if "\\" not in text:
        return text
    return unescaped_tag(_ESCAPED_DATE.sub("Updated", _ESCAPED_HEAD.sub("", text, count=1)))


def escaped_tag(text: str) -> str:
    """A text with a backslash before a last word that would read as a tag."""
    return _TAGS.sub(r"\\", text)


def unescaped_tag(text: str) -> str:
    """A text without the backslash that `escaped_tag` put there."""
    return _ESCAPED_TAG.sub("", text)


def untagged(text: str) -> tuple[str, tuple[str, ...]]:
    """A text without the `#tags` at the end of its last line, and these; what only a key or a mark precedes is none."""
    before, _, last = text.rpartition("\n")
    tags: list[str] = []
    while found := _tag_read(last):
        tags[:0] = found
        last = last.rstrip()[: -len(last.split()[-1])]
    rest = last.strip()
    if not tags or rest.endswith(":") or rest in _MARKS:
        return text, ()
    body = f"{before}\n{last.rstrip()}" if before and rest else last.rstrip() if rest else before.rstrip("\n")
    return body, tuple(dict.fromkeys(tags))


def _tag_read(line: str) -> tuple[str, ...]:
    """The last word of a line where the parser takes it for a tag."""
    word = (line.split() or [""])[-1]
    return parse(f"- x {word}".encode("utf-8", "replace"))[0].tags if word.startswith("#") else ()


def escaped_heading(text: str) -> str:
    """A section's title, one line, with a backslash before a last word that would read as a tag or a closing mark."""
    return _CLOSES.sub(r"\\", escaped_tag(text))


def unescaped_heading(text: str) -> str:
    """A parsed section's title without the backslashes that `escaped_heading` put there."""
    return _ESCAPED_CLOSE.sub("", unescaped_tag(text))
