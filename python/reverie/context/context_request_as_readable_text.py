"""A finished request fragment as plain text, for evaluation and for reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.context.token_cost import compact
from reverie.context.truncate import result_text

if TYPE_CHECKING:
    from reverie.context.assembly_inputs_and_token_ceilings import Context

__all__ = ["block_text", "content_blocks", "render"]


def render(context: Context) -> str:
    """Return system texts and messages as text under role headings, tool inputs as compact JSON."""
    pieces = [block["text"] for block in context.request["system"]]
    for message in context.request["messages"]:
        body = "\n\n".join(shown for block in message["content"] if (shown := block_text(block)))
        pieces.append(f"{message['role']}:\n{body}")
    return "\n\n".join(pieces)


def content_blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the content blocks of a request's message; a content that is a text is one text block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def block_text(block: dict[str, Any]) -> str:
    """Return a content block as text; empty for one that only the API can read."""
    match block["type"]:
        case "text":
            return str(block["text"])
        case "thinking":
            return str(block["thinking"])
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            return f"{block.get('name', '')} " + compact(block.get("input", {})).replace("\\n", "\n")
        case "tool_result":
            return result_text(block["content"])
        case "redacted_thinking":
            return ""
        case kind:
            return f"[{kind}]"
