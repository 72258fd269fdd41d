"""The items of a document (one memory each), the changes of items, and the documents before and after them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from reverie.documents.memory_layout_types_and_conflict_copy_names import DocumentKind
    from reverie.models import MemoryType


class Item(NamedTuple):
    """One memory in a document: the bytes `start` to before `end`, which are `text`, line ending included.

    `content` is its words without marks, tags and indentation, its lines joined by a newline. A bullet has no title and
    no fields. A section's title is its heading, its content all that is below, `fields` its `- Key: value` lines. A
    whole file has the name in its front matter as its title, and the other values there as its fields.

    A tuple, since every write makes one of each memory in its document.
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
class ParsedDocument:
    """A parsed document. `summary` is one line of at most ten words or ten topics, empty if there is none."""

    kind: DocumentKind
    items: tuple[Item, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class Wording:
    """The words that an item shall have. `title`, `fields` and `day` are for episodes.

    `day` (`YYYY-MM-DD`) is when an episode happened; a field `Date` takes precedence. In an update the content is all
    that the item shall have, and `fields` are those that the episode had before.
    """

    content: str
    tags: tuple[str, ...] = ()
    title: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    day: str | None = None


@dataclass(frozen=True, slots=True)
class Add:
    """A change that adds a new item with this id to a document."""

    id: str
    words: Wording


@dataclass(frozen=True, slots=True)
class Update:
    """A change that replaces the words of a document's item."""

    id: str
    words: Wording


@dataclass(frozen=True, slots=True)
class Delete:
    """A change that deletes an item of a document."""

    id: str


Change: TypeAlias = Add | Update | Delete


@dataclass(frozen=True, slots=True)
class ChangedDocument:
    """A document after changes: `ids[i]` is the id of item `i`.

    `text` is None if nothing is left but what is written around items: then the document itself is to be deleted.
    """

    text: str | None
    ids: tuple[str, ...]
