"""Applies changes of blocks as the smallest edits of their document, so that all else in it stays byte for byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Add", "Applied", "Change", "Delete", "Edit", "Update", "apply_changes", "apply_edits"]


@dataclass(frozen=True, slots=True)
class Add:
    """A new block: behind the block of the id `after`, else behind all that is under the heading `under`, else last."""

    text: str
    after: str | None = None
    under: str | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """Another text for a block."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Delete:
    """A block goes."""

    id: str


Change = Add | Update | Delete


@dataclass(frozen=True, slots=True)
class Edit:
    """At byte `start` of a text `old` is replaced by `new`."""

    start: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Applied:
    """What changes do: the edits of the document, the document after them, and the edits that turn it back."""

    edits: tuple[Edit, ...]
    document: bytes
    inverse: tuple[Edit, ...]


def _told(change: Change) -> tuple[str, str, str]:
    """A change as the native core takes it."""
    match change:
        case Update(id_, text):
            return "update", id_, text
        case Delete(id_):
            return "delete", id_, ""
        case Add(text, str(after), _):
            return "add_after", after, text
        case Add(text, _, str(under)):
            return "add_under", under, text
        case Add(text):
            return "add_end", "", text


def apply_changes(
    document: bytes,
    blocks: Iterable[tuple[str, int, int]],
    changes: Iterable[Change],
    *,
    sections: bool | None = None,
) -> Applied:
    """Changes to blocks with ids: `blocks` gives the id and the span of each, as `reverie.blocks.parse` finds spans.

    A text is the markdown of one block; its line endings become those of the document, and an item takes the mark and
    the indentation of the one that it replaces or follows. Blocks that are not changed stay what they are, byte for
    byte. Raises ValidationError, and changes nothing, with `details["reason"]` and in `details["names"]` all ids,
    headings or indices of changes that it is about: `unknown_id`, `changed_twice`, `unknown_heading`, `duplicate_id` or
    `not_a_block` for `blocks` that do not fit the document, `not_one_block` for a text that is no block or several, and
    `breaks_out` for one that would swallow what stands behind it.
    """
    edits, after, inverse = _native.apply_changes(document, list(blocks), [_told(each) for each in changes], sections)
    return Applied(tuple(Edit(*edit) for edit in edits), after, tuple(Edit(*edit) for edit in inverse))


def apply_edits(document: bytes, edits: Sequence[Edit]) -> bytes:
    """The document after edits, which are in order and apart.

    Raises ValidationError with the reason `stale_edit`, and in `details["names"]` the index of every edit that does not
    find the text that it replaces.
    """
    return _native.apply_edits(document, [(edit.start, edit.old, edit.new) for edit in edits])
