"""Puts a person's save and the store's text together: what does not go together stays as the person wrote it."""

from __future__ import annotations

from dataclasses import dataclass

from reverie.merge import merge3
from reverie.sync.values import Region

__all__ = ["Combined", "combine"]


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
