"""Escape the text of a memory as markdown, so that the block parser gives the same words back, and undo that."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex
from reverie.markdown_blocks import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

_TAG_BYTES_MAX: Final = 64  # the parser takes no longer word as a tag
_NOT_TAG: Final = lazy_regex(r"[^\w\-/.]+")
# A last word that may parse as a tag. Which letters beyond ASCII do is up to the parser, so all are escaped.
_TAG_LIKE: Final = r"#(?:[\w\-/.]|[^\x00-\x7f\s])*(?:[^\W\d_]|[^\x00-\x7f\s])(?:[\w\-/.]|[^\x00-\x7f\s])*\Z"
_RULE_LIKE: Final = r"(?:[-\t ]+|[*\t ]+)$"  # behind the mark of an item it would be a thematic break
_CHECK_LIKE: Final = r"\[[ xX]\](?:\s|\Z)"  # of a task list: no memory
_UPDATED_LIKE: Final = r": *\d{4}-\d{2}-\d{2}\Z"
_CLOSING_LIKE: Final = r"#+\Z"  # at the end of a heading it belongs to the heading's mark
_MARKS: Final = frozenset({"-", "*", "+"})
_RULE_START: Final = lazy_regex(rf"\A(?=\\*{_RULE_LIKE})", re.MULTILINE)
_ESCAPED_RULE: Final = lazy_regex(rf"\A\\(?=\\*{_RULE_LIKE})", re.MULTILINE)
_CHECK_START: Final = lazy_regex(rf"\A(?=\\*{_CHECK_LIKE})")
_ESCAPED_CHECK: Final = lazy_regex(rf"\A\\(?=\\*{_CHECK_LIKE})")
_UPDATED_START: Final = lazy_regex(rf"\AUpdated(?=\\*{_UPDATED_LIKE})")
_ESCAPED_UPDATED: Final = lazy_regex(rf"\AUpdated\\(?=\\*{_UPDATED_LIKE})")
_TAG_START: Final = lazy_regex(rf"(?<!\S)(?=\\*{_TAG_LIKE})")
_ESCAPED_TAG: Final = lazy_regex(rf"(?<!\S)\\(?=\\*{_TAG_LIKE})")
_CLOSING_START: Final = lazy_regex(rf"(?<!\S)(?=\\*{_CLOSING_LIKE})")
_ESCAPED_CLOSING: Final = lazy_regex(rf"(?<!\S)\\(?=\\*{_CLOSING_LIKE})")


def bullet(content: str, tags: Iterable[str] = ()) -> str:
    """Return `- content #tag` with a line ending; further lines are indented so that they belong to the item.

    Words that would parse as something else are escaped by a backslash, which `unescaped` removes.
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
    r"""Return the content as a document can have it: `\\n` line endings, no control characters, no space around it."""
    text = content.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    if not text.isprintable():  # a line ending is not printable either
        text = "".join(char for char in text if char in "\n\t" or unicodedata.category(char) != "Cc")
    return "\n".join("" if not line.strip() else line.rstrip() for line in text.split("\n")).strip()


def ending_of(text: str) -> str:
    """Return the line ending of most lines of a text."""
    both = text.count("\r\n")
    counts = {"\n": text.count("\n") - both, "\r\n": both, "\r": text.count("\r") - both}
    return max(counts, key=lambda ending: counts[ending])


def one_line(content: str) -> str:
    """Return the content on one line, all white space as single spaces."""
    return " ".join(clean(content).split())


def tag(word: str) -> str:
    """Return a tag as it can be written after `#`, in lower case; empty if nothing of it can."""
    text = word.strip().lower()
    if text.isascii() or parse(f"- x #{text}".encode("utf-8", "replace"))[0].tags != (text,):
        text = _NOT_TAG.sub("-", text).strip("-./")
    while len(text.encode("utf-8")) > _TAG_BYTES_MAX:
        text = text[:-1]
    return text if any(char.isalpha() for char in text) else ""


def escaped(text: str) -> str:
    """Return an item's text with a backslash where it would parse as a rule, a check box, the Updated line or a tag."""
    text = _CHECK_START.sub(r"\\", text)
    return escaped_tag(_UPDATED_START.sub(r"Updated\\", _RULE_START.sub(r"\\", text, count=1)))


def unescaped(text: str) -> str:
    """Return a parsed item's text without the backslashes that `escaped` added."""
    if "\\" not in text:
        return text
    text = _ESCAPED_CHECK.sub("", text)
    return unescaped_tag(_ESCAPED_UPDATED.sub("Updated", _ESCAPED_RULE.sub("", text, count=1)))


def escaped_tag(text: str) -> str:
    """Return a text with a backslash before a last word that would parse as a tag."""
    return _TAG_START.sub(r"\\", text)


def unescaped_tag(text: str) -> str:
    """Return a text without the backslash that `escaped_tag` added."""
    return _ESCAPED_TAG.sub("", text)


def untagged(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text without the `#tags` at the end of its last line, and these tags.

    After only a key or a list mark there are none: in `- #ops` and `Channel: #ops` the word is the content.
    """
    before, _, last = text.rpartition("\n")
    tags: list[str] = []
    while last_tags := _last_word_tags(last):
        tags[:0] = last_tags
        last = last.rstrip()[: -len(last.split()[-1])]
    rest = last.strip()
    if not tags or rest.endswith(":") or rest in _MARKS:
        return text, ()
    body = f"{before}\n{last.rstrip()}" if before and rest else last.rstrip() if rest else before.rstrip("\n")
    return body, tuple(dict.fromkeys(tags))


def _last_word_tags(line: str) -> tuple[str, ...]:
    """Return the last word of a line if the parser takes it for a tag, without `#`."""
    word = (line.split() or [""])[-1]
    return parse(f"- x {word}".encode("utf-8", "replace"))[0].tags if word.startswith("#") else ()


def escaped_heading(text: str) -> str:
    """Return a section's title with a backslash before a last word that would parse as a tag or a closing mark."""
    return _CLOSING_START.sub(r"\\", escaped_tag(text))


def unescaped_heading(text: str) -> str:
    """Return a parsed section's title without the backslashes that `escaped_heading` added."""
    return _ESCAPED_CLOSING.sub("", unescaped_tag(text))
