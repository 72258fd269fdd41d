"""Says where in a document a new item goes: behind the last fact, or behind the episodes of its day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.documents.document_kind import Form
from reverie.documents.read import is_updated_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.blocks import Block
    from reverie.documents.parsed_document import Item
    from reverie.documents.read import Parsed

__all__ = ["place_of"]


def place_of(given: Parsed, day: str) -> int | None:
    """The index of the block behind which a new item of `day` goes; None for the end of the document."""
    starts = {block.start: index for index, block in enumerate(given.blocks)}
    told = given.page.items
    items = [starts[item.start] for item in told]
    return _episode(told, items, day) if given.page.form is Form.EPISODES else _fact(given.blocks, items)


def _fact(blocks: Sequence[Block], items: Sequence[int]) -> int | None:
    """Behind the last item, of those that stand before the Updated line if there are any; else before that line."""
    updated = max((index for index, block in enumerate(blocks) if is_updated_line(block)), default=None)
    before = [index for index in items if updated is None or index < updated]
    if before or items:
        return (before or items)[-1]
    return None if updated is None else max(0, updated - 1)


def _episode(told: Sequence[Item], items: Sequence[int], day: str) -> int | None:
    """Behind the last episode that is not of a later day; one without a day is of the day before it."""
    at: int | None = None
    last = ""
    for item, index in zip(told, items, strict=True):
        last = next((value[:10] for key, value in item.fields if key == "Date" and value), last)
        if last <= day:
            at = index
    if at is not None or not items:
        return at
    return items[0] - 1 if items[0] > 0 else items[-1]
