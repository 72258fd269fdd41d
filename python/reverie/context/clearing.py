"""Context editing (seed 001, tier 4): its values for the server, and the same rules applied here for other models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reverie.context.cost import BLOCK, content_cost
from reverie.context.families import edits_on_server
from reverie.context.units import Unit, said, unthinking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.context.parts import Limits

__all__ = ["PLACEHOLDER", "clear", "cleared_ids", "edits"]

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


def cleared_ids(units: Sequence[Unit], limits: Limits) -> list[str]:
    """The tool uses whose results the documented rules clear, oldest first.

    Beyond the trigger every result goes but those of the last `keep_tool_uses` calls; if that frees less than
    `clear_at_least`, nothing goes.
    """
    if sum(unit.cost for unit in units) <= int(limits.window * limits.trigger):
        return []
    results = [block for unit in units for block in unit.hears if block["type"] == "tool_result"]
    old = results[: max(0, len(results) - limits.keep_tool_uses)]
    freed = sum(max(0, content_cost(block["content"]) - content_cost(PLACEHOLDER)) for block in old)
    return [block["tool_use_id"] for block in old] if freed >= int(limits.window * limits.clear_at_least) else []


def clear(units: Sequence[Unit], limits: Limits) -> tuple[list[Unit], list[dict[str, Any]]]:
    """The conversation with old results replaced by a placeholder and old thinking gone, and what was cleared."""
    gone = frozenset(cleared_ids(units, limits))
    thoughtful = _thinking_kept(units, limits.keep_thinking_turns)
    kept = [_cleared(unit if position >= thoughtful else unthinking(unit), gone) for position, unit in enumerate(units)]
    lost = [{"tier": "tail", "what": "tool_result", "id": each, "why": "cleared"} for each in sorted(gone)]
    return [unit for unit in kept if unit.says or unit.hears], lost


def _cleared(unit: Unit, gone: frozenset[str]) -> Unit:
    if not any(block.get("tool_use_id") in gone for block in unit.hears):
        return unit
    hears = tuple(
        {**block, "content": PLACEHOLDER}
        if block.get("tool_use_id") in gone and content_cost(block["content"]) > content_cost(PLACEHOLDER) - BLOCK
        else block
        for block in unit.hears
    )
    return replace(unit, hears=hears)


def _thinking_kept(units: Sequence[Unit], turns: int) -> int:
    """Where the last `turns` turns begin: a turn begins with something the person said."""
    starts = [position for position, unit in enumerate(units) if said(unit)]
    return starts[-turns] if 0 < turns <= len(starts) else (0 if turns else len(units))
