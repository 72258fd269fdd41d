"""The header lines of a document, its `> Summary:` line and its `- Updated:` value: update, add or copy them."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Final

from reverie import text_patch
from reverie.documents.apply import inserted, start_of_body
from reverie.documents.escape import ending_of
from reverie.documents.layout import DIVIDED
from reverie.documents.parse import is_updated_line, parse_document, parse_source, summary_of
from reverie.documents.summary import at_most, masked, unmasked
from reverie.errors import ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.markdown_blocks import BlockKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.documents.parse import ParsedSource
    from reverie.markdown_blocks import Block

_SUMMARY: Final = lazy_regex(r"(?P<head>[^:]*Summary:)(?P<space>[ \t]*)(?P<value>.*?)(?P<tail>[ \t]*[\r\n]*)\Z")
_DATE: Final = lazy_regex(r"\d{4}-\d{2}-\d{2}")


def refresh_header(path: str, text: str, *, day: str, summary: str | None = None) -> str:
    """Return a document after an agent or engine wrote it: a sentence of it is its summary, the day its last update.

    `summary` replaces the sentence, at most ten words of it. A missing summary line is added below the title. All other
    bytes stay, and a second call changes nothing. `day` is `YYYY-MM-DD`.
    """
    source = parse_source(path, text)
    has_summary = any(block.kind is BlockKind.SUMMARY for block in source.blocks)
    wanted = _wanted_summary(source, summary)
    after = update_header(source, day=day, summary=summary)
    if wanted is None or has_summary or not path.endswith(".md") or not (source.document.items or summary):
        return after
    items = [(item.content, item.tags) for item in source.document.items]
    data = after.encode()
    top = start_of_body(source.blocks, data)
    title = next((block.end for block in source.blocks if block.kind is BlockKind.TITLE), top)
    candidates = chain.from_iterable(
        inserted(data, offset, f"> Summary: {wanted}\n", ending_of(after)) for offset in (title, top)
    )
    for candidate in candidates:
        document = parse_document(path, candidate)
        if document.summary == wanted and [(item.content, item.tags) for item in document.items] == items:
            return candidate
    return after


def update_header(source: ParsedSource, *, day: str, summary: str | None = None) -> str:
    """Return a document whose summary and Updated lines, if it has them, are up to date; nothing is added."""
    wanted = _wanted_summary(source, summary)
    edits: list[tuple[int, int, str]] = []
    if wanted is not None:
        edits += _summary_edit(source.blocks, source.data, wanted)
    if source.document.kind in DIVIDED:
        edits += _day_edit(source.blocks, source.data, day)
    return _with_edits(source.data, edits)


def copy_header(path: str, text: str, like: str) -> str:
    """Return a document whose summary and Updated lines, if it has them, have the values of another text's."""
    source, other = parse_source(path, text), parse_source(path, like)
    summary = next((block.text for block in other.blocks if block.kind is BlockKind.SUMMARY), None)
    updated = next((block.text for block in reversed(other.blocks) if is_updated_line(block)), None)
    edits = [] if summary is None else _summary_edit(source.blocks, source.data, summary)
    if updated is not None:
        edits += _day_edit(source.blocks, source.data, updated[-len("2026-11-21") :])
    return _with_edits(source.data, edits)


def patch_text(text: str, patches: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """Return a document with patches applied and their number, as `text_patch.patch` does.

    Old texts that are not unique because the summary line quotes them count as those of the memories.
    """
    try:
        return text_patch.patch(text, patches)
    except ValidationError:
        hidden = masked(text)
        if hidden is not None:
            with suppress(ValidationError):
                after, count = text_patch.patch(hidden, patches)
                return unmasked(after, text), count
        raise


def written_summary(path: str, text: str) -> str | None:
    """Return the value of a document's `> Summary:` line as it is written; None without one."""
    blocks = parse_source(path, text).blocks
    return next((block.text for block in blocks if block.kind is BlockKind.SUMMARY), None)


def _wanted_summary(source: ParsedSource, summary: str | None) -> str | None:
    """Return the summary that a document shall have, or None if only a person can write one."""
    if summary is not None and at_most(summary):
        return at_most(summary)
    is_made_of_items = source.document.kind in DIVIDED
    return summary_of(source) if is_made_of_items else None


def _summary_edit(blocks: Sequence[Block], data: bytes, wanted: str) -> list[tuple[int, int, str]]:
    """Return the edit (start, end, text) of the summary line, or nothing if it needs none."""
    block = next((block for block in blocks if block.kind is BlockKind.SUMMARY), None)
    if block is None or block.text == wanted:
        return []
    line = _SUMMARY.match(data[block.start : block.end].decode())
    assert line is not None
    return [(block.start, block.end, f"{line['head']}{line['space'] or ' '}{wanted}{line['tail']}")]


def _day_edit(blocks: Sequence[Block], data: bytes, day: str) -> list[tuple[int, int, str]]:
    """Return the edit (start, end, text) of the last Updated line, or nothing if there is none."""
    block = next((block for block in reversed(blocks) if is_updated_line(block)), None)
    if block is None:
        return []
    line = data[block.start : block.end].decode()
    updated = _DATE.sub(day, line, count=1)
    return [] if updated == line else [(block.start, block.end, updated)]


def _with_edits(data: bytes, edits: Sequence[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        data = data[:start] + new.encode() + data[end:]
    return data.decode()
