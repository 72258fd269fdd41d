"""Tiers and conversation written as a request's `system` and `messages`, roles in strict turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reverie.context.blocks import text_block
from reverie.context.cost import MESSAGE
from reverie.context.units import unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.context.parts import Placement
    from reverie.context.tiers import Tier
    from reverie.context.units import Unit

__all__ = ["BEGINNING", "WAITING", "bounded", "emit", "mark", "system_blocks", "tail_cost"]

WAITING: Final = "[… nothing new was said since …]"
"""Closes a conversation that ends with the assistant: the API refuses a list whose last turn is the assistant's."""

BEGINNING: Final = "[… the beginning is not here …]"
"""Opens a conversation whose first message is the assistant's: the API wants a user message first."""

_STABLE: Final = ("bootstrap", "digest")
_VOLATILE: Final = ("notes", "state", "recall")
_OPENING: Final = ("index", "summary", "excerpts")
_CACHE: Final = {"type": "ephemeral"}


def system_blocks(tiers: dict[str, Tier], placement: Placement) -> list[dict[str, Any]]:
    """The system prompt: what is stable, and with `system` placement what is volatile after it."""
    names = _STABLE if placement == "late" else (*_STABLE, *_VOLATILE)
    return [text_block(text) for name in names for text in tiers[name].texts]


def bounded(tiers: dict[str, Tier], units: Sequence[Unit]) -> list[Unit]:
    """The conversation with a line where a user message must open or close it."""
    waiting = unit("user", (), (text_block(WAITING),), 0)
    out = list(units)
    if (not out or not out[-1].hears) and (out or not _opening(tiers)):
        out.append(waiting)
    if out and out[0].says and not _opening(tiers):
        out.insert(0, unit("user", (), (text_block(BEGINNING),), 0))
    return out


def emit(tiers: dict[str, Tier], units: Sequence[Unit], placement: Placement) -> list[dict[str, Any]]:
    """The messages: index or summary and excerpts first, then the conversation, then what is volatile if it is late."""
    opening = _opening(tiers)
    messages: list[dict[str, Any]] = [{"role": "user", "content": opening}] if opening else []
    for role, blocks in _sides(units):
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].extend(blocks)
        else:
            messages.append({"role": role, "content": list(blocks)})
    late = [text_block(text) for name in _VOLATILE for text in tiers[name].texts] if placement == "late" else []
    if late:
        messages.append({"role": "system", "content": late})
    return messages


def tail_cost(messages: Sequence[dict[str, Any]], units: Sequence[Unit]) -> int:
    """Tokens of the conversation as emitted: its pieces and the overhead of all messages."""
    return sum(piece.blocks_cost for piece in units) + MESSAGE * len(messages)


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
    if opening := _opening(tiers):
        messages[0]["content"][len(opening) - 1]["cache_control"] = dict(_CACHE)
    last = next(message for message in reversed(messages) if message["role"] == "user")
    last["content"][-1] = {**last["content"][-1], "cache_control": dict(_CACHE)}


def _opening(tiers: dict[str, Tier]) -> list[dict[str, Any]]:
    return [text_block(text) for name in _OPENING for text in tiers[name].texts]


def _sides(units: Iterable[Unit]) -> Iterable[tuple[str, tuple[dict[str, Any], ...]]]:
    for piece in units:
        if piece.says:
            yield "assistant", piece.says
        if piece.hears:
            yield "user", piece.hears
