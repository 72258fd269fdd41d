"""The conversation in a budget: results grow shorter first, then the oldest pieces go, each gap with a line."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from reverie import tokens
from reverie.context.blocks import line
from reverie.context.cost import BLOCK, MESSAGE, block_cost, content_cost
from reverie.context.trim import trim_result
from reverie.context.units import Unit, said, unthinking

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Fitted", "fit", "floor_cost"]

_LEAST: Final = 30
"""Tokens of a tool result that is trimmed as far as it goes: its first and last line, and what is gone."""

_NEWEST: Final = (4, 2)
"""How many times the room of an older call's results the newest and the second newest call's may take."""

_GAP: Final = 16 + MESSAGE + BLOCK
"""Room for the line that stands for a gap."""

_DROPPED_CALL: Final = 96
"""Room for the line that names one call left out whole."""


@dataclass(slots=True)
class Fitted:
    """The pieces that stay, lines for the gaps among them, and what is told about the rest."""

    units: list[Unit]
    dropped: list[dict[str, Any]] = field(default_factory=list)

    @property
    def cost(self) -> int:
        """Tokens of the pieces before neighbours are merged, which can only lower it."""
        return sum(unit.cost for unit in self.units)


@dataclass(frozen=True, slots=True)
class _Size:
    """What a piece costs with its results cut to a cap: a fixed part, and the sizes of its results."""

    fixed: int
    results: tuple[int, ...]

    def at(self, cap: int) -> int:
        return self.fixed + sum(min(size, cap + BLOCK) for size in self.results)


def fit(units: Sequence[Unit], budget: int) -> Fitted:
    """The newest pieces within `budget` tokens; the caller has made sure that the floor fits (`floor_cost`)."""
    if sum(unit.cost for unit in units) <= budget:
        return Fitted(list(units))
    must = _required(units)
    shorter = [unit if position in must else unthinking(unit) for position, unit in enumerate(units)]
    sizes = [_size(unit) for unit in shorter]
    kept = _chosen(sizes, must, budget)
    room = budget - _gap_room(shorter, kept)
    caps = _caps([sizes[position] for position in kept], room)
    dropped: list[dict[str, Any]] = []
    chosen = {position: _trimmed(shorter[position], cap, dropped) for position, cap in zip(kept, caps, strict=True)}
    return Fitted(_with_lines(shorter, chosen, budget, dropped), dropped)


def floor_cost(units: Sequence[Unit]) -> int:
    """The least that the conversation needs: the last thing the person said, and the call that is still open."""
    must = _required(units)
    sizes = [
        _size(unit if position == len(units) - 1 else unthinking(unit))
        for position, unit in enumerate(units)
        if position in must
    ]
    gaps = 2 * _GAP if len(units) > len(must) else 0
    return sum(size.at(_LEAST) for size in sizes) + gaps


def _required(units: Sequence[Unit]) -> set[int]:
    last_said = max((position for position, unit in enumerate(units) if said(unit)), default=None)
    must = set() if last_said is None else {last_said}
    if units and units[-1].kind == "call":
        must.add(len(units) - 1)
    return must


def _size(unit: Unit) -> _Size:
    results = [content_cost(block["content"]) for block in unit.hears if block["type"] == "tool_result"]
    others = sum(block_cost(block) for block in unit.hears if block["type"] != "tool_result")
    sides = MESSAGE * (bool(unit.says) + bool(unit.hears))
    fixed = sides + sum(map(block_cost, unit.says)) + others + BLOCK * len(results)
    return _Size(fixed, tuple(results))


def _chosen(sizes: list[_Size], must: set[int], budget: int) -> list[int]:
    """Positions to keep, in order: what must stay, then the newest while they fit with the shortest results.

    A piece that alone takes half of the room is passed over; the first other one that does not fit ends the walk.
    """
    least = _LEAST
    room = budget - 2 * _GAP - sum(sizes[position].at(least) for position in must)
    kept = set(must)
    for position in range(len(sizes) - 1, -1, -1):
        if position in must:
            continue
        cost = sizes[position].at(least)
        if cost > room:
            if cost > budget // 2 and room > _DROPPED_CALL:
                room -= _DROPPED_CALL
                continue
            break
        room -= cost
        kept.add(position)
    return sorted(kept)


def _gap_room(units: Sequence[Unit], kept: list[int]) -> int:
    gaps = _gaps(len(units), kept)
    return sum(_DROPPED_CALL if len(gap) == 1 and units[gap[0]].kind == "call" else _GAP for gap in gaps)


def _gaps(total: int, kept: list[int]) -> list[range]:
    """The runs of positions that are not kept, each before the kept one that follows it."""
    edges = [-1, *kept, total]
    return [range(low + 1, high) for low, high in pairwise(edges) if high - low > 1]


def _caps(sizes: list[_Size], room: int) -> list[int]:
    """How much each kept piece's results may take: as much for all as fits, more for the newest."""
    newest = [position for position, size in enumerate(sizes) if size.results][::-1]
    factor = dict(zip(newest, _NEWEST, strict=False))

    def at(cap: int) -> list[int]:
        return [cap * factor.get(position, 1) for position in range(len(sizes))]

    low, high = _LEAST, max((result for size in sizes for result in size.results), default=_LEAST)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(size.at(cap) for size, cap in zip(sizes, at(middle), strict=True)) <= room:
            low = middle
        else:
            high = middle - 1
    return at(low) if low > _LEAST else [_LEAST] * len(sizes)


def _trimmed(unit: Unit, cap: int, dropped: list[dict[str, Any]]) -> Unit:
    hears = tuple(trim_result(block, cap) if block["type"] == "tool_result" else block for block in unit.hears)
    if hears == unit.hears:
        return unit
    before = sum(map(block_cost, unit.hears))
    gone = before - sum(map(block_cost, hears))
    dropped.append({"tier": "tail", "seq": unit.seq, "what": "tool_result", "tokens": gone, "why": "trimmed"})
    return replace(unit, hears=hears)


def _with_lines(
    units: Sequence[Unit], chosen: dict[int, Unit], budget: int, dropped: list[dict[str, Any]]
) -> list[Unit]:
    out: list[Unit] = []
    gaps = {gap[-1] + 1: gap for gap in _gaps(len(units), list(chosen))}
    for position in range(len(units) + 1):
        if position in gaps:
            gap = [units[each] for each in gaps[position]]
            gone = sum(unit.cost for unit in gap)
            dropped.append(
                {
                    "tier": "tail",
                    "seq": gap[-1].seq,
                    "what": "messages",
                    "count": len(gap),
                    "tokens": gone,
                    "why": "oversized" if gone > budget // 2 and len(gap) == 1 else "older than what fits",
                }
            )
            out.append(Unit("user", (), (line(_told(gap, gone)),), gap[-1].seq))
        if position in chosen:
            out.append(chosen[position])
    return out


def _told(gap: list[Unit], gone: int) -> str:
    if len(gap) == 1 and gap[0].kind == "call":
        calls = ", ".join(_named(block) for block in gap[0].says if block["type"] == "tool_use")
        short = tokens.truncate(calls, _DROPPED_CALL - _GAP - 20)
        return f"left out with its result, {gone} tokens: {short}"
    return f"{len(gap)} parts of the conversation left out, {gone} tokens"


def _named(call: dict[str, Any]) -> str:
    """A call by its tool and the first thing it was given, so that a reader knows what is missing."""
    first = next((value for value in call["input"].values() if isinstance(value, str) and value.strip()), "")
    return f"{call['name']} {' '.join(first.split())[:80]}".strip()
