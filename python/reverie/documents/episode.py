"""Gives every episode of an entry its summary: one line of at most ten words, by which it is chosen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.blocks import BlockKind, parse
from reverie.documents.changes import Wording
from reverie.documents.lines import one_line, untagged
from reverie.documents.render import in_short
from reverie.documents.topics import WORDS_MAX, shortened

if TYPE_CHECKING:
    from reverie.blocks import Block

__all__ = ["summarized"]

_LINE: Final = re.compile(r"^(?P<head>[-*+][ \t]+Summary:)[ \t]*(?P<value>.*(?:\n[ \t]+\S.*)*)$", re.MULTILINE)
_FIELDS: Final = re.compile(r".*\n(?:(?:[-*+][ \t]|[ \t]+\S).*(?:\n|\Z))*")  # a heading and the lines right below it
_ITEM: Final = re.compile(r"[-*+][ \t]|\n|\Z")


def summarized(entry: str) -> str:
    """An entry whose sections each have a summary; its lines end with a newline.

    One that is missing is made from the section's words. Of a longer one the first ten words are the summary, and the
    whole of it becomes a note. A section in which this would change anything else stays as it is.
    """
    data = entry.encode("utf-8", "replace")
    for block in reversed(parse(data, sections=True)):
        if block.kind is BlockKind.SECTION:
            text = data[block.start : block.end].decode()
            data = data[: block.start] + _with_summary(text, block).encode() + data[block.end :]
    return data.decode()


def _with_summary(text: str, block: Block) -> str:
    told = next((value for key, value in block.fields if key == "Summary"), "").strip()
    if told and "\n" not in told and len(told.split()) <= WORDS_MAX:
        return text
    wanted = (
        shortened(told) if told else in_short(Wording(untagged(text.partition("\n")[2].strip())[0], title=block.text))
    )
    line = _LINE.search(text, 0, len(text) if told else _end_of_fields(text))
    if line is not None:
        made = f"{text[: line.start()]}{line['head']} {wanted}{text[line.end() :]}"
    else:
        head, _, body = text.partition("\n")
        made = f"{head}\n- Summary: {wanted}\n" + ("" if _ITEM.match(body) else "\n") + body
    if told and wanted != one_line(told):
        end = _end_of_fields(made)
        made = f"{made[:end].rstrip()}\n- Note: {one_line(told)}\n{made[end:]}"
    return made if _says(made, block, wanted) else text


def _end_of_fields(text: str) -> int:
    found = _FIELDS.match(text)
    return 0 if found is None else found.end()


def _says(text: str, before: Block, summary: str) -> bool:
    """Whether a text is one section that says what it said, and this summary."""
    blocks = parse(text.encode(), sections=True)
    if [block.kind for block in blocks] != [BlockKind.SECTION] or blocks[0].text != before.text:
        return False
    fields = dict(blocks[0].fields)
    same = all(fields.get(key) == value for key, value in before.fields if key not in {"Summary", "Note"})
    return same and fields.get("Summary") == summary
