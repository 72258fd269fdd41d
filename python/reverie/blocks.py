"""Reads a memory document as blocks: spans of bytes that join to the document again, whatever it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reverie import _native

__all__ = ["Block", "BlockKind", "parse"]


class BlockKind(StrEnum):
    """What a block is."""

    FRONT_MATTER = "front_matter"  # YAML between `---` lines at the very start
    TITLE = "title"  # the first heading of level 1
    SUMMARY = "summary"  # the first `> Summary:` line
    HEADING = "heading"  # any other heading
    BULLET = "bullet"  # a top-level list item with its continuation lines
    SECTION = "section"  # a `##` heading with its `- Key: value` fields and what else stands under it
    OPAQUE = "opaque"  # everything that is not read: paragraphs, code, tables, blank lines


_KINDS = {kind.value: kind for kind in BlockKind}


@dataclass(frozen=True, slots=True)
class Block:
    """One block: bytes `start` to before `end` of the document, line ending included, and what is written there.

    `text` has no marks, tags or indentation, and its lines are joined by a newline; it is empty for opaque blocks.
    `level` is 1 to 6 for headings and sections, else 0. `tags` are the `#tags` at the end, in lower case.
    `fields` are a section's keys and values in order.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    text: str = ""
    tags: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()


def parse(data: bytes, *, sections: bool | None = None) -> list[Block]:
    """The blocks of a document, in order: the bytes of their spans join to the document again.

    `sections` says whether a `##` heading opens a section (episodes) or only groups bullets (facts); without it, a
    heading is a section if fields stand under it and one of them is `Summary` or `Date`.
    Raises ValidationError with `details["offset"]` if the document is not UTF-8.
    """
    return [
        Block(_KINDS[kind], start, end, level, text, tags, fields)
        for kind, start, end, level, text, tags, fields in _native.parse_blocks(data, sections)
    ]
