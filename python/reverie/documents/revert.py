"""Takes one change of a document back, so that what came after it stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from reverie.blocks import BlockKind
from reverie.documents.changes import Add, Change, Changed, Delete, Update, Wording
from reverie.documents.read import is_updated_line, parsed
from reverie.documents.refresh import restamped, restated
from reverie.documents.render import heading_of
from reverie.documents.write import changed
from reverie.errors import ValidationError
from reverie.merge import merge3

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.documents.parsed_document import Item
    from reverie.documents.read import Parsed

__all__ = ["Stood", "taken_back"]

Stood: TypeAlias = "tuple[str, Sequence[str]]"
"""A document as it stood: its text, and the ids of its items."""


def taken_back(
    path: str, before: Stood | None, after: Stood, now: Stood, *, day: str
) -> tuple[str | None, tuple[str, ...] | None] | None:
    """The document `now` without what made `after` of `before`, which is None where the document was made.

    The text, None where the document goes; and the ids of its items, None where they have to be told by alignment.
    None altogether if the same places were changed since. The summary and the day of a file stand in nobody's way:
    they are made anew. Texts are merged first; where they overlap, items are taken back one by one, and those that
    come back stand where new ones would. `day` (`YYYY-MM-DD`) is that of the write.
    """
    if now[0] == after[0]:
        return (None, ()) if before is None else (before[0], tuple(before[1]))
    if before is not None:
        merged = merge3(restamped(path, after[0], now[0]), now[0], restamped(path, before[0], now[0]))
        if merged.clean:
            parts = parsed(path, merged.text)
            return restated(parts, day=day), _known(path, parts, [now, before])
    found = _by_items(path, before, after, now, day)
    return None if found is None else (found.text, found.ids)


def _by_items(path: str, before: Stood | None, after: Stood, now: Stood, day: str) -> Changed | None:
    was = None if before is None else parsed(path, before[0])
    became, stands = parsed(path, after[0]), parsed(path, now[0])
    if _frame(became) not in ([_frame(was)] if was is not None else [[], [f"# {heading_of(path)}"]]):
        return None
    old: dict[str, Item] = {}
    if before is not None and was is not None:
        old = dict(zip(before[1], was.page.items, strict=True))
    new = dict(zip(after[1], became.page.items, strict=True))
    changes = _backwards(old, new, dict(zip(now[1], stands.page.items, strict=True)))
    if changes is None:
        return None
    try:
        return changed(path, now[0], now[1], changes, day=day)
    except ValidationError as refused:
        if refused.details.get("reason") != "breaks_out":
            raise
        return None


def _backwards(old: Mapping[str, Item], new: Mapping[str, Item], now: Mapping[str, Item]) -> list[Change] | None:
    """The changes that turn `new` back into `old` in what stands `now`; None if one of them was changed since."""
    changes: list[Change] = []
    for name in {**old, **new}:
        was, became, stands = (_words(items.get(name)) for items in (old, new, now))
        if was in (became, stands):
            continue
        if stands != became:
            return None
        if was is None:
            changes.append(Delete(name))
        else:
            changes.append(Add(name, was) if stands is None else Update(name, was))
    return changes


def _words(item: Item | None) -> Wording | None:
    return None if item is None else Wording(item.content, item.tags, item.title, item.fields)


def _known(path: str, parts: Parsed, stood: Sequence[Stood]) -> tuple[str, ...] | None:
    """The ids of items that stand in one of these documents, the first one first; None where one is told nowhere."""
    held: dict[str, list[str]] = {}
    for text, ids in stood:
        for name, item in zip(ids, parsed(path, text).page.items, strict=True):
            held.setdefault(item.text.strip(), []).append(name)
    names: list[str] = []
    for item in parts.page.items:
        free = [name for name in held.get(item.text.strip(), ()) if name not in names]
        if not free:
            return None
        names.append(free[0])
    return tuple(names)


def _frame(parts: Parsed) -> list[str]:
    """The lines around the items that say something, but for the summary and the day."""
    spans = [(item.start, item.end) for item in parts.page.items]
    spans += [
        (block.start, block.end) for block in parts.blocks if block.kind is BlockKind.SUMMARY or is_updated_line(block)
    ]
    data = parts.data
    for start, end in sorted(spans, reverse=True):
        data = data[:start] + data[end:]
    return [line.strip() for line in data.decode().splitlines() if line.strip("\ufeff \t")]
