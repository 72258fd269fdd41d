"""The methods of the server, for clients with a session and without: a request in, its result out."""

from __future__ import annotations

import base64
import binascii
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import orjson

from reverie import tools
from reverie.decode import convert
from reverie.errors import NotFound, ReverieError, ValidationError
from reverie.store import DocumentRecord
from reverie.tools import MemoryDeleteInput
from reverie.usecases.documents import writable_path
from reveried.actions import projects
from reveried.actions.tools import ToolCall, run
from reveried.mcp import client_identity, messages, prompts, resources
from reveried.mcp.client_identity import URIS_MAX, author_of, create_thread, project_of, thread_id_of, thread_of
from reveried.mcp.messages import RpcError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from reverie.tools import Tool
    from reveried.http.types import Call
    from reveried.mcp.client_identity import Client
    from reveried.mcp.messages import Request

_CURSOR_MAX = 2000
_COMPLETED_MAX = 100


class Question(msgspec.Struct):
    """A question to the user, before a tool does what was asked: the parameters of `elicitation/create`.

    `about` is what was asked about; where it has changed since, the answer does not count.
    """

    params: dict[str, Any]
    about: str


Result: TypeAlias = dict[str, Any]


async def result(call: Call, client: Client, request: Request) -> Result | Question:
    """Return the result of a request, or the question that its user must answer first.

    Raises:
        RpcError: there is no such method, or its parameters do not fit.
    """
    fixed, methods = (_FIXED_STATELESS, _METHODS) if client.stateless else (_FIXED_OF_SESSION, _METHODS_OF_SESSION)
    if request.method not in fixed.keys() | methods.keys():
        raise RpcError(messages.METHOD_NOT_FOUND, f"there is no method {request.method[:80]!r}")
    answer: Result | Question
    try:
        known = fixed.get(request.method)
        answer = await methods[request.method](call, client, request) if known is None else known()
    except (NotFound, ValidationError) as error:
        not_found = request.method.startswith("resources/") and isinstance(error, NotFound)
        code = messages.RESOURCE_NOT_FOUND if not_found and not client.stateless else messages.INVALID_PARAMS
        data = {"uri": request.params.get("uri")} if not_found else {}
        raise RpcError(code, error.sentence, **data) from None
    if client.stateless and isinstance(answer, dict) and request.method not in _NOT_CACHED:
        return {**answer, **messages.FRESH}
    return answer


async def _call_tool(call: Call, client: Client, request: Request) -> Result | Question:
    """Call a tool in the client's thread; before a deletion its user is asked, if the client can do that."""
    name, given = _text(request, "name"), request.params.get("arguments", {})
    if not isinstance(given, dict):
        raise RpcError(messages.INVALID_PARAMS, "`arguments` is an object")
    tool = tools.tool_named(name)
    if tool is None:
        names = ", ".join(tool.name for tool in tools.LISTED)
        raise RpcError(messages.INVALID_PARAMS, f"there is no tool {name[:80]!r}; the tools are {names}")
    if tool.deletes and client.elicits:
        question = _question(call, given)
        if question is not None:
            answer = _answer_of(request, question)
            if answer is None:
                return question
            if not answer:
                return declined()
    return await call_tool(call, client, request)


async def call_tool(call: Call, client: Client, request: Request) -> Result:
    """Call a tool and return its result; an error is returned as a result that says what to do."""
    tool = tools.tool_named(str(request.params["name"]))
    assert tool is not None
    try:
        thread = await thread_id_of(call, client, request)
        project = await _project_for(tool, call, client, thread)
        given = dict(request.params.get("arguments") or {})
        who, begin = author_of(call, client), partial(create_thread, call, client, thread)
        caller = ToolCall(call.services, call.space, who, thread, call.idempotency, tool.name, project, begin)
        answer = await run(tool, given, caller)
    except ReverieError as error:
        return _text_result(error.sentence, is_error=True)
    text_result = _text_result(answer.content, is_error=answer.is_error)
    if not answer.is_error and tool.output_type is not None:
        value = orjson.loads(answer.content)
        text_result["structuredContent"] = value if tool.listed_as is None else {tool.listed_as: value}
    return text_result


async def _project_for(tool: Tool, call: Call, client: Client, thread: str) -> str | None:
    """Return the project that a tool works in: the thread's, else that of the folder, which a write makes known."""
    project = projects.thread_project(call.services, call.space, thread)
    is_write = not (tool.read_only or tool.of_thread or tool.deletes)
    if project is None and client.folder is not None and is_write:
        return await projects.registered(call.services, call.by, client.folder)
    return project or await project_of(call, client, thread)


def declined() -> Result:
    """Return the result of a call that the user did not agree to."""
    return _text_result("nothing was deleted: the user did not agree", is_error=True)


def _question(call: Call, given: dict[str, Any]) -> Question | None:
    """Return the question to ask before a file is deleted; None if the arguments are wrong or there is no such file."""
    try:
        path = writable_path(convert(given, MemoryDeleteInput).path)
    except (msgspec.ValidationError, ValidationError):
        return None
    with call.services.store.reader(call.space) as reader:
        document = reader.load(DocumentRecord, (path,))
    if document is None:
        return None
    count = f" with {len(document.ids)} memories" if document.ids else ""
    params = {
        "mode": "form",
        "message": f"Delete the memory file {path}{count}? `reverie undo` brings it back.",
        "requestedSchema": {
            "type": "object",
            "properties": {"delete": {"type": "boolean", "title": f"Delete {path}", "default": False}},
            "required": ["delete"],
        },
    }
    return Question(params, f"{path}@{document.sha256}")


