"""What may happen to the items of a document, and what becomes of its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Add", "Change", "Changed", "Delete", "Update", "Wording"]


@dataclass(frozen=True, slots=True)
class Wording:
    """What an item shall say, in the words of a memory. `title`, `fields` and `day` are for episodes.

    `day` (`YYYY-MM-DD`) is when an episode happened; it stands back behind a field `Date`. In an update the content
    is what shall be said, and `fields` are those that the episode had.
    """

    content: str
    tags: tuple[str, ...] = ()
    title: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    day: str | None = None


@dataclass(frozen=True, slots=True)
class Add:
    """A new item, known as `id` from now on."""

    id: str
    words: Wording


@dataclass(frozen=True, slots=True)
class Update:
    """Other words for an item."""

    id: str
    words: Wording


@dataclass(frozen=True, slots=True)
class Delete:
    """An item goes."""

    id: str


Change: TypeAlias = Add | Update | Delete


@dataclass(frozen=True, slots=True)
class Changed:
    """A document after changes: `ids[i]` is the id of item `i`.

    `text` is None when nothing is left that a person could miss: then the document itself goes.
    """

    text: str | None
    ids: tuple[str, ...]
