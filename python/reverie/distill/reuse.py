"""Names in the excerpts: how likely the work is to use each again, and lists of those whose lines find no room."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reverie import tokenizer
from reverie.distill.excerpt_lines import Line, Source
from reverie.distill.sentences import specific_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

_HORIZON = 10  # recency halves ten times: about a million characters back nothing is recent
_UNIT = 1_000  # characters, within which everything is now


@dataclass(slots=True)
class _Use:
    """Counters of one name: uses, uses in tool inputs, and the position of its last use by source and as an origin."""

    count: int = 0
    asked: int = 0
    last: dict[Source, int] = field(default_factory=dict)
    latest: int = 0
    opened: int = 0


def name_weights(found: Sequence[Line], named: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return an estimated probability of reuse for each name; `named` are the names on each line of `found`.

    The weights say what real sessions went on to use: what was edited, typed or spoken of lately, and the files that
    were open, far ahead of what only passed by in results.
    """
    uses: dict[str, _Use] = {}
    origins: dict[str, int] = {}
    at = 0
    for line, mentioned in zip(found, named, strict=True):
        at += len(line.text) + 1
        origins[line.origin] = at
        for name in mentioned:
            use = uses.setdefault(name, _Use())
            use.count += 1
            use.asked += line.source is Source.INPUT
            use.last[line.source] = use.latest = at
    for origin, last in origins.items():
        for name in specific_names(origin):
            use = uses.setdefault(name, _Use())
            use.opened = max(use.opened, last)
            use.latest = max(use.latest, last)
    return {name: _worth(name, use, at) for name, use in uses.items()}


def _worth(name: str, use: _Use, end: int) -> float:
    def recent(source: Source) -> float:
        at = use.last.get(source)
        return 0.0 if at is None else _recency(end - at)

    log_odds = (
        -5.0
        + 0.2 * math.log2(1 + use.count)
        + 0.6 * math.log2(1 + use.asked)
        + 2.6 * _recency(end - use.latest)
        + 1.9 * recent(Source.EDIT)
        + 1.1 * recent(Source.INPUT)
        + 1.1 * recent(Source.AGENT)
        + (1.5 * _recency(end - use.opened) if use.opened else 0.0)
        + (0.6 if "/" in name or "." in name else 0.3)
    )
    return 1 / (1 + math.exp(-log_odds))


def _recency(back: int) -> float:
    return 1 - min(_HORIZON, math.log2(1 + back / _UNIT)) / _HORIZON


ORIGIN = "Also named, in lines that are left out"

_TOGETHER = 8  # names on one line


def list_names(
    last_lines: Mapping[str, Line], worth: Mapping[str, float], shown: AbstractSet[str], budget: int
) -> list[tuple[Line, int]]:
    """Return lines of missing names within `budget` tokens, and each line's tokens; most valuable names first.

    `last_lines` maps each name to the last line that has it, and `worth` to its value. Left out are the names in
    `shown`, which other lines have, and a bare file name where a path to it is told.
    """
    missing = [name for name in last_lines if name not in shown]
    with_folder = {name.rpartition("/")[2] for name in (*shown, *missing) if "/" in name}
    missing = [name for name in missing if name not in with_folder]
    costs = dict(zip(missing, tokenizer.count_many([f" {name}," for name in missing]), strict=True))
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
        lists.append((Line(text, ORIGIN, line.source, line.seq, line.order), tokenizer.count(f"{text}\n")))
    return lists
