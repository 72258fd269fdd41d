"""The tools of agents: their definitions, one call, and its result."""

from typing import Any, Literal

from msgspec import field

from reverie.wire.base import Id, Reply, Request

ToolFormat = Literal["anthropic", "openai", "mcp"]
"""The API whose form the definitions of `GET /v1/tools` have."""


class ToolsQuery(Request):
    """The query of `GET /v1/tools`."""

    format: ToolFormat = "anthropic"


class CallTool(Request):
    """Body of `POST /v1/tools/{name}`: the `input` that a model gave, and the thread of the model."""

    input: dict[str, Any] = field(default_factory=dict)
    thread: Id | None = None


class ToolAnswer(Reply):
    """Result of a tool: `content` is text, to be put into a `tool_result` as it is, JSON where it has several values.

    With `isError` it is a sentence that says what to do instead.
    """

    content: str
    is_error: bool
