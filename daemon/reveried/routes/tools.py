"""`/v1/tools`: what agents are offered, and one call of one."""

from __future__ import annotations

from typing import Any

from reverie import tools, wire
from reverie.errors import NotFound, ValidationError
from reveried.actions.tools import Asked, run
from reveried.http.call import Call, Reply
from reveried.http.routing import Route

__all__ = ["ROUTES"]


async def list_tools(call: Call) -> Reply:
    """The definitions, ready for the `tools` of a request to the model."""
    form = call.query.get("format", tools.FORMATS[0])
    if form not in tools.FORMATS:
        raise ValidationError(
            f"there is no format {form[:40]!r}", hint=f"the formats are {', '.join(tools.FORMATS)}", field="format"
        )
    return Reply({"items": tools.definitions(form), "next": None})


async def call_tool(call: Call) -> Reply:
    """Runs a tool. What an agent can mend is an answer with `isError`, not a failure of the call."""
    tool = tools.tool_named(call.params["name"])
    if tool is None:
        known = ", ".join(each.name for each in tools.TOOLS)
        raise NotFound(f"there is no tool {call.params['name'][:80]!r}", hint=f"the tools are {known}")
    body = _body(call)
    asked = Asked(call.services, call.space, call.who, body.thread or "", call.idempotency)
    return Reply(await run(tool, body.input, asked))


def _body(call: Call) -> wire.CallTool:
    try:
        return call.into(wire.CallTool)
    except ValidationError as error:
        if error.details.get("reason") != "unknown":
            raise
        told = {name: value for name, value in error.details.items() if name != "hint"}
        raise ValidationError(error.message, hint='give the tool\'s parameters as {"input": {...}}', **told) from error


ROUTES = (
    Route(
        "GET",
        "/v1/tools",
        list_tools,
        "The tools that agents are offered.",
        gives=wire.Page[dict[str, Any]],
        query=("format",),
    ),
    Route("POST", "/v1/tools/{name}", call_tool, "Runs a tool.", takes=wire.CallTool, gives=wire.ToolAnswer),
)
