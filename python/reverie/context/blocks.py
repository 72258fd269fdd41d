"""Conversion of stored content blocks into blocks that a request may carry; dropped ones leave a notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reverie.lazy_regex import lazy_regex
from reverie.models import Dropped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.models import Json

_ID: Final = lazy_regex(r"[a-zA-Z0-9_-]+")
_NAME: Final = lazy_regex(r"[a-zA-Z0-9_-]{1,128}")

_SERVER_SIDE: Final = frozenset(
    {
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "container_upload",
    }
)
"""Blocks that the API's own tools leave in a reply: whole and in place they are valid, whatever they hold."""

_MEDIA: Final = frozenset({"image", "document", "search_result"})


def text_block(text: str) -> dict[str, Any]:
    """Return a text block; `text` must not be empty."""
    return {"type": "text", "text": text}


def notice_block(what: str) -> dict[str, Any]:
    """Return the bracketed text block that marks omitted content."""
    return text_block(f"[… {what} …]")


def user_blocks(content: Json, lost: list[Dropped], seq: int) -> list[dict[str, Any]]:
    """Return the blocks of a user message that a request may carry; all others are listed in `lost`."""
    return [clean for block in _listed(content) if (clean := _user_block(block, lost, seq)) is not None]


def assistant_blocks(content: Json, lost: list[Dropped], seq: int) -> list[dict[str, Any]]:
    """Return the blocks of an assistant message that a request may carry; thinking stays byte for byte."""
    return [clean for block in _listed(content) if (clean := _assistant_block(block, lost, seq)) is not None]


def _listed(content: Json) -> Iterable[Json]:
    if isinstance(content, str):
        return [text_block(content)]
    return content if isinstance(content, list | tuple) else []


def _user_block(block: Json, lost: list[Dropped], seq: int) -> dict[str, Any] | None:
    match block:
        case {"type": "text", "text": str()}:
            return _text(block)
        case {"type": "tool_result", "tool_use_id": str(made_by)} if _ID.fullmatch(made_by):
            return _result(block, lost, seq)
        case {"type": str(kind)} if kind in _MEDIA:
            return _media(block, lost, seq)
        case str():
            return text_block(block) if block.strip() else None
        case _:
            return _left_out(block, lost, seq)


def _assistant_block(block: Json, lost: list[Dropped], seq: int) -> dict[str, Any] | None:
    match block:
        case {"type": "text", "text": str()}:
            return _text(block)
        case {"type": "thinking", "thinking": str(), "signature": str(signature)} if signature:
            return dict(block)
        case {"type": "redacted_thinking", "data": str(data)} if data:
            return dict(block)
        case {"type": "thinking" | "redacted_thinking"}:
            lost.append(Dropped("tail", seq=seq, what="thinking", why="it is not signed"))
            return None
        case {"type": "tool_use", "id": str(made), "name": str(name), "input": dict()} if _ID.fullmatch(
            made
        ) and _NAME.fullmatch(name):
            return {"type": "tool_use", "id": made, "name": name, "input": block["input"]}
        case {"type": str(kind)} if kind in _SERVER_SIDE:
            return _without_cache_control(block)
        case str():
            return text_block(block) if block.strip() else None
        case _:
            return _left_out(block, lost, seq)


def _text(block: dict[str, Any]) -> dict[str, Any] | None:
    """Return a text block without citations, which refer to documents that may be gone; None for a blank text."""
    if not block["text"].strip():
        return None
    return text_block(block["text"])


def _result(block: dict[str, Any], lost: list[Dropped], seq: int) -> dict[str, Any]:
    """Return a tool_result whose content is a string or valid blocks, never empty."""
    content = block.get("content", "")
    kept: Json
    if isinstance(content, str):
        kept = content if content.strip() else "[no output]"
    else:
        inner = [clean for item in _listed(content) if (clean := _inner(item, lost, seq)) is not None]
        kept = inner or "[no output]"
    result = {"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": kept}
    return {**result, "is_error": True} if block.get("is_error") is True else result


def _inner(block: Json, lost: list[Dropped], seq: int) -> dict[str, Any] | None:
    if isinstance(block, dict) and block.get("type") == "tool_result":
        return _left_out(block, lost, seq)
    return _user_block(block, lost, seq)


def _media(block: dict[str, Any], lost: list[Dropped], seq: int) -> dict[str, Any]:
    source = block.get("source")
    if block["type"] in {"image", "document"} and not _has_source(source):
        return _left_out(block, lost, seq)
    return _without_cache_control(block)


def _has_source(source: Json) -> bool:
    match source:
        case {"type": "base64" | "text", "data": str(data), "media_type": str()}:
            return bool(data)
        case {"type": "url", "url": str(where)} | {"type": "file", "file_id": str(where)}:
            return bool(where)
        case _:
            return False


def _without_cache_control(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block without the sender's cache breakpoint: a request may have four, and assembly places them."""
    return {key: value for key, value in block.items() if key != "cache_control"}


def _left_out(block: Json, lost: list[Dropped], seq: int) -> dict[str, Any]:
    kind = block.get("type") if isinstance(block, dict) else None
    name = kind if isinstance(kind, str) and _NAME.fullmatch(kind) else "unknown"
    lost.append(Dropped("tail", seq=seq, what=name, why="a request cannot carry it"))
    return notice_block(f"a block of type {name} left out")
