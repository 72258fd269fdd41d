"""What a context is compared with: the end of the conversation as it stood, and the talk in it without the tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.evals.lines import Line

__all__ = ["plain_tail", "talk_alone"]


def plain_tail(before: Sequence[Line], max_tokens: int) -> str:
    """The last lines whole, as many as fit one after another."""
    kept: list[str] = []
    room = max_tokens
    for line in reversed(before):
        room -= tokens.count(line.text)
        if room < 0:
            break
        kept.append(line.text)
    return "\n".join(reversed(kept))


def talk_alone(before: Sequence[Line], max_tokens: int) -> str:
    """What person and agent said to each other, the newest first; what does not fit lets older words in."""
    kept: list[str] = []
    room = max_tokens
    for line in reversed(before):
        cost = tokens.count(line.said)
        if line.said and cost <= room:
            kept.append(line.said)
            room -= cost
    return "\n".join(reversed(kept))
