"""The tools of agents: their definitions, one call of one, and what it gives."""

from typing import Any, Literal

from msgspec import field

from reverie.models import Json
from reverie.wire.base import Id, Reply, Request

__all__ = ["CallTool", "ToolAnswer", "ToolFormat"]

ToolFormat = Literal["anthropic", "openai", "mcp"]
"""Whose envelope the definitions of `GET /v1/tools` come in."""


class CallTool(Request):
    """`POST /v1/tools/{name}`: what the model gave as `input`, and the thread in which it did."""

    input: dict[str, Any] = field(default_factory=dict)
    thread: Id | None = None


class ToolAnswer(Reply):
    """What a tool gives. With `isError` the content is a sentence that says what to do instead."""

    content: Json
    is_error: bool
