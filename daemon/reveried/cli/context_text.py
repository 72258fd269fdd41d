"""A request fragment as text for people: who says what, tools shortened to what they did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from reverie import wire

__all__ = ["as_text"]

_LONG_CHARS = 2000


def as_text(request: wire.RequestFragment) -> str:
    """System blocks first, then each message under its role."""
    parts: list[str] = []
    if request.system:
        parts.append("[system]\n" + _content(request.system))
    parts.extend(f"[{message['role']}]\n{_content(message['content'])}" for message in request.messages)
    return "\n\n".join(parts)


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(_block(block) for block in content)


def _block(block: dict[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "tool_use":
            return f"-> {block.get('name')} {_cut(orjson.dumps(block.get('input')).decode())}"
        case "tool_result":
            return "<- " + _cut(_content(block.get("content") or ""))
        case kind:
            return f"({kind})"


def _cut(text: str) -> str:
    return text if len(text) <= _LONG_CHARS else f"{text[:_LONG_CHARS]} … ({len(text):,} characters)"
