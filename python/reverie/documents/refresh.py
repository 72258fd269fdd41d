"""Keeps what a document says about itself: its `> Summary:` line and its `- Updated:` value."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Final

from reverie.blocks import BlockKind
from reverie.documents.document_kind import Form
from reverie.documents.lines import ending_of
from reverie.documents.read import is_updated_line, parsed, read
from reverie.documents.splice import inserted, top_of
from reverie.documents.topics import at_most, summary_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.blocks import Block
    from reverie.documents.parsed_document import Page
    from reverie.documents.read import Parsed

__all__ = ["refreshed", "restamped", "restated"]

_SUMMARY: Final = re.compile(r"(?P<head>[^:]*Summary:)(?P<space>[ \t]*)(?P<value>.*?)(?P<tail>[ \t]*[\r\n]*)\Z")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def refreshed(path: str, text: str, *, day: str, summary: str | None = None) -> str:
    """A document after an agent or an engine wrote it: its summary line says its topics, its Updated line the day.

    `summary` replaces the topics, at most ten words of it. A summary line that is missing is put under the title. All
    other bytes stay, and nothing changes the second time. `day` is `YYYY-MM-DD`.
    """
    parts = parsed(path, text)
    told = any(block.kind is BlockKind.SUMMARY for block in parts.blocks)
    wanted = _wanted(parts.page, summary)
    after = restated(parts, day=day, summary=summary)
    if wanted is None or told or not path.endswith(".md") or not (parts.page.items or summary):
        return after
    said = [(item.content, item.tags) for item in parts.page.items]
    data = after.encode()
    top = top_of(parts.blocks, data)
    title = next((block.end for block in parts.blocks if block.kind is BlockKind.TITLE), top)
    for candidate in chain.from_iterable(
        inserted(data, place, f"> Summary: {wanted}\n", ending_of(after)) for place in (title, top)
    ):
        page = read(path, candidate)
        if page.summary == wanted and [(item.content, item.tags) for item in page.items] == said:
            return candidate
    return after


def restated(parts: Parsed, *, day: str, summary: str | None = None) -> str:
    """A document whose summary line and Updated line, where it has them, say what is so now; nothing is added."""
    wanted = _wanted(parts.page, summary)
    edits: list[tuple[int, int, str]] = []
    if wanted is not None:
        edits += _summary_edit(parts.blocks, parts.data, wanted)
    if parts.page.form in {Form.FACTS, Form.EPISODES}:
        edits += _day_edit(parts.blocks, parts.data, day)
    return _edited(parts.data, edits)


def restamped(path: str, text: str, like: str) -> str:
    """A document whose summary line and Updated line, where it has them, say what those of another text say."""
    parts, other = parsed(path, text), parsed(path, like)
    summary = next((block.text for block in other.blocks if block.kind is BlockKind.SUMMARY), None)
    updated = next((block.text for block in reversed(other.blocks) if is_updated_line(block)), None)
    edits = [] if summary is None else _summary_edit(parts.blocks, parts.data, summary)
    if updated is not None:
        edits += _day_edit(parts.blocks, parts.data, updated[-len("2026-11-21") :])
    return _edited(parts.data, edits)


def _wanted(page: Page, summary: str | None) -> str | None:
    """What the summary line is to say; None where nobody but a person says what the document is about."""
    if summary is not None and at_most(summary):
        return at_most(summary)
    return summary_line(page.items) if page.form in {Form.FACTS, Form.EPISODES} else None


def _summary_edit(blocks: Sequence[Block], data: bytes, wanted: str) -> list[tuple[int, int, str]]:
    block = next((block for block in blocks if block.kind is BlockKind.SUMMARY), None)
    if block is None or block.text == wanted:
        return []
    found = _SUMMARY.match(data[block.start : block.end].decode())
    assert found is not None
    return [(block.start, block.end, f"{found['head']}{found['space'] or ' '}{wanted}{found['tail']}")]


def _day_edit(blocks: Sequence[Block], data: bytes, day: str) -> list[tuple[int, int, str]]:
    block = next((block for block in reversed(blocks) if is_updated_line(block)), None)
    if block is None:
        return []
    line = data[block.start : block.end].decode()
    return [(block.start, block.end, _DATE.sub(day, line, count=1))]


def _edited(data: bytes, edits: Sequence[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        data = data[:start] + new.encode() + data[end:]
    return data.decode()