def question_result(question: Question) -> Result:
    """Return the result that asks a client without a session to send its request again with the user's answer."""
    state = base64.urlsafe_b64encode(question.about.encode()).decode()
    asked = {"delete": {"method": messages.ELICITATION, "params": question.params}}
    return {"resultType": "input_required", "inputRequests": asked, "requestState": state}


def _answer_of(request: Request, question: Question) -> bool | None:
    """Return the user's yes or no that a repeated request carries; None if it does not answer this question."""
    answers, state = request.params.get("inputResponses"), request.params.get("requestState")
    if not isinstance(answers, dict) or not isinstance(state, str):
        return None
    try:
        about = base64.b64decode(state, b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise RpcError(messages.INVALID_PARAMS, "`requestState` is not what this server gave") from None
    given = answers.get("delete")
    return agreed(given) if about == question.about and isinstance(given, dict) else None


def agreed(answer: dict[str, Any]) -> bool:
    """Return True if the user's answer agrees to the deletion."""
    content = answer.get("content")
    return answer.get("action") == "accept" and isinstance(content, dict) and content.get("delete") is True


async def _resources(call: Call, client: Client, request: Request) -> Result:
    cursor = request.params.get("cursor", "")
    if not isinstance(cursor, str) or len(cursor) > _CURSOR_MAX:
        raise RpcError(messages.INVALID_PARAMS, "`cursor` is the `nextCursor` of the page before")
    thread = await thread_of(call, client, request)
    return await resources.resource_page(call, await project_of(call, client, thread), cursor)


async def _read(call: Call, client: Client, request: Request) -> Result:
    uri, thread = _text(request, "uri"), await thread_of(call, client, request)
    return {"contents": [await resources.contents(call, client, uri, thread)]}


async def _prompt(call: Call, client: Client, request: Request) -> Result:
    given = request.params.get("arguments", {})
    if not isinstance(given, dict):
        raise RpcError(messages.INVALID_PARAMS, "`arguments` is an object")
    thread = await thread_of(call, client, request)
    return await prompts.prompt(call, client, thread, _text(request, "name"), given)


async def _complete(call: Call, client: Client, request: Request) -> Result:
    """Return the thread ids or document paths that complete what the user has typed (MCP `completion/complete`)."""
    ref, argument = request.params.get("ref"), request.params.get("argument")
    if not isinstance(ref, dict) or not isinstance(argument, dict) or not isinstance(argument.get("value"), str):
        raise RpcError(messages.INVALID_PARAMS, "`ref` and `argument` say what is to be completed")
    begins, values = argument["value"], list[str]()
    if ref.get("type") == "ref/prompt" and ref.get("name") == "continue":
        thread = await thread_of(call, client, request)
        values = await prompts.thread_ids(call, client, thread, begins)
    elif ref.get("type") == "ref/resource" and ref.get("uri") == resources.TEMPLATES[0]["uriTemplate"]:
        thread = await thread_of(call, client, request)
        listed = await resources.listed(call, await project_of(call, client, thread))
        values = sorted(document.path for document in listed if document.path.startswith(begins))
    shown = values[:_COMPLETED_MAX]
    return {"completion": {"values": shown, "total": len(values), "hasMore": len(values) > len(shown)}}


async def _initialize(call: Call, client: Client, request: Request) -> Result:
    del call, client
    asked = request.params.get("protocolVersion")
    if not isinstance(asked, str):
        raise RpcError(messages.INVALID_PARAMS, "`protocolVersion` is a string")
    return messages.initialized(asked)


async def _subscribe(call: Call, client: Client, request: Request) -> Result:
    """Subscribe the client to a resource that exists, so that the session's stream announces its changes."""
    uri, thread = _text(request, "uri"), await thread_of(call, client, request)
    await resources.contents(call, client, uri, thread)
    uris = call.services.made(client_identity.McpState).uris_of(client.session)
    if len(uris) >= URIS_MAX:
        raise RpcError(messages.INVALID_PARAMS, f"a session subscribes to {URIS_MAX:,} resources at most")
    uris.add(uri)
    return {}


async def _unsubscribe(call: Call, client: Client, request: Request) -> Result:
    call.services.made(client_identity.McpState).uris_of(client.session).discard(_text(request, "uri"))
    return {}


def _text(request: Request, name: str) -> str:
    """Return a parameter that is a text. Raises RpcError."""
    text = request.params.get(name)
    if not isinstance(text, str) or not text:
        raise RpcError(messages.INVALID_PARAMS, f"`{name}` is a text that is not empty")
    return text


def _text_result(text: str, *, is_error: bool) -> Result:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


_NOT_CACHED = frozenset({"tools/call", "prompts/get", "completion/complete"})
_METHODS: dict[str, Callable[[Call, Client, Request], Awaitable[Result | Question]]] = {
    "tools/call": _call_tool,
    "resources/list": _resources,
    "resources/read": _read,
    "prompts/get": _prompt,
    "completion/complete": _complete,
}
_FIXED: dict[str, Callable[[], Result]] = {
    "tools/list": lambda: {"tools": tools.definitions("mcp")},
    "resources/templates/list": lambda: {"resourceTemplates": list(resources.TEMPLATES)},
    "prompts/list": lambda: {"prompts": list(prompts.PROMPTS)},
}
_FIXED_STATELESS = {**_FIXED, "server/discover": messages.discovered}
_FIXED_OF_SESSION = {**_FIXED, "ping": dict[str, Any]}
_METHODS_OF_SESSION = {
    **_METHODS,
    "initialize": _initialize,
    "resources/subscribe": _subscribe,
    "resources/unsubscribe": _unsubscribe,
}
