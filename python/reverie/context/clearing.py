"""Context editing (seed 001, tier 4): its values for the server, and the same rules applied here for other models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reverie.context.cost import content_cost
from reverie.context.families import edits_on_server
from reverie.context.units import Unit, said, unit, unthinking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.context.parts import Limits

__all__ = ["PLACEHOLDER", "clear", "cleared_cost", "cleared_ids", "edits"]

PLACEHOLDER: Final = "[old tool result cleared; call the tool again if it is needed]"


def edits(model: str | None, limits: Limits) -> list[dict[str, Any]]:
    """The `edits` of `context_management`, the thinking edit first; none where we edit ourselves."""
    if not edits_on_server(model):
        return []
    return [
        {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": limits.keep_thinking_turns}},
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": int(limits.window * limits.trigger)},
            "keep": {"type": "tool_uses", "value": limits.keep_tool_uses},
            "clear_at_least": {"type": "input_tokens", "value": int(limits.window * limits.clear_at_least)},
        },
    ]


def cleared_ids(units: Sequence[Unit], limits: Limits, beside: int = 0) -> list[str]:
    """The tool uses whose results the documented rules clear, oldest first. `beside` are tokens of everything else.

    Beyond the trigger every result goes but those of the last `keep_tool_uses` calls; if that frees less than
    `clear_at_least`, nothing goes.
    """
    if beside + sum(piece.cost for piece in units) <= int(limits.window * limits.trigger):
        return []
    results = [
        (block["tool_use_id"], size)
        for piece in units
        for block, size in zip(_results(piece), piece.results, strict=True)
    ]
    old = results[: max(0, len(results) - limits.keep_tool_uses)]
    freed = sum(max(0, size - content_cost(PLACEHOLDER)) for _, size in old)
    return [each for each, _ in old] if freed >= int(limits.window * limits.clear_at_least) else []


def clear(units: Sequence[Unit], limits: Limits, beside: int = 0) -> tuple[list[Unit], list[dict[str, Any]]]:
    """The conversation with old thinking gone and old results replaced by a placeholder, and what was cleared."""
    begin = _thinking_kept(units, limits.keep_thinking_turns)
    kept = [piece if position >= begin else unthinking(piece) for position, piece in enumerate(units)]
    order = cleared_ids(kept, limits, beside)
    gone = frozenset(order)
    lost = [{"tier": "tail", "what": "tool_result", "id": each, "why": "cleared"} for each in order]
    return [_cleared(piece, gone) for piece in kept], lost


def cleared_cost(units: Sequence[Unit], limits: Limits, beside: int = 0) -> int:
    """Tokens of what `clear` leaves of the conversation, without making it."""
    begin = _thinking_kept(units, limits.keep_thinking_turns)
    kept = [piece if position >= begin else unthinking(piece) for position, piece in enumerate(units)]
    gone = frozenset(cleared_ids(kept, limits, beside))
    saved = sum(
        size - content_cost(PLACEHOLDER)
        for piece in kept
        for block, size in zip(_results(piece), piece.results, strict=True)
        if block["tool_use_id"] in gone
    )
    return sum(piece.cost for piece in kept) - saved


def _cleared(piece: Unit, gone: frozenset[str]) -> Unit:
    if not any(block["tool_use_id"] in gone for block in _results(piece)):
        return piece
    hears = tuple(
        {**block, "content": PLACEHOLDER} if block.get("tool_use_id") in gone else block for block in piece.hears
    )
    return unit(piece.kind, piece.says, hears, piece.seq)


def _results(piece: Unit) -> list[dict[str, Any]]:
    return [block for block in piece.hears if block["type"] == "tool_result"]


def _thinking_kept(units: Sequence[Unit], turns: int) -> int:
    """Where the last `turns` turns begin: a turn begins with something the person said."""
    if turns < 1:
        return len(units)
    starts = [position for position, piece in enumerate(units) if said(piece)]
    return starts[-turns] if turns <= len(starts) else 0
