"""Context editing (seed 001, tier 4): parameters for the server, and the same rules applied locally."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reverie.context.tokens import content_cost
from reverie.context.units import Unit, is_user_speech, make_unit, without_thinking
from reverie.lazy_regex import lazy_regex
from reverie.models import Dropped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.context.inputs import Limits

PLACEHOLDER: Final = "[old tool result cleared; call the tool again if it is needed]"

_NAME: Final = lazy_regex(r"claude-(?P<family>[a-z]+)-(?P<major>\d{1,2})(?:-(?P<minor>\d{1,2}))?(?!\d)")

_LATE_FROM: Final = {"opus": (4, 8), "sonnet": (5, 0), "haiku": (5, 0), "fable": (5, 0), "mythos": (5, 0)}
"""The first version of each family that takes `role: "system"` inside `messages`; older ones answer 400."""

_EDITS_FROM: Final = {"opus": (4, 0), "sonnet": (4, 0), "haiku": (4, 5), "fable": (5, 0), "mythos": (5, 0)}
"""The first version of each family for which the server applies `context_management`."""


def takes_late_system(model: str | None) -> bool:
    """True if the model accepts a trailing `role: "system"` message; unknown models do not."""
    return _at_least(model, _LATE_FROM, unknown=False)


def edits_on_server(model: str | None) -> bool:
    """True if the model's server clears by `context_management`; an unnamed model counts as a current Claude."""
    return _at_least(model, _EDITS_FROM, unknown=model is None)


def _at_least(model: str | None, table: dict[str, tuple[int, int]], *, unknown: bool) -> bool:
    match = _NAME.search(model or "")
    if match is None or match["family"] not in table:
        return unknown
    return (int(match["major"]), int(match["minor"] or 0)) >= table[match["family"]]


def server_edits(model: str | None, limits: Limits) -> list[dict[str, Any]]:
    """Return the `edits` parameter of the API's context editing, thinking blocks first; empty if done locally."""
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


def tool_uses_to_clear(units: Sequence[Unit], limits: Limits, beside: int = 0) -> list[str]:
    """Return ids of tool uses whose results the rules clear, oldest first; `beside` are tokens of all else.

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
    return [call_id for call_id, _ in old] if freed >= int(limits.window * limits.clear_at_least) else []


def clear(units: Sequence[Unit], limits: Limits, beside: int = 0) -> tuple[list[Unit], list[Dropped]]:
    """Return the conversation without old thinking and with placeholders for old results, and what was cleared."""
    begin = _thinking_kept(units, limits.keep_thinking_turns)
    kept = [piece if position >= begin else without_thinking(piece) for position, piece in enumerate(units)]
    order = tool_uses_to_clear(kept, limits, beside)
    gone = frozenset(order)
    lost = [Dropped("tail", what="tool_result", id=call_id, why="cleared") for call_id in order]
    return [_cleared(piece, gone) for piece in kept], lost


def _cleared(piece: Unit, gone: frozenset[str]) -> Unit:
    if not any(block["tool_use_id"] in gone for block in _results(piece)):
        return piece
    user_blocks = tuple(
        {**block, "content": PLACEHOLDER} if block.get("tool_use_id") in gone else block for block in piece.user_blocks
    )
    return make_unit(piece.kind, piece.assistant_blocks, user_blocks, piece.seq)


def _results(piece: Unit) -> list[dict[str, Any]]:
    return [block for block in piece.user_blocks if block["type"] == "tool_result"]


def _thinking_kept(units: Sequence[Unit], turns: int) -> int:
    """Return the index from which thinking is kept: the start of the last `turns` turns."""
    if turns < 1:
        return len(units)
    starts = [position for position, piece in enumerate(units) if is_user_speech(piece)]
    return starts[-turns] if turns <= len(starts) else 0
