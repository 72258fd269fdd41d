"""Writes one memory as the lines of a markdown document, so that the block parser reads the same words back."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["bullet", "clean", "escaped", "one_line", "tag", "unescaped"]

_TAG_BYTES_MAX = 64  # the parser takes no longer word as a tag
_NOT_TAG = re.compile(r"[^\w\-/.]+")
_TAG_LIKE = r"#[\w\-/.]*[^\W\d_][\w\-/.]*\Z"
_READS_AS_TAG = re.compile(rf"(?<!\S)(?=\\*{_TAG_LIKE})")
_ESCAPED_TAG = re.compile(rf"(?<!\S)\\(?=\\*{_TAG_LIKE})")
_RULE = re.compile(r"[-\s]+")


def bullet(content: str, tags: Iterable[str] = ()) -> str:
    """`- content #tag`, with a line ending; further lines are indented so that they belong to the item.

    A last word that would read as a tag is escaped by a backslash; `unescaped` takes it away again.
    """
    text = clean(content)
    if not text:
        return "-\n"
    first, *rest = text.split("\n")
    lines = [f"- {first}", *(f"  {line}" if line else "" for line in rest)]
    lines[-1] = escaped(lines[-1])
    words = " ".join(f"#{word}" for word in dict.fromkeys(map(tag, tags)) if word)
    if words:
        # Behind several lines the tags stand alone: the last one may be the end of a code fence.
        lines[-1:] = [lines[-1], f"  {words}"] if rest else [f"{lines[-1]} {words}"]
    return "\n".join(lines) + "\n"


def clean(content: str) -> str:
    r"""The content as a document can hold it: `\\n` line endings, no control characters, no space around it."""
    text = content.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    text = "".join(char for char in text if char in "\n\t" or unicodedata.category(char) != "Cc")
    text = "\n".join("" if not line.strip() else line.rstrip() for line in text.split("\n")).strip()
    return f"`{text}`" if _RULE.fullmatch(text) else text


def one_line(content: str) -> str:
    """The content with all white space as single spaces."""
    return " ".join(clean(content).split())


def tag(word: str) -> str:
    """A tag as it may stand behind `#`, lower case; empty when nothing of it can."""
    text = _NOT_TAG.sub("-", word.strip().lower()).strip("-./")
    while len(text.encode("utf-8")) > _TAG_BYTES_MAX:
        text = text[:-1]
    return text if any(char.isalpha() for char in text) else ""


def escaped(line: str) -> str:
    """The line with a backslash before a last word that would read as a tag."""
    return _READS_AS_TAG.sub(r"\\", line)


def unescaped(text: str) -> str:
    """A parsed item's text without the backslash that `escaped` put there."""
    return _ESCAPED_TAG.sub("", text)
