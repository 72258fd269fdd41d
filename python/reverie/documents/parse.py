"""Parse a document into its items: bullets of facts, sections of episodes, or one file that is a memory as a whole."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeVar

from reverie.documents.escape import unescaped, unescaped_heading, unescaped_tag, untagged
from reverie.documents.items import Item, ParsedDocument
from reverie.documents.layout import (
    DIVIDED,
    DocumentKind,
    front_matter_of,
    kind_with_front_matter,
    type_by_name,
    type_of_whole,
)
from reverie.documents.summary import at_most, shortened, summary_line
from reverie.lazy_regex import lazy_regex
from reverie.markdown_blocks import Block, BlockKind, parse, parse_beside
from reverie.models import MemoryType
from reverie.text_caches import text_cache

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.documents.layout import FrontMatter

ITEMS_MAX: Final = 40_000
"""Memories of one document: as many as one commit can replace by others."""

_KEPT_MAX: Final = 8  # parsed documents: of one of 32 KB, some 200 KB of memory
_KEPT_CHARS_MAX: Final = 64 * 1024
_CONTENTS_BYTES: Final = 1_000_000  # of the contents of some thousand bullets

_ENDING: Final = lazy_regex(r"\r\n|\r|\n")
_UPDATED: Final = lazy_regex(r"Updated: *\d{4}-\d{2}-\d{2}")
_CHECK_BOX: Final = lazy_regex(r"\[[ xX]\](?:\s|\Z)")
_HEADINGS: Final = frozenset({BlockKind.TITLE, BlockKind.HEADING, BlockKind.SECTION})


@dataclass(slots=True)
class ParsedSource:
    """A parsed document with its source: the blocks that its kind divides it into, and its bytes.

    Nobody but this module may change one. The texts of header lines are there where they were needed.
    """

    document: ParsedDocument
    blocks: list[Block]
    data: bytes
    headers: list[str] | None = None


def parse_document(path: str, text: str) -> ParsedDocument:
    """Return the parsed document `text` at `path`. Any text can be parsed, and always gives the same result.

    An item without a word is none, and the line `- Updated: YYYY-MM-DD` of a file of facts belongs to the file.
    """
    return parse_source(path, text).document


def parse_source(path: str, text: str) -> ParsedSource:
    """Return the parsed document `text` at `path` with its blocks; one that is not markdown has none.

    A write parses the same text several times, and the next write begins with the text that this one made: so the last
    ones of moderate length are kept, and of a new text of one of them only what differs is made anew. Nobody may change
    what is returned.
    """
    return _kept_source(path, text) if len(text) <= _KEPT_CHARS_MAX else _parsed_source(path, text)


def _parsed_source(path: str, text: str) -> ParsedSource:
    """Return the parsed document `text` at `path`."""
    front_matter = front_matter_of(text)
    kind = kind_with_front_matter(path, front_matter)
    data = text.encode("utf-8", "replace")
    before = _newest.get(path)
    if before is not None and before.document.kind is kind and kind in DIVIDED and path.endswith(".md"):
        source = _parsed_beside(path, kind, before, data)
    else:
        blocks = parse(data, sections=kind is DocumentKind.EPISODES) if path.endswith(".md") else []
        items = _items(path, kind, blocks, data, front_matter)
        source = ParsedSource(ParsedDocument(kind, items, ""), blocks, data)
    source.document = replace(source.document, summary=_summary(source, front_matter))
    return source


def _parsed_beside(path: str, kind: DocumentKind, before: ParsedSource, data: bytes) -> ParsedSource:
    """Return a parsed document of facts or episodes, without summary, reusing unchanged blocks of `before`.

    A block and its item follow from the bytes of the block alone, so those of the same blocks are the same.
    """
    first, last, between = parse_beside(before.data, data, sections=kind is DocumentKind.EPISODES)
    shift = len(data) - len(before.data)
    tail = before.blocks[len(before.blocks) - last :]
    begin = before.blocks[first - 1].end if first else 0  # of what differs, and its end, in the bytes before
    end = tail[0].start if tail else len(before.data)
    items = before.document.items
    head_count = bisect_right(items, begin, key=attrgetter("end"))
    tail_at = bisect_left(items, end, key=attrgetter("start"))
    made = _items(path, kind, between, data, None)
    all_items = items[:head_count] + made + tuple(_shifted(item, shift) for item in items[tail_at:])
    blocks = before.blocks[:first] + between + [_shifted(block, shift) for block in tail]
    return ParsedSource(ParsedDocument(kind, all_items, ""), blocks, data)


_Span = TypeVar("_Span", Block, Item)


def _shifted(span: _Span, shift: int) -> _Span:
    return span._replace(start=span.start + shift, end=span.end + shift) if shift else span


def summary_of(source: ParsedSource) -> str:
    """Return the summary line of a document's items."""
    return summary_line(source.document.items)


