"""Short lists of the names whose lines find no room among the excerpts, at a few tokens a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import token_counter
from reverie.distill.extractive.excerpt_lines import Line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

__all__ = ["ORIGIN", "list_names"]

ORIGIN = "Also named, in lines that are left out"

_TOGETHER = 8  # names on one line


def list_names(
    last_lines: Mapping[str, Line], worth: Mapping[str, float], shown: AbstractSet[str], budget: int
) -> list[tuple[Line, int]]:
    """Return lines of names in about `budget` tokens, each with its tokens; the most valuable names per token first.

    `last_lines` maps each name to the last line that has it, and `worth` to its value. Left out are the names in
    `shown`, which other lines have, and a bare file name where a path to it is told.
    """
    missing = [name for name in last_lines if name not in shown]
    with_folder = {name.rpartition("/")[2] for name in (*shown, *missing) if "/" in name}
    missing = [name for name in missing if name not in with_folder]
    costs = dict(zip(missing, token_counter.count_many([f" {name}," for name in missing]), strict=True))
    missing.sort(key=lambda name: worth[name] / costs[name], reverse=True)
    chosen: list[str] = []
    left = budget
    for name in missing:
        if costs[name] <= left:
            chosen.append(name)
            left -= costs[name]
    lists: list[tuple[Line, int]] = []
    for start in range(0, len(chosen), _TOGETHER):
        together = chosen[start : start + _TOGETHER]
        text = ", ".join(together)
        line = last_lines[together[0]]
        lists.append((Line(text, ORIGIN, line.source, line.seq, line.order), token_counter.count(f"{text}\n")))
    return lists
