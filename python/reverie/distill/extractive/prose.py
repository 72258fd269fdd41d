"""Prose as sentences: code fences left out, list items and lines taken as they stand, markdown marks removed."""

from __future__ import annotations

import re

__all__ = ["clip", "first_sentence", "one_line", "sentences", "unwrapped"]

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_MARKS = re.compile(r"^\s*(?:#{1,6}\s+|>\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+)+")
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+(?=[\"'(\[`]?[A-Z0-9`\"'(])")
_GOES_ON = re.compile(r"\s*(?![-#>|*+•~]|\d{1,3}[.)]\s|[\w-]+-[Bb]y:)\S")
_WIDE = 48  # characters; a shorter line ended because its author ended it
_SPACE = re.compile(r"\s+")
_TABLE = re.compile(r"^\s*\|.*\|\s*$|^[\s|:\-=*_]+$")


def sentences(text: str) -> list[str]:
    """The sentences of `text`, oldest first, each on one line; code blocks and tables are no sentences."""
    found: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or not line.strip() or _TABLE.match(line):
            continue
        plain = _EMPHASIS.sub(r"\2", _MARKS.sub("", line)).strip()
        found.extend(part for part in (piece.strip() for piece in _END.split(plain)) if part)
    return found


def unwrapped(text: str) -> str:
    """`text` with lines that were broken for width alone joined again, as in the message of a commit."""
    joined: list[str] = []
    for paragraph in text.split("\n\n"):
        lines = [line.rstrip() for line in paragraph.split("\n")]
        whole = lines[0]
        before = lines[0]
        for line in lines[1:]:
            goes_on = len(before) >= _WIDE and before[-1] not in ".:;!?|" and _GOES_ON.match(line) is not None
            whole += f" {line.strip()}" if goes_on else f"\n{line}"
            before = line
        joined.append(whole)
    return "\n\n".join(joined)


def first_sentence(text: str) -> str:
    """The first sentence of `text`, or the empty string."""
    return next(iter(sentences(text)), "")


def one_line(text: str) -> str:
    """`text` with every run of white space as one space."""
    return _SPACE.sub(" ", text).strip()


def clip(text: str, length: int) -> str:
    """`text` on one line, cut at a word within `length` characters, with an ellipsis where something is missing."""
    line = one_line(text)
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    space = cut.rfind(" ")
    if space > length // 2:
        cut = cut[:space]
    return cut.rstrip(" ,;:-(") + "…"
