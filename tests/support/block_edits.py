"""Changes of markdown blocks by the native core, with the edits that make them and those that undo them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from reverie import _native

Edit: TypeAlias = tuple[int, str, str]
"""At a byte, the old text is replaced by the new one."""

Change: TypeAlias = tuple[str, str, str]
"""A change as the native core takes it: its kind, the id of a block, a text."""


class Applied(NamedTuple):
    """The edits of changes, the document after them, and the edits that undo them."""

    edits: list[Edit]
    document: bytes
    inverse: list[Edit]


def apply(document: bytes, blocks: Iterable[tuple[str, int, int]], changes: Iterable[Change]) -> Applied:
    """Return what changes make of a document."""
    return Applied(*_native.apply_changes(document, list(blocks), list(changes)))


def add(text: str, after: str | None = None) -> Change:
    """Return the change that adds a block after another one, else last."""
    return ("add_end", "", text) if after is None else ("add_after", after, text)


def update(id_: str, text: str) -> Change:
    """Return the change that replaces the text of a block."""
    return "update", id_, text


def delete(id_: str) -> Change:
    """Return the change that deletes a block."""
    return "delete", id_, ""


def under(heading: str, text: str) -> Change:
    """Return the change that adds a block at the end of a section."""
    return "add_under", heading, text
