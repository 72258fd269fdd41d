"""Puts a person's save and the store's text together: what does not go together stays as the person wrote it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING

from reverie.merge import merge3
from reverie.sync.values import Region

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Combined", "combine", "relocated"]


@dataclass(frozen=True, slots=True)
class Combined:
    """The text, without any marks, and the places in which it has only the person's side."""

    text: str
    regions: tuple[Region, ...] = ()


def combine(base: str, held: str, person: str) -> Combined:
    """What the store and a person each made of `base`, as one text; insertions at one place are the store's first."""
    merged = merge3(base, held, person)
    if merged.clean:
        return Combined(merged.text)
    # The merged text has the side of "ours" where the two do not go together.
    merged = merge3(base, person, held)
    return Combined(
        merged.text, tuple(Region(each.ours.text, each.theirs.text, each.span[0]) for each in merged.conflicts)
    )


def relocated(regions: tuple[Region, ...], text: str, put: str) -> tuple[Region, ...]:
    """The places of a text in the one that was put instead of it, in which lines with secrets stayed as they were."""
    if text == put or not regions:
        return regions
    lines, others = text.split("\n"), put.split("\n")
    begins = [0, *accumulate(len(line) + 1 for line in others)]
    same = {
        block.a + number: block.b + number
        for block in SequenceMatcher(None, lines, others).get_matching_blocks()
        for number in range(block.size)
    }
    places = [None if each.at is None else _place(text.count("\n", 0, each.at), lines, same) for each in regions]
    found = [None if place is None else begins[place] for place in places]
    return tuple(
        replace(each, at=at if at is None or put.startswith(each.person, at) else None)
        for each, at in zip(regions, found, strict=True)
    )


def _place(line: int, lines: Sequence[str], same: Mapping[int, int]) -> int | None:
    """Where a line went, or what would stand before it: behind the one before. An empty line alone says nothing."""
    here, before = same.get(line), same.get(line - 1)
    if here is not None and (lines[line].strip() or before == here - 1):
        return here
    return before + 1 if before is not None and lines[line - 1].strip() else None
