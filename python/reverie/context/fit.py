"""Fitting of the conversation (the messages alone) into its budget: results are shortened, old units dropped."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from reverie import tokenizer
from reverie.context.tokens import BLOCK, MESSAGE, trim_result
from reverie.context.units import Unit, is_user_speech, make_unit, notice_block, without_thinking
from reverie.models import Dropped

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAST: Final = 30
"""Tokens of a tool result that is trimmed to the least: its first and last line, and a notice of the gap."""

_NEWEST: Final = (4, 2)
"""How many times the room of an older call's results the newest and the second newest call's may take."""

_GAP: Final = 20 + MESSAGE + BLOCK
"""Tokens of the notice in place of left-out messages."""

_NAMED_GAP: Final = 96
"""Tokens of the notice in place of one whole tool call."""


@dataclass(slots=True)
class FittedConversation:
    """A conversation within its budget: its units with notices for the gaps, and a report of the dropped ones."""

    units: list[Unit]
    dropped: list[Dropped] = field(default_factory=list)

    @property
    def cost(self) -> int:
        """Tokens of the units before neighbours are merged (an upper bound)."""
        return sum(piece.cost for piece in self.units)


def fit_conversation(units: Sequence[Unit], budget: int) -> FittedConversation:
    """Return the newest units within `budget` tokens; the budget must be at least `floor_cost`.

    Thinking of finished turns goes first, then results grow shorter, then the oldest pieces go; a call that alone
    takes half of the room is left out whole, by name.
    """
    if sum(piece.cost for piece in units) <= budget:
        return FittedConversation(list(units))
    must = _required(units)
    opened = min(must, default=0)
    shorter = [piece if position >= opened else without_thinking(piece) for position, piece in enumerate(units)]
    kept, oversized = _kept_positions(shorter, must, budget)
    dropped: list[Dropped] = []
    lines = _gap_notices(shorter, kept, oversized, dropped)
    room = budget - sum(piece.cost for piece in lines.values())
    caps = _result_limits([shorter[position] for position in kept], room)
    chosen = {position: _trimmed(shorter[position], cap, dropped) for position, cap in zip(kept, caps, strict=True)}
    return FittedConversation([piece for _, piece in sorted({**chosen, **lines}.items())], dropped)


def floor_cost(units: Sequence[Unit]) -> int:
    """Return the minimum a conversation needs: the last user message and any open tool call."""
    must = _required(units)
    gaps = 2 * _GAP if len(units) > len(must) else 0
    least = sum(units[position].at(_LEAST) for position in must) + gaps
    return min(least, sum(piece.cost for piece in units))


def _required(units: Sequence[Unit]) -> set[int]:
    last_said = max((position for position, piece in enumerate(units) if is_user_speech(piece)), default=None)
    must = set() if last_said is None else {last_said}
    if units and units[-1].kind == "call":
        must.add(len(units) - 1)
    return must


def _kept_positions(units: Sequence[Unit], must: set[int], budget: int) -> tuple[list[int], set[int]]:
    """Return the positions to keep (required ones, the newest that fit), and those passed over as too large alone.

    Also those that are passed over because they alone take half of the room; the first other piece that does not fit
    ends the walk.
    """
    room = budget - 2 * _GAP - sum(units[position].at(_LEAST) for position in must)
    kept = set(must)
    oversized: set[int] = set()
    for position in range(len(units) - 1, -1, -1):
        if position in must:
            continue
        cost = units[position].at(_LEAST)
        if cost <= room:
            room -= cost
            kept.add(position)
        elif cost > budget // 2 and room >= _NAMED_GAP:
            room -= _NAMED_GAP
            oversized.add(position)
        else:
            break
    return sorted(kept), oversized


def _gap_notices(
    units: Sequence[Unit], kept: list[int], oversized: set[int], dropped: list[Dropped]
) -> dict[int, Unit]:
    """Return a notice for every gap, keyed by the gap's last position."""
    lines: dict[int, Unit] = {}
    for gap in _gaps(len(units), kept):
        pieces = [units[position] for position in gap]
        gone = sum(piece.cost for piece in pieces)
        named = len(gap) == 1 and gap[0] in oversized
        why = "oversized" if named else "older than what fits"
        seq = pieces[-1].seq
        dropped.append(Dropped("tail", seq=seq, what="messages", count=len(gap), tokens=gone, why=why))
        text = (
            _describe_unit(pieces[0], gone)
            if named
            else f"{len(gap)} parts of the conversation left out, {gone} tokens"
        )
        lines[gap[-1]] = make_unit("user", (), (notice_block(text),), seq)
    return lines


def _gaps(total: int, kept: list[int]) -> list[range]:
    """Return the ranges of dropped positions before, between and after the kept ones, in order."""
    edges = [-1, *kept, total]
    return [range(low + 1, high) for low, high in pairwise(edges) if high - low > 1]


def _result_limits(units: Sequence[Unit], room: int) -> list[int]:
    """Return the token limit of each kept unit's results: equal shares, more for the newest."""
    newest = [position for position, piece in enumerate(units) if piece.results][::-1]
    factor = dict(zip(newest, _NEWEST, strict=False))

    def at(cap: int) -> list[int]:
        return [cap * factor.get(position, 1) for position in range(len(units))]

    low, high = _LEAST, max((result for piece in units for result in piece.results), default=_LEAST)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(piece.at(cap) for piece, cap in zip(units, at(middle), strict=True)) <= room:
            low = middle
        else:
            high = middle - 1
    return at(low) if low > _LEAST else [_LEAST] * len(units)


def _trimmed(piece: Unit, cap: int, dropped: list[Dropped]) -> Unit:
    if all(size <= cap + BLOCK for size in piece.results):
        return piece
    user_blocks = tuple(
        trim_result(block, cap) if block["type"] == "tool_result" else block for block in piece.user_blocks
    )
    shorter = make_unit(piece.kind, piece.assistant_blocks, user_blocks, piece.seq)
    gone = piece.cost - shorter.cost
    dropped.append(Dropped("tail", seq=piece.seq, what="tool_result", tokens=gone, why="trimmed"))
    return shorter


def _describe_unit(piece: Unit, gone: int) -> str:
    """Describe a dropped unit by its tools and the first argument of each."""
    calls = ", ".join(_called(block) for block in piece.assistant_blocks if block["type"] == "tool_use")
    what = f"{calls} and the result" if calls else "one message"
    return f"left out, {gone} tokens: {tokenizer.truncate(what, _NAMED_GAP - _GAP - 8)}"


def _called(call: dict[str, Any]) -> str:
    first = next((value for value in call["input"].values() if isinstance(value, str) and value.strip()), "")
    return f"{call['name']} {' '.join(first.split())[:80]}".strip()
