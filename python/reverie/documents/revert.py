"""Revert one change of a document and keep the later changes: the document's part of undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from reverie.documents.edit import apply_changes
from reverie.documents.episodes import heading_of
from reverie.documents.header import copy_header, update_header
from reverie.documents.items import Add, Change, ChangedDocument, Delete, Update, Wording
from reverie.documents.parse import ids_of_items, is_updated_line, parse_source
from reverie.errors import ValidationError
from reverie.markdown_blocks import BlockKind
from reverie.merge import merge3

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.documents.items import Item
    from reverie.documents.parse import ParsedSource

DocumentVersion: TypeAlias = "tuple[str, Sequence[str]]"
"""One version of a document: its text, and the ids of its items."""


def revert_change(
    path: str, before: DocumentVersion | None, after: DocumentVersion, now: DocumentVersion, *, day: str
) -> tuple[str | None, tuple[str, ...] | None] | None:
    """Return the document `now` without the change from `before` to `after`; a `before` of None: it was created.

    The result is the text, None if the document is to be deleted, and the ids of its items, None if they have to be
    found by alignment. The whole result is None if the same places were changed since. Summary and Updated lines never
    conflict: they are written anew. `day` (`YYYY-MM-DD`) is that of the write.

    Texts are merged three-way first (base: after; ours: now; theirs: before). Where they overlap, items are reverted
    one by one, and those that come back go where new ones would. Example: a line was deleted, and its neighbour edited
    since: the texts overlap, the items do not.
    """
    before = None if before is None else _today(path, before)
    after, now = _today(path, after), _today(path, now)
    if now[0] == after[0]:
        return (None, ()) if before is None else (before[0], tuple(before[1]))
    if before is not None:
        merged = merge3(copy_header(path, after[0], now[0]), now[0], copy_header(path, before[0], now[0]))
        if merged.clean:
            source = parse_source(path, merged.text)
            return update_header(source, day=day), _ids_of_same_items(path, source, [now, before])
    reverted = _revert_items(path, before, after, now, day)
    return None if reverted is None else (reverted.text, reverted.ids)


def _today(path: str, version: DocumentVersion) -> DocumentVersion:
    """Return a version with the ids of what is an item today."""
    return version[0], ids_of_items(path, *version)


def _revert_items(
    path: str, before: DocumentVersion | None, after: DocumentVersion, now: DocumentVersion, day: str
) -> ChangedDocument | None:
    """Return the document with its items reverted one by one, or None if that is not possible."""
    old_source = None if before is None else parse_source(path, before[0])
    new_source, now_source = parse_source(path, after[0]), parse_source(path, now[0])
    # A change of anything but items cannot be reverted this way.
    if _frame(new_source) not in ([_frame(old_source)] if old_source is not None else [[], [f"# {heading_of(path)}"]]):
        return None
    old: dict[str, Item] = {}
    if before is not None and old_source is not None:
        old = dict(zip(before[1], old_source.document.items, strict=True))
    new = dict(zip(after[1], new_source.document.items, strict=True))
    changes = _inverse_changes(old, new, dict(zip(now[1], now_source.document.items, strict=True)))
    if changes is None:
        return None
    try:
        return apply_changes(path, now[0], now[1], changes, day=day)
    except ValidationError as error:
        if error.details.get("reason") != "breaks_out":
            raise
        return None


def _inverse_changes(old: Mapping[str, Item], new: Mapping[str, Item], now: Mapping[str, Item]) -> list[Change] | None:
    """Return the changes of `now` that revert the change from `old` to `new`; None if an item was changed since."""
    changes: list[Change] = []
    for name in {**old, **new}:
        old_words, new_words, now_words = (_words(items.get(name)) for items in (old, new, now))
        if old_words in (new_words, now_words):
            continue
        if now_words != new_words:
            return None
        if old_words is None:
            changes.append(Delete(name))
        else:
            changes.append(Add(name, old_words) if now_words is None else Update(name, old_words))
    return changes


def _words(item: Item | None) -> Wording | None:
    return None if item is None else Wording(item.content, item.tags, item.title, item.fields)


def _ids_of_same_items(path: str, source: ParsedSource, versions: Sequence[DocumentVersion]) -> tuple[str, ...] | None:
    """Return the ids of equal items in these versions, the first version first; None if an item is in none of them."""
    ids_by_text: dict[str, list[str]] = {}
    for text, ids in versions:
        for name, item in zip(ids, parse_source(path, text).document.items, strict=True):
            ids_by_text.setdefault(item.text.strip(), []).append(name)
    names: list[str] = []
    for item in source.document.items:
        free = [name for name in ids_by_text.get(item.text.strip(), ()) if name not in names]
        if not free:
            return None
        names.append(free[0])
    return tuple(names)


def _frame(source: ParsedSource) -> list[str]:
    """Return the lines around the items, without empty ones, the summary and the Updated line."""
    spans = [(item.start, item.end) for item in source.document.items]
    spans += [
        (block.start, block.end) for block in source.blocks if block.kind is BlockKind.SUMMARY or is_updated_line(block)
    ]
    data = source.data
    for start, end in sorted(spans, reverse=True):
        data = data[:start] + data[end:]
    return [line.strip() for line in data.decode().splitlines() if line.strip("\ufeff \t")]
