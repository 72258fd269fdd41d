"""Token cost of blocks and messages: texts, tool names, compact JSON of inputs, results and an overhead."""

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
