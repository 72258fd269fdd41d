"""Lets go of what the retention rules say is old enough, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.store import Write
from reverie.store.retention import Rules, Step, prune

if TYPE_CHECKING:
    from reverie.store import Writer

__all__ = ["Rules", "Step", "step"]


def step(space: str, rules: Rules, cursor: str | None) -> Write[Step]:
    """One bounded step over one space, from where the last one stopped; bookkeeping, so no operation comes of it."""

    def body(writer: Writer) -> Step:
        return prune(writer, rules, cursor)

    return Write(space=space, who="retention", why="retention", body=body)