def parse_items(path: str, text: str) -> tuple[Item, ...]:
    """Return the items of `text` at `path` as `parse_document` does, without its summary.

    For the text of a single item, which is no document and is not kept.
    """
    front_matter = front_matter_of(text)
    kind = kind_with_front_matter(path, front_matter)
    data = text.encode("utf-8", "replace")
    blocks = parse(data, sections=kind is DocumentKind.EPISODES) if path.endswith(".md") else []
    return _items(path, kind, blocks, data, front_matter)


def _items(
    path: str, kind: DocumentKind, blocks: Sequence[Block], data: bytes, front_matter: FrontMatter | None
) -> tuple[Item, ...]:
    """Return the items of a document of a kind; none for a plain one."""
    if kind is DocumentKind.FACTS:
        return tuple(_bullet_items(blocks, data, type_by_name(path)))
    if kind is DocumentKind.EPISODES:
        return tuple(_section_items(blocks, data))
    if kind is DocumentKind.WHOLE:
        assert front_matter is not None
        return (_whole_file_item(data, front_matter),)
    return ()


_newest: dict[str, ParsedSource] = {}  # the text of a document that was parsed last, from which the next differs little


@lru_cache(maxsize=_KEPT_MAX)
def _kept_source(path: str, text: str) -> ParsedSource:
    """Return the parsed document, and cache it as the newest text at its path."""
    source = _parsed_source(path, text)
    if path not in _newest and len(_newest) >= _KEPT_MAX:
        _newest.clear()
    _newest[path] = source
    return source


def items_by_id(path: str, text: str, ids: Sequence[str]) -> dict[str, Item]:
    """Return the items of a stored document by their ids, in order.

    An older version gave ids to tasks as well, and to the lines of other programs' conflict copies: where the numbers
    differ, these are among the items, so that a write can remove them. Raises ValueError if they fit neither way.
    """
    items = parse_document(path, text).items
    if len(items) != len(ids):
        folder = path.rpartition("/")[0]
        data = text.encode("utf-8", "replace")
        if folder.split("/")[0] == "facts":
            items = tuple(_bullet_items(parse(data, sections=False), data, type_by_name(path), checks=True))
        else:
            items = parse_items(f"{folder}/x.md", text)
    return dict(zip(ids, items, strict=True))


