"""The tools of agents: their definitions, and running one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import wire
from reverie.client.call import Call, get, send, target

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["call_tool", "tools"]


def tools(form: wire.ToolFormat = "anthropic") -> Call[wire.Page[dict[str, Any]]]:
    """The tools to offer to a model; `items` is what its API takes as `tools`."""
    return get(wire.Page[dict[str, Any]], "tools", format=form)


def call_tool(
    name: str, given: Mapping[str, Any] | None = None, *, thread: str | None = None, key: str | None = None
) -> Call[wire.ToolAnswer]:
    """Run a tool with the input that the model gave, in the thread in which it did; `is_error` is for the model too."""
    body = wire.CallTool(dict(given or {}), thread)
    return send("POST", target("tools", name), wire.ToolAnswer, body, key=key)
