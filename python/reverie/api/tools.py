"""The tools of agents, and the doors of agents' clients: hooks and the Model Context Protocol."""

from collections.abc import Mapping
from types import NoneType
from typing import Any

from msgspec import Struct, field

from reverie.api.endpoint import Endpoint, at, with_data
from reverie.wire import tools as types
from reverie.wire.base import NoQuery, Page
from reverie.wire.sessions import HookQuery


def _call(given: Mapping[str, Any] | None = None, *, thread: str | None = None) -> types.CallTool:
    """Return the input that a model gave, and the thread of the model."""
    return types.CallTool(dict(given or {}), thread)


class Tools:
    """Operations on tools; an answer of a tool with `is_error` is meant for the model."""

    # fmt: off
    tools = Endpoint("GET /v1/tools", types.ToolsQuery, Page[dict[str, Any]], "Lists the tools of agents.")
    call_tool = Endpoint("POST /v1/tools/{name}", at(_call), types.ToolAnswer, "Runs a tool.")


class RpcMessage(Struct):
    """A message of JSON-RPC 2.0, for the description of the API."""

    jsonrpc: str
    method: str | None = None
    id: str | int | None = None
    params: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class Doors:
    """What agents' programs ask; no method of a client."""

    # fmt: off
    hook = Endpoint("POST /v1/hooks/{client}", at(with_data(HookQuery)), str,
        "What a client's hook prints, for its standard input.", raw=True, media="text/plain")
    mcp = Endpoint("POST /mcp", RpcMessage, dict[str, Any], "Answers a message of the Model Context Protocol.",
        also=(202,), local_pages=True)
    mcp_stream = Endpoint("GET /mcp", NoQuery, NoneType, "The notifications of a session as server-sent events.",
        media="text/event-stream", local_pages=True)
    end_mcp = Endpoint("DELETE /mcp", NoQuery, NoneType, "Ends a session.", status=204, local_pages=True)
