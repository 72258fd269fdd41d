"""Tiers and conversation written as a request's `system` and `messages`, roles in strict turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reverie.context.blocks import text_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.context.parts import Placement
    from reverie.context.tiers import Tier
    from reverie.context.units import Unit

__all__ = ["WAITING", "emit", "mark", "system_blocks"]

WAITING: Final = "[… nothing new was said since …]"
"""Closes a conversation that ends with the assistant: the API refuses a list whose last turn is the assistant's."""

_STABLE: Final = ("bootstrap", "digest")
_VOLATILE: Final = ("notes", "state", "recall")
_OPENING: Final = ("index", "summary", "excerpts")
_CACHE: Final = {"type": "ephemeral"}


def system_blocks(tiers: dict[str, Tier], placement: Placement) -> list[dict[str, Any]]:
    """The system prompt: what is stable, and with `system` placement what is volatile after it."""
    names = _STABLE if placement == "late" else (*_STABLE, *_VOLATILE)
    return [text_block(text) for name in names for text in tiers[name].texts]


def emit(tiers: dict[str, Tier], units: Sequence[Unit], placement: Placement) -> list[dict[str, Any]]:
    """The messages: index or summary and excerpts first, then the conversation, then what is volatile if it is late."""
    opening = [text_block(text) for name in _OPENING for text in tiers[name].texts]
    messages: list[dict[str, Any]] = [{"role": "user", "content": opening}] if opening else []
    for role, blocks in _sides(units):
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].extend(blocks)
        else:
            messages.append({"role": role, "content": list(blocks)})
    if not messages or messages[-1]["role"] == "assistant":
        messages.append({"role": "user", "content": [text_block(WAITING)]})
    if messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": [text_block(WAITING)]})
    late = [text_block(text) for name in _VOLATILE for text in tiers[name].texts] if placement == "late" else []
    if late:
        messages.append({"role": "system", "content": late})
    return messages


def mark(
    system: list[dict[str, Any]], messages: list[dict[str, Any]], placement: Placement, tiers: dict[str, Tier]
) -> None:
    """Places cache breakpoints behind what is stable: the system prompt, the distilled part, the conversation so far.

    With volatile text in the system prompt nothing after it can be cached for long, so only the stable blocks of the
    prompt are marked. Never more than three of the four that the API allows.
    """
    stable = sum(len(tiers[name].texts) for name in _STABLE)
    if stable:
        system[stable - 1]["cache_control"] = dict(_CACHE)
    if placement == "system":
        return
    opening = sum(len(tiers[name].texts) for name in _OPENING)
    if opening:
        messages[0]["content"][opening - 1]["cache_control"] = dict(_CACHE)
    last = next(message for message in reversed(messages) if message["role"] == "user")
    last["content"][-1] = {**last["content"][-1], "cache_control": dict(_CACHE)}


def _sides(units: Iterable[Unit]) -> Iterable[tuple[str, tuple[dict[str, Any], ...]]]:
    for unit in units:
        if unit.says:
            yield "assistant", unit.says
        if unit.hears:
            yield "user", unit.hears
