"""Text that Reverie itself has shown to an agent is left out before memories are read: none must confirm itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from reverie.context.tiers import DISTILLED, FRAME
from reverie.distill.steps import text_of
from reverie.lazy_regex import lazy_regex
from reverie.models import Message

# Text that was served to an agent begins with one of these; each is followed by memories to the end of its block.
_SERVED: Final = (
    FRAME,
    DISTILLED,
    "Remembered by Reverie (data from earlier work",
    "Remembered from earlier work: data with an origin",
)
_INDEX: Final = lazy_regex(
    r"^Available memory:.*?(?:Use memory_read to load relevant files before responding\.|\Z)", re.DOTALL | re.MULTILINE
)
# Tools of Reverie, also behind the prefix of a client: `mcp__reverie__recall`.
_MEMORY_TOOL: Final = lazy_regex(
    r"(?:^|__)(?:recall|memory_(?:list|read|write|patch|append)|working_state_(?:get|set)|note)$|reverie"
)
# The person runs the memory's own commands in the agent's shell: `reverie recall "…"`.
_MEMORY_COMMAND: Final = lazy_regex(r"\breverie\s+(?:recall|context|memories|search|show|thread|review)\b")


def without_recalled(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without text that Reverie served: contexts, recalled memories, answers of its tools."""
    tools = tool_names(messages)
    return [replace(message, content=_unserved(message.content, tools)) for message in messages]


def _unserved(content: Any, tools: dict[str, str]) -> Any:
    if isinstance(content, str):
        return _without_frames(content)
    if not isinstance(content, list):
        return content
    return [_unserved_block(block, tools) if isinstance(block, dict) else block for block in content]


def _unserved_block(block: dict[str, Any], tools: dict[str, str]) -> dict[str, Any]:
    if block.get("type") == "text" and isinstance(block.get("text"), str):
        text = _without_frames(block["text"])
        return block if text == block["text"] else {**block, "text": text}
    if block.get("type") == "tool_result":
        result = text_of(block.get("content"))
        if _MEMORY_TOOL.search(tools.get(str(block.get("tool_use_id")), "")) or _without_frames(result) != result:
            return {**block, "content": ""}
    return block


def _without_frames(text: str) -> str:
    begins = [at for frame in _SERVED if (at := text.find(frame)) >= 0]
    kept = text[: min(begins)] if begins else text
    return _INDEX.sub("", kept) if "Available memory:" in kept else kept


def tool_names(messages: Sequence[Message]) -> dict[str, str]:
    """Return each call's tool name by the call's id; `recall` for a shell call that runs a memory command."""
    names = {}
    for message in messages:
        for block in message.content if isinstance(message.content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_use":
                given = block.get("input")
                command = given.get("command") if isinstance(given, dict) else None
                asks_memory = isinstance(command, str) and _MEMORY_COMMAND.search(command)
                names[str(block.get("id"))] = "recall" if asks_memory else str(block.get("name", ""))
    return names
