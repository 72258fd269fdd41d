"""Start of the preserved tail at a distillation (seed 001, tier 3), and detection of open turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.context.content_blocks import assistant_blocks, user_blocks
from reverie.context.token_cost import BLOCK, MESSAGE, block_cost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Message

__all__ = ["is_turn_finished", "open_turn_start", "tail_start"]


def tail_start(messages: Sequence[Message], max_messages: int = 10, max_tokens: int = 12_000) -> int:
    """Return the index of the first message to keep verbatim; `len(messages)` keeps none.

    A tail begins where a person speaks, unless that would give away more than half of the messages that fit; then it
    begins at a reply. It never begins with tool results, whose calls would be lost. The last message, or the last call
    and its results, stay even where they alone are larger than `max_tokens`: the assembly then trims those results
    visibly.
    """
    spent = 0
    turn = reply = None
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        spent += MESSAGE + _tokens(message)
        fits = len(messages) - index <= max_messages and spent <= max_tokens
        if not fits and reply is not None:
            break
        if _answers(message):
            continue
        reply = index
        turn = index if message.role == "user" else turn
    if reply is None:
        return len(messages)
    whole = turn is not None and 2 * (len(messages) - turn) >= len(messages) - reply
    return turn if whole and turn is not None else reply


def is_turn_finished(messages: Sequence[Message]) -> bool:
    """True if no tool call waits for its result or reply, so that a distillation may run."""
    last = next((message for message in reversed(messages) if not message.rewound), None)
    return last is not None and _ends_turn(last)


def open_turn_start(messages: Sequence[Message]) -> int:
    """Return the index at which the unfinished turn begins, or `len(messages)` if there is none.

    A turn is over with a reply that calls no tool. What came after the last such reply is still going on: words that
    nobody answered, calls, their results.
    """
    over = (place + 1 for place in reversed(range(len(messages))) if _ends_turn(messages[place]))
    return next(over, 0)


def _ends_turn(message: Message) -> bool:
    return message.role == "assistant" and not message.rewound and not _calls(message)


def _calls(message: Message) -> bool:
    return any(isinstance(block, dict) and block.get("type") == "tool_use" for block in _blocks(message))


def _tokens(message: Message) -> int:
    """Return the tokens a message adds to a request (`Message.tokens` counts the texts alone)."""
    if message.tokens:
        return message.tokens + BLOCK * max(1, len(_blocks(message)))
    blocks = assistant_blocks if message.role == "assistant" else user_blocks
    return sum(block_cost(block) for block in blocks(message.content, [], message.last_seq))


def _answers(message: Message) -> bool:
    return any(isinstance(block, dict) and block.get("type") == "tool_result" for block in _blocks(message))


def _blocks(message: Message) -> list[object]:
    return message.content if isinstance(message.content, list) else []
