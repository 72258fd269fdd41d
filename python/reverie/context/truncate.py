"""Visible shortening of texts: beginning, a notice of the omitted amount, and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reverie import tokenizer
from reverie.context.token_cost import BLOCK, content_cost

if TYPE_CHECKING:
    from reverie.models import Json

_MARK_TOKENS: Final = 14
"""Room for the line `[… N tokens trimmed …]` and the seams beside it."""


def fits_in(text: str, limit: int) -> bool:
    """True if `text` has at most `limit` tokens; only the empty text fits in zero."""
    return tokenizer.fits(text, limit) if limit > 0 else not text


def shorten(text: str, limit: int) -> str:
    """Return `text` within `limit` tokens: two thirds for its beginning, one third for its end.

    Empty where not even the mark fits.
    """
    if fits_in(text, limit):
        return text
    total = tokenizer.count(text)
    room = limit - _MARK_TOKENS
    if room < 1:
        return _fitting(f"[… {total} tokens trimmed …]", limit)
    ending = _ending(text, room // 3)
    beginning = tokenizer.truncate(text, room - room // 3).rstrip()
    gone = max(1, total - tokenizer.count(beginning) - tokenizer.count(ending))
    joined = "\n".join(piece for piece in (beginning, f"[… {gone} tokens trimmed …]", ending) if piece)
    return _fitting(joined, limit)


def truncate_text(text: str, limit: int) -> str:
    """Return `text` cut to `limit` tokens and marked with ` […]`, or empty if that does not fit."""
    if fits_in(text, limit):
        return text
    room = limit - 4
    return _fitting(tokenizer.truncate(text, room).rstrip() + " […]", limit) if room > 0 else ""


def result_text(content: Json) -> str:
    """Return a tool result's content as text; other kinds of block are named in brackets."""
    if isinstance(content, str):
        return content
    return "\n".join(
        str(block.get("text", "")) if block.get("type") == "text" else f"[{block.get('type')}]" for block in content
    )


def trim_result(block: dict[str, Any], limit: int) -> dict[str, Any]:
    """Return a tool_result whose content costs at most `limit` tokens beside the block's overhead."""
    content = block["content"]
    if content_cost(content) <= limit + BLOCK:
        return block
    return {**block, "content": shorten(result_text(content), limit) or "[…]"}


def _ending(text: str, limit: int) -> str:
    """Return the longest end of `text` within `limit` tokens, starting at a line if possible."""
    if limit < 1:
        return ""
    low, high = max(0, len(text) - limit * 64), len(text)
    while low < high:
        middle = (low + high) // 2
        if fits_in(text[middle:], limit):
            high = middle
        else:
            low = middle + 1
    ending = text[low:]
    _, newline, after = ending.partition("\n")
    return (after if newline and after.strip() else ending).strip()


def _fitting(text: str, limit: int) -> str:
    return text if fits_in(text, limit) else tokenizer.truncate(text, max(0, limit)).rstrip()
