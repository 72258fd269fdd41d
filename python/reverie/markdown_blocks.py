"""Parser of markdown documents into blocks, whose byte spans join to the document, whatever it is."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from reverie import _native

__all__ = ["Block", "BlockKind", "parse"]


class BlockKind(StrEnum):
    """The kind of a block."""

    FRONT_MATTER = "front_matter"  # YAML between `---` lines at the very start
    TITLE = "title"  # the first heading of level 1
    SUMMARY = "summary"  # the first `> Summary:` line
    HEADING = "heading"  # any other heading
    BULLET = "bullet"  # a top-level list item with its continuation lines
    SECTION = "section"  # a `##` heading with its `- Key: value` fields and everything else under it
    OPAQUE = "opaque"  # everything that is not interpreted: paragraphs, code, tables, blank lines


_KINDS = {kind.value: kind for kind in BlockKind}


class Block(NamedTuple):
    """A block: bytes `start` to before `end` of the document, line ending included, and its content.

    `text` has no markers, tags or indentation, and its lines are joined by a newline; it is empty for opaque blocks.
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
    """Parse a document into its blocks, in order; their spans join to the whole document.

    `sections`: True if each `##` heading begins a section (episodes), False if it only groups bullets (facts); None if
    it begins a section when one of its fields is `Summary` or `Date`.
    Raises ValidationError with `details["offset"]` if the document is not UTF-8.
    """
    return [
        Block(_KINDS[kind], start, end, level, text, tags, fields)
        for kind, start, end, level, text, tags, fields in _native.parse_blocks(data, sections)
    ]
