"""Says which blocks of some documents carry on which of their old ones, also where a block moved between files."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from reverie.align import align

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["carry"]


def carry(
    before: Mapping[str, Sequence[tuple[str, str]]], after: Mapping[str, Sequence[str]]
) -> dict[str, list[str | None]]:
    """For each document of `after`, the id that each of its blocks carries on, or None for a new block.

    `before` has the old blocks of the documents that changed, each with its id; a path that is not in `after` is a
    document that is gone. A block first carries on one of its own document; what is left over then carries on the same
    words in another document, and at last the blocks of the document whose words moved here. No id appears twice.
    """
    carried: dict[str, list[str | None]] = {}
    gone = {path: dict(blocks) for path, blocks in before.items()}
    for path, texts in after.items():
        found = align(list(before.get(path, ())), list(texts))
        carried[path] = list(found.carried)
        gone[path] = {name: text for name, text in gone.get(path, {}).items() if name in set(found.gone)}
    sources = _same_words(carried, after, gone)
    for path, origins in sources.items():
        for origin in origins:
            _moved_with(carried[path], after[path], gone[origin])
    return carried


def _same_words(
    carried: Mapping[str, list[str | None]], after: Mapping[str, Sequence[str]], gone: dict[str, dict[str, str]]
) -> dict[str, list[str]]:
    """Gives new blocks the ids of equal ones that are gone elsewhere; where each path took them from, most first."""
    places: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted(gone, reverse=True):
        for name, text in reversed(gone[path].items()):
            places[text.strip()].append((path, name))
    sources: dict[str, Counter[str]] = {}
    for path, texts in after.items():
        for index, text in enumerate(texts):
            held = places.get(text.strip()) if carried[path][index] is None else None
            if held:
                origin, name = held.pop()
                carried[path][index] = name
                del gone[origin][name]
                sources.setdefault(path, Counter())[origin] += 1
    return {path: [origin for origin, _ in counts.most_common()] for path, counts in sources.items()}


def _moved_with(carried: list[str | None], texts: Sequence[str], gone: dict[str, str]) -> None:
    """Blocks that were edited while their document moved."""
    fresh = [index for index, name in enumerate(carried) if name is None]
    found = align(list(gone.items()), [texts[index] for index in fresh])
    for index, name in zip(fresh, found.carried, strict=True):
        if name is not None:
            carried[index] = name
            del gone[name]
