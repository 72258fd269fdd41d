"""Match the blocks of changed documents with their old ones, so that memories keep their ids across edits and moves."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from reverie.match_and_edit_markdown_blocks import align

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def match_ids(
    before: Mapping[str, Sequence[tuple[str, str]]], after: Mapping[str, Sequence[str]]
) -> dict[str, list[str | None]]:
    """Return, for each document of `after`, the id that each of its blocks keeps, or None for a new block.

    `before` has the old blocks of the documents that changed, each as (id, text); a path that is not in `after` is a
    document that was deleted. No id appears twice. In this order, from certain to uncertain:

    1. A block keeps the id of one in its own document (aligned by text, position and similarity).
    2. A new block takes the id of an equal one that is gone from another document: it was moved.
    3. What is still new takes an id of the documents from which blocks moved here: it was edited while its document was
       renamed.
    """
    matches: dict[str, list[str | None]] = {}
    gone = {path: dict(blocks) for path, blocks in before.items()}
    for path, texts in after.items():
        alignment = align(list(before.get(path, ())), list(texts))
        matches[path] = list(alignment.old_ids)
        gone[path] = {name: text for name, text in gone.get(path, {}).items() if name in set(alignment.deleted_ids)}
    sources = _match_equal_blocks(matches, after, gone)
    for path, origins in sources.items():
        for origin in origins:
            _match_edited_blocks(matches[path], after[path], gone[origin])
    return matches


def _match_equal_blocks(
    matches: Mapping[str, list[str | None]], after: Mapping[str, Sequence[str]], gone: dict[str, dict[str, str]]
) -> dict[str, list[str]]:
    """Give new blocks the ids of equal blocks that left other documents; return these documents for each path."""
    origins_by_text: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted(gone, reverse=True):
        for name, text in reversed(gone[path].items()):
            origins_by_text[text.strip()].append((path, name))
    sources: dict[str, Counter[str]] = {}
    for path, texts in after.items():
        for index, text in enumerate(texts):
            origins = origins_by_text.get(text.strip()) if matches[path][index] is None else None
            if origins:
                origin, name = origins.pop()
                matches[path][index] = name
                del gone[origin][name]
                sources.setdefault(path, Counter())[origin] += 1
    return {path: [origin for origin, _ in counts.most_common()] for path, counts in sources.items()}


def _match_edited_blocks(matches: list[str | None], texts: Sequence[str], gone: dict[str, str]) -> None:
    """Give new blocks the ids of similar blocks that left the document from which other blocks came."""
    new = [index for index, name in enumerate(matches) if name is None]
    alignment = align(list(gone.items()), [texts[index] for index in new])
    for index, name in zip(new, alignment.old_ids, strict=True):
        if name is not None:
            matches[index] = name
            del gone[name]
