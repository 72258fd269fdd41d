"""Markdown documents as blocks, whose byte spans join to the document: parse, match with old blocks, edit minimally."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class BlockKind(StrEnum):
    """The kind of a block."""

    FRONT_MATTER = "front_matter"  # YAML between `---` lines at the very start
    TITLE = "title"  # the first heading of level 1
    SUMMARY = "summary"  # the first `> Summary:` line
    HEADING = "heading"  # any other heading
    BULLET = "bullet"  # a top-level list item with its continuation lines
    SECTION = "section"  # a `##` heading with its `- Key: value` fields and everything else under it
    OPAQUE = "opaque"  # everything that is not interpreted: paragraphs, code, tables, blank lines


_Row: TypeAlias = tuple[str, int, int, int, str, tuple[str, ...], tuple[tuple[str, str], ...]]
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
    return _blocks(_native.parse_blocks(data, sections))


def parse_beside(before: bytes, data: bytes, *, sections: bool | None = None) -> tuple[int, int, list[Block]]:
    """Parse a document and an earlier text of it; return how many blocks at the beginning and at the end are the same.

    The third value is the blocks of the document between those. The last ones are at bytes shifted by the difference of
    the lengths. `sections` and errors as in `parse`.
    """
    first, last, between = _native.parse_blocks_beside(before, data, sections)
    return first, last, _blocks(between)


def _blocks(rows: list[_Row]) -> list[Block]:
    """Return the blocks that the native core describes."""
    return [
        Block(_KINDS[kind], start, end, level, text, tags, fields)
        for kind, start, end, level, text, tags, fields in rows
    ]


@dataclass(frozen=True, slots=True)
class Alignment:
    """The matching of new blocks to old ones.

    `old_ids` has for each new block the id of the old block that it continues, or None if it was added.
    `deleted_ids` are the ids that no new block continues, in the order of the old blocks.
    """

    old_ids: tuple[str | None, ...]
    deleted_ids: tuple[str, ...]


def align(old: Sequence[tuple[str, bytes | str]], new: Sequence[bytes | str]) -> Alignment:
    """Return an Alignment: which new block continues which old block and so has its id, in one or several documents.

    An unchanged and unique block keeps its id wherever it moved; of several copies those keep their ids whose
    neighbours did; an edited block keeps its id by the words and the position that it shares with the old one. No id
    appears twice, and the result is deterministic. Raises ValidationError with `details["names"]` if two old
    blocks have the same id.
    """
    old_ids, deleted_ids = _native.align(old, new)
    return Alignment(tuple(old_ids), tuple(deleted_ids))


def apply_changes(
    document: bytes,
    blocks: Iterable[tuple[str, int, int]],
    changes: Sequence[tuple[str, str, str]],
    *,
    sections: bool | None = None,
) -> bytes:
    """Return a document with changes applied; `blocks` has the id and the span (as of `parse`) of each block.

    A change is a kind, the id that it refers to, and a text: `update` or `delete` of that block, `add_after` it, or
    `add_end`, without an id, after the last one.

    A text is the markdown of one block; its line endings become those of the document, and a list item takes the marker
    and indentation of the one that it replaces or follows. Unchanged blocks stay byte for byte. Raises
    ValidationError, and changes nothing, with `details["reason"]` and in `details["names"]` all ids or indices of
    changes concerned: `unknown_id`, `changed_twice`, `duplicate_id` or `not_a_block` for `blocks` that do not fit the
    document, `not_one_block` for a text of no or several blocks, and `breaks_out` for one that would change the blocks
    behind it (an unclosed code fence).
    """
    _, after, _ = _native.apply_changes(document, list(blocks), changes, sections)
    return after
