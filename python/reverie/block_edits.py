"""Changes of blocks (add, update, delete) as minimal edits of their document; everything else stays byte for byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Add", "Applied", "Change", "Delete", "Edit", "Update", "apply_changes", "apply_edits"]


@dataclass(frozen=True, slots=True)
class Add:
    """Add a block: after the block with the id `after`, else at the end of the section `under` a heading, else last."""

    text: str
    after: str | None = None
    under: str | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """Replace the text of a block."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a block."""

    id: str


Change = Add | Update | Delete


@dataclass(frozen=True, slots=True)
class Edit:
    """A text edit: at byte `start`, `old` is replaced by `new`."""

    start: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of changes: the edits of the document, the document after them, and the edits that undo them."""

    edits: tuple[Edit, ...]
    document: bytes
    inverse: tuple[Edit, ...]


def _as_tuple(change: Change) -> tuple[str, str, str]:
    """Convert a change to the form of the native core: kind, id or heading, text."""
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
    """Apply changes to a document; `blocks` has the id and the span (as of `markdown_blocks.parse`) of each block.

    A text is the markdown of one block; its line endings become those of the document, and a list item takes the marker
    and indentation of the one that it replaces or follows. Unchanged blocks stay byte for byte. Raises
    ValidationError, and changes nothing, with `details["reason"]` and in `details["names"]` all ids, headings or
    indices of changes concerned: `unknown_id`, `changed_twice`, `unknown_heading`, `duplicate_id` or
    `not_a_block` for `blocks` that do not fit the document, `not_one_block` for a text of no or several blocks, and
    `breaks_out` for one that would change the blocks behind it (an unclosed code fence).
    """
    edits, after, inverse = _native.apply_changes(
        document, list(blocks), [_as_tuple(change) for change in changes], sections
    )
    return Applied(tuple(Edit(*edit) for edit in edits), after, tuple(Edit(*edit) for edit in inverse))


def apply_edits(document: bytes, edits: Sequence[Edit]) -> bytes:
    """Apply edits, which are ascending and do not overlap, to a document.

    Raises ValidationError with the reason `stale_edit`, and in `details["names"]` the index of every edit whose old
    text is not there.
    """
    return _native.apply_edits(document, [(edit.start, edit.old, edit.new) for edit in edits])
