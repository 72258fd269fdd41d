"""What a document says: its items, in the order of its text, and its summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie.documents.document_kind import Form
    from reverie.models import MemoryType

__all__ = ["Item", "Page"]


@dataclass(frozen=True, slots=True)
class Item:
    """One memory as it stands in a document: bytes `start` to before `end`, which are `text`, line ending included.

    `content` is what it says without marks, tags and indentation, its lines joined by a newline. A bullet has no title
    and no fields. A section's title is its heading, its content all that stands below, `fields` its `- Key: value`
    lines. A whole file has the name of its front matter as its title and what else stands there as its fields.
    """

    start: int
    end: int
    text: str
    type: MemoryType
    content: str
    tags: tuple[str, ...] = ()
    title: str | None = None
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A document as it is read. `summary` is one line of at most ten words or ten topics, empty if nothing is said."""

    form: Form
    items: tuple[Item, ...]
    summary: str
