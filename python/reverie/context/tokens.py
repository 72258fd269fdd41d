"""Token cost of blocks and messages: texts, tool names, compact JSON of inputs; and visible shortening of texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import orjson

from reverie import tokenizer
from reverie.text_caches import text_cache

if TYPE_CHECKING:
    from reverie.models import Json


MESSAGE: Final = 4
"""Tokens added for every message."""

BLOCK: Final = 3
"""Tokens added for every block: a string as content is one block."""

MEDIA: Final = 1_600
"""Tokens of an image, and of every 50,000 characters of a binary document: an estimate, as no tokenizer counts them."""

_MEDIA_CHARS: Final = 50_000
_REMEMBERED_CHARS: Final = 20_000


def compact(value: Json) -> str:
    """Return `value` as JSON without spaces, keys in their given order."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # integers beyond 64 bits and lone surrogates, which the standard writer takes
        return json.dumps(value, separators=(",", ":"))


def block_cost(block: dict[str, Any]) -> int:
    """Return the tokens of one content block with its overhead; signatures and ids cost nothing."""
    match block.get("type"):
        case "text":
            return BLOCK + _count(block.get("text") or "")
        case "thinking":
            return BLOCK + _count(block.get("thinking") or "")
        case "redacted_thinking":
            return BLOCK
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            return (
                BLOCK + tokenizer.count(str(block.get("name", ""))) + tokenizer.count(compact(block.get("input", {})))
            )
        case "tool_result":
            return BLOCK + content_cost(block.get("content", ""))
        case "image":
            return BLOCK + MEDIA
        case "document":
            return BLOCK + _document_cost(block)
        case _:
            return BLOCK + tokenizer.count(compact(block))


def content_cost(content: Json) -> int:
    """Return the tokens of a message's or result's content, a string or a list of blocks."""
    if isinstance(content, str):
        return BLOCK + _count(content)
    return sum(block_cost(block) for block in content)


def message_cost(message: dict[str, Any]) -> int:
    """Return the tokens of one request message with its overhead."""
    return MESSAGE + content_cost(message["content"])


def _count(text: str) -> int:
    """Return the tokens of a text, cached for the texts of recent contexts."""
    return _counted(text) if len(text) <= _REMEMBERED_CHARS else tokenizer.count(text)


@text_cache(bytes_max=2_000_000, entry_bytes=150, char_bytes=2)
def _counted(text: str) -> int:
    return tokenizer.count(text)


def _document_cost(block: dict[str, Any]) -> int:
    source = block.get("source")
    if not isinstance(source, dict):
        return MEDIA
    if source.get("type") == "text":
        return tokenizer.count(str(source.get("data", "")))
    if source.get("type") == "content":
        return content_cost(source.get("content") or "")
    return MEDIA * (1 + len(str(source.get("data", ""))) // _MEDIA_CHARS)


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
