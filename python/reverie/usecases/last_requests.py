"""The person's requests as a text of its own, latest first, for a text that takes a conversation's place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie import token_counter
from reverie.context.truncate import shorten
from reverie.distill.extractive.trace import read_trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Message

__all__ = ["HEADING", "REQUEST_TOKENS", "last_requests"]

HEADING: Final = "## What the person asked for (their own words, latest first)"
REQUEST_TOKENS: Final = 300  # a longer one is shortened to its beginning and its end
_LEAST: Final = 40  # tokens; where fewer are left, an older request is left out instead of being cut to nothing


def last_requests(messages: Sequence[Message], max_tokens: int) -> str:
    """Return the person's requests within `max_tokens` tokens, latest first; empty where there is none or no room.

    A request of at most `REQUEST_TOKENS` stands there whole, and one that was made twice stands there once. The first
    for which there is too little room is shortened, and older ones are left out.
    """
    left = max_tokens - token_counter.count(HEADING)
    lines: list[str] = []
    for text in dict.fromkeys(said.text for said in reversed(read_trace(messages).said("user"))):
        request = _listed(text, REQUEST_TOKENS)
        cost = token_counter.count(f"\n{request}") + 1
        if cost > left:
            if left >= _LEAST:
                lines.append(_listed(text, left - _LEAST // 4))
            break
        lines.append(request)
        left -= cost
    return "\n".join([HEADING, *lines]) if lines else ""


def _listed(text: str, max_tokens: int) -> str:
    """Return a request as an item of a list, of its text `max_tokens` tokens at most."""
    return "- " + "\n  ".join(shorten(text, max_tokens).split("\n"))
