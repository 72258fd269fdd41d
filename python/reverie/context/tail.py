"""Where the preserved tail begins at a distillation (seed 001, tier 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.context.cost import BLOCK, MESSAGE, content_cost
from reverie.context.units import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Message

__all__ = ["choose", "finished"]


def choose(messages: Sequence[Message], max_messages: int = 10, max_tokens: int = 12_000) -> int:
    """The index of the first message to keep word for word; `len(messages)` keeps none.

    A tail begins where a person speaks, if one such place lies within the bounds, else at a reply. It never begins
    with tool results, whose calls would be lost. The last call and its results stay together even where they alone
    are larger than `max_tokens`: the assembly then trims those results visibly.
    """
    spent = 0
    whole_turn: int | None = None
    anywhere: int | None = None
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        spent += MESSAGE + BLOCK + (message.tokens or content_cost_of(message))
        fits = len(messages) - index <= max_messages and spent <= max_tokens
        if _answers(message):
            if not fits and anywhere is not None:
                break
            continue
        if not fits and anywhere is not None:
            break
        if fits or index >= len(messages) - 2:
            anywhere = index
            whole_turn = index if message.role == "user" else whole_turn
        if not fits:
            break
    if whole_turn is not None:
        return whole_turn
    return len(messages) if anywhere is None else anywhere


def finished(messages: Sequence[Message]) -> bool:
    """Whether the last turn is over, so that a distillation may take place: no call waits for its result or reply."""
    last = next((message for message in reversed(messages) if not message.rewound), None)
    if last is None or last.role == "user":
        return False
    return not any(isinstance(block, dict) and block.get("type") == "tool_use" for block in _blocks(last))


def content_cost_of(message: Message) -> int:
    """Tokens of a stored message as a request would carry it."""
    units, _ = split([message])
    return sum(unit.cost for unit in units) if units else content_cost("")


def _answers(message: Message) -> bool:
    return any(isinstance(block, dict) and block.get("type") == "tool_result" for block in _blocks(message))


def _blocks(message: Message) -> list[object]:
    return message.content if isinstance(message.content, list) else []
