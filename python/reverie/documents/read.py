"""Reads a document as its items: bullets of facts, sections of episodes, or one file that is a memory as a whole."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie.blocks import Block, BlockKind, parse
from reverie.documents.document_kind import Form, form_with, type_by_name, type_of_whole
from reverie.documents.front import front_of
from reverie.documents.lines import unescaped, unescaped_heading, unescaped_tag, untagged
from reverie.documents.parsed_document import Item, Page
from reverie.documents.topics import at_most, shortened, summary_line
from reverie.models import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.documents.front import Front

__all__ = ["ITEMS_MAX", "Parsed", "holds_too_many", "is_updated_line", "parsed", "read"]

ITEMS_MAX: Final = 40_000  # memories of one document

_ENDING: Final = re.compile(r"\r\n|\r|\n")
_UPDATED: Final = re.compile(r"Updated: *\d{4}-\d{2}-\d{2}")
_HEADINGS: Final = frozenset({BlockKind.TITLE, BlockKind.HEADING, BlockKind.SECTION})


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document taken apart: what it says, the blocks that its form cuts it into, and its bytes."""

    page: Page
    blocks: list[Block]
    data: bytes


def read(path: str, text: str) -> Page:
    """What the document `text` at `path` says. Any text is read, and the same text always says the same.

    An item without a word is none, and the line `- Updated: YYYY-MM-DD` of a file of facts belongs to the file.
    """
    return parsed(path, text).page


def parsed(path: str, text: str) -> Parsed:
    """The document `text` at `path` taken apart; one that is not markdown has no blocks."""
    front = front_of(text)
    form = form_with(path, front)
    data = text.encode("utf-8", "replace")
    blocks = parse(data, sections=form is Form.EPISODES) if path.endswith(".md") else []
    items: tuple[Item, ...] = ()
    if form is Form.FACTS:
        items = tuple(_bullets(blocks, data, type_by_name(path)))
    elif form is Form.EPISODES:
        items = tuple(_sections(blocks, data))
    elif form is Form.WHOLE:
        assert front is not None
        items = (_whole(data, front),)
    return Parsed(Page(form, items, _summary(blocks, items, front)), blocks, data)


def holds_too_many(path: str, text: str) -> bool:
    """Whether `text` holds more memories than ITEMS_MAX, which is as many as one commit can exchange for others."""
    return text.count("\n") + text.count("\r") >= ITEMS_MAX and len(read(path, text).items) > ITEMS_MAX


def is_updated_line(block: Block) -> bool:
    """Whether a block is the `- Updated: YYYY-MM-DD` line of its file."""
    return block.kind is BlockKind.BULLET and not block.tags and _UPDATED.fullmatch(block.text) is not None


def _bullets(blocks: Sequence[Block], data: bytes, kind: MemoryType) -> Iterator[Item]:
    for block in blocks:
        if block.kind is BlockKind.BULLET and block.text and not is_updated_line(block):
            text = data[block.start : block.end].decode()
            yield Item(block.start, block.end, text, kind, unescaped(block.text).strip(), block.tags)


def _sections(blocks: Sequence[Block], data: bytes) -> Iterator[Item]:
    for block in blocks:
        if block.kind is BlockKind.SECTION:
            text = data[block.start : block.end].decode()
            told = "\n".join(_flowing(text)[1:]).strip("\n")
            body, tags = untagged(told)
            content, title = unescaped_tag(body), unescaped_heading(block.text) or None
            fields = block.fields if content == told else _fields_of(block, told)
            if title or content:
                every = tuple(dict.fromkeys((*block.tags, *tags))) if tags else block.tags
                yield Item(block.start, block.end, text, MemoryType.EPISODE, content, every, title, fields)


def _fields_of(block: Block, told: str) -> tuple[tuple[str, str], ...]:
    """The fields of a section without the tags at the end of what it tells."""
    *rest, (key, value) = block.fields or (("", ""),)
    last = value.rpartition("\n")[2]
    if not last or not told.endswith(last):
        return block.fields
    return (*rest, (key, unescaped_tag(untagged(value)[0])))


def _whole(data: bytes, front: Front) -> Item:
    body, tags = untagged("\n".join(_flowing(data[front.end :].decode())).strip())
    kind = type_of_whole(front)
    assert kind is not None
    title = front.values["name"]
    fields = tuple((key, value) for key, value in front.values.items() if key != "name")
    content = unescaped_tag(body) or front.values.get("description") or title
    every = tuple(dict.fromkeys((*front.tags, *tags)))
    return Item(0, len(data), data.decode(), kind, content, every, title, fields)


def _flowing(text: str) -> list[str]:
    """The lines of a text without their endings and the white space before those."""
    return [line.rstrip() for line in _ENDING.split(text)]


def _summary(blocks: Sequence[Block], items: Sequence[Item], front: Front | None) -> str:
    """What is said of the document: its summary line, its front matter's description, its topics, its first heading."""
    told = next((block.text for block in blocks if block.kind is BlockKind.SUMMARY), "")
    described = front.values.get("description", "") if front is not None else ""
    if told or described:
        return at_most(told or described)
    if items:
        return summary_line(items)
    return shortened(next((block.text for block in blocks if block.kind in _HEADINGS and block.text), ""))
