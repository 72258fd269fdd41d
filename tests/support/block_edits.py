"""Changes of markdown blocks by the native core, with the edits that make them and those that undo them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from reverie import _native
from reverie.markdown_blocks import Add, Delete, Update, as_row

Edit: TypeAlias = tuple[int, str, str]
"""At a byte, the old text is replaced by the new one."""

Change: TypeAlias = Add | Update | Delete | tuple[str, str, str]
"""A change, or the row that the native core takes."""


class Applied(NamedTuple):
    """The edits of changes, the document after them, and the edits that undo them."""

    edits: list[Edit]
    document: bytes
    inverse: list[Edit]


def apply(document: bytes, blocks: Iterable[tuple[str, int, int]], changes: Iterable[Change]) -> Applied:
    """Return what changes make of a document."""
    rows = [change if isinstance(change, tuple) else as_row(change) for change in changes]
    return Applied(*_native.apply_changes(document, list(blocks), rows))


def under(heading: str, text: str) -> Change:
    """Return the change that adds a block at the end of a section."""
    return "add_under", heading, text
