"""Token counts of message contents, batched over many messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson
from msgspec.structs import replace

from reverie.tokenizer import count_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Entry, Json

IMAGE_TOKENS: Final = 1600
"""An estimate for any image or document given as data: about what one picture of 1.15 megapixels costs the API."""


def message_tokens(content: Json) -> int:
    """Return the o200k_base tokens of one message's content, without per-block overhead.

    Pieces are texts, thinking, tool names, the compact JSON of tool inputs, results, and the compact JSON of a block
    of a type not known. Signatures count nothing; images are IMAGE_TOKENS each.
    """
    pieces: list[str] = []
    flat = _collect(content, pieces)
    return flat + sum(count_many(pieces))


def with_token_counts(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries with `tokens` filled in; all texts are counted in one call."""
    pieces: list[str] = []
    ends: list[int] = []
    flats: list[int] = []
    for entry in entries:
        flats.append(0 if entry.content is None else _collect(entry.content, pieces))
        ends.append(len(pieces))
    counts = count_many(pieces)
    weighed = []
    begin = 0
    for entry, end, flat in zip(entries, ends, flats, strict=True):
        tokens = flat + sum(counts[begin:end])
        begin = end
        weighed.append(replace(entry, tokens=tokens) if tokens else entry)
    return weighed


def _collect(content: Json, pieces: list[str]) -> int:
    """Append the texts of a content to `pieces`; return the tokens of non-text blocks."""
    if isinstance(content, str):
        pieces.append(content)
        return 0
    if not isinstance(content, list):
        return 0
    return sum(_collect_block(block, pieces) for block in content)


def _collect_block(block: Json, pieces: list[str]) -> int:
    match block:
        case {"type": "text", "text": str(text)} | {"type": "thinking", "thinking": str(text)}:
            pieces.append(text)
        case {"type": "tool_use", "name": str(name)}:
            pieces += (name, compact(block.get("input", {})))
        case {"type": "tool_result"}:
            return _collect(block.get("content"), pieces)
        case {"type": "image" | "document", "source": {"type": "base64"}} | {"type": "image"}:
            return IMAGE_TOKENS
        case {"type": "redacted_thinking"}:
            return 0
        case _:
            pieces.append(compact(block))
    return 0


def compact(value: Json) -> str:
    """Return a value as JSON text without spaces."""
    return orjson.dumps(value).decode()
