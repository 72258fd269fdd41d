"""`/v1/tools`: the definitions of the agents' tools, and the call of one."""

from __future__ import annotations

from functools import cache
from typing import Any

from reverie import tools, wire
from reverie.errors import NotFound, ValidationError
from reveried.actions import memory_tool
from reveried.actions.tools import ToolCall, run
from reveried.http.call import Call, Reply
from reveried.http.routing import Route

__all__ = ["ROUTES"]


async def list_tools(call: Call) -> Reply:
    """Return the definitions, ready for the `tools` of a request to a model."""
    return Reply(body=_definitions(call.query_as(wire.ToolsQuery).format))


@cache
def _definitions(form: wire.ToolFormat) -> bytes:
    """Return the answer in one form, which is made once: the schemas of the inputs take some milliseconds."""
    return Reply(wire.Page(tools.definitions(form))).encoded()


async def call_tool(call: Call) -> Reply:
    """Run a tool. An error that the agent can avoid is an answer with `isError`, not a failed call.

    `memory` is the memory tool of the Messages API, whose definition is the API's own.
    """
    if call.params["name"] == "memory":
        body = _body(call)
        caller = ToolCall(call.services, call.space, call.who, body.thread or "", call.idempotency)
        return Reply(await memory_tool.run(body.input, caller))
    tool = tools.tool_named(call.params["name"])
    if tool is None:
        known = ", ".join(tool.name for tool in tools.TOOLS)
        raise NotFound(f"there is no tool {call.params['name'][:80]!r}", hint=f"the tools are {known}")
    body = _body(call)
    caller = ToolCall(call.services, call.space, call.who, body.thread or "", call.idempotency)
    return Reply(await run(tool, body.input, caller))


def _body(call: Call) -> wire.CallTool:
    try:
        return call.into(wire.CallTool)
    except ValidationError as error:
        if error.details.get("reason") != "unknown":
            raise
        details = {name: value for name, value in error.details.items() if name != "hint"}
        raise ValidationError(
            error.message, hint='give the tool\'s parameters as {"input": {...}}', **details
        ) from error


ROUTES = (
    Route(
        "GET",
        "/v1/tools",
        list_tools,
        "Lists the tools of agents.",
        answer=wire.Page[dict[str, Any]],
        query=wire.ToolsQuery,
    ),
    Route("POST", "/v1/tools/{name}", call_tool, "Runs a tool.", body=wire.CallTool, answer=wire.ToolAnswer),
)