def ids_of_items(path: str, text: str, ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of a stored document that its items have today; all if they fit neither way of `items_by_id`."""
    items = parse_document(path, text).items
    if len(items) >= len(ids):
        return tuple(ids)
    starts = {item.start for item in items}
    try:
        return tuple(name for name, item in items_by_id(path, text, ids).items() if item.start in starts)
    except ValueError:
        return tuple(ids)


def has_too_many_items(path: str, text: str) -> bool:
    """Return True if `text` has more than ITEMS_MAX memories, which are as many as one commit can replace.

    Lines are counted first: nearly every document is far too short to be parsed for this.
    """
    return text.count("\n") + text.count("\r") >= ITEMS_MAX and len(parse_document(path, text).items) > ITEMS_MAX


def header_texts(source: ParsedSource) -> list[str]:
    """Return the texts of a file's summary and Updated lines."""
    if source.headers is None:
        source.headers = [
            block.text
            for block in source.blocks
            if block.kind is BlockKind.SUMMARY or (block.text[:1] == "U" and is_updated_line(block))
        ]
    return source.headers


def is_updated_line(block: Block) -> bool:
    """Return True if a block is the `- Updated: YYYY-MM-DD` line of its file."""
    return block.text.startswith("Updated:") and (
        block.kind is BlockKind.BULLET and not block.tags and _UPDATED.fullmatch(block.text) is not None
    )


def _bullet_items(blocks: Sequence[Block], data: bytes, kind: MemoryType, *, checks: bool = False) -> Iterator[Item]:
    """Yield the top-level bullets as items, but for empty ones, the Updated line and tasks (`- [ ] buy tea`)."""
    for block in blocks:
        kind_of_block, start, end, _, text, tags, _ = block
        if kind_of_block is BlockKind.BULLET and text and not (text[0] == "U" and is_updated_line(block)):
            if text[0] == "[" and not checks and _CHECK_BOX.match(text):
                continue
            # Few bullets have an escape: only for these the cache is quicker than what it saves.
            content = _content(text) if "\\" in text else text.strip()
            yield Item(start, end, data[start:end].decode(), kind, content, tags)


@text_cache(bytes_max=_CONTENTS_BYTES, entry_bytes=150, char_bytes=2)
def _content(text: str) -> str:
    return unescaped(text).strip()


def _section_items(blocks: Sequence[Block], data: bytes) -> Iterator[Item]:
    """Yield the `##` sections as items."""
    for block in blocks:
        if block.kind is BlockKind.SECTION:
            text = data[block.start : block.end].decode()
            below = "\n".join(_stripped_lines(text)[1:]).strip("\n")
            body, tags = untagged(below)
            content, title = unescaped_tag(body), unescaped_heading(block.text) or None
            fields = block.fields if content == below else _fields_without_tags(block, below)
            if title or content:
                all_tags = tuple(dict.fromkeys((*block.tags, *tags))) if tags else block.tags
                yield Item(block.start, block.end, text, MemoryType.EPISODE, content, all_tags, title, fields)


def _fields_without_tags(block: Block, below: str) -> tuple[tuple[str, str], ...]:
    """Return the (name, value) pairs of a section's fields, without the tags at the end of the last value.

    Example: `- Solution: restart it #ops` is the last line; the field's value is "restart it".
    """
    *rest, (key, value) = block.fields or (("", ""),)
    last = value.rpartition("\n")[2]
    if not last or not below.endswith(last):
        return block.fields
    return (*rest, (key, unescaped_tag(untagged(value)[0])))


def _whole_file_item(data: bytes, front_matter: FrontMatter) -> Item:
    """Return a file with front matter as one item."""
    body, tags = untagged("\n".join(_stripped_lines(data[front_matter.end :].decode())).strip())
    kind = type_of_whole(front_matter)
    assert kind is not None
    title = front_matter.values["name"]
    fields = tuple((key, value) for key, value in front_matter.values.items() if key != "name")
    content = unescaped_tag(body) or front_matter.values.get("description") or title
    all_tags = tuple(dict.fromkeys((*front_matter.tags, *tags)))
    return Item(0, len(data), data.decode(), kind, content, all_tags, title, fields)


def _stripped_lines(text: str) -> list[str]:
    return [line.rstrip() for line in _ENDING.split(text)]


def _summary(source: ParsedSource, front_matter: FrontMatter | None) -> str:
    """Return the document's summary: its summary line, else its description, a sentence, or its first heading."""
    line = next((block.text for block in source.blocks if block.kind is BlockKind.SUMMARY), "")
    description = front_matter.values.get("description", "") if front_matter is not None else ""
    if line or description:
        return at_most(line or description)
    if source.document.items:
        return summary_of(source)
    return shortened(next((block.text for block in source.blocks if block.kind in _HEADINGS and block.text), ""))
