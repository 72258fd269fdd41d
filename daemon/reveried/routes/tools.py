"""`/v1/tools`: definitions of the agents' tools and the call of one; the memory tool of the Messages API."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from reverie import tools, wire
from reverie.api.tools import Tools
from reverie.documents.layout import PERSON
from reverie.errors import NotFound, ReverieError, TooLarge, ValidationError
from reverie.tools import memory
from reverie.tools.memory import Create, Delete, Insert, MemoryToolError, Rename, StrReplace, View
from reverie.usecases import documents
from reverie.usecases.documents import writable_path
from reveried.actions.tools import SERVER_ERROR, ToolCall, agent_of, current, project_of, retry_while_overtaken, run
from reveried.drive import write
from reveried.execute import answer_once
from reveried.http.route import serves
from reveried.http.types import Call, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reverie.store import DocumentRecord
    from reverie.tools.memory import MemoryCommand
    from reverie.usecases.by import By


async def _run_memory_command(given: Mapping[str, Any], call: ToolCall) -> wire.ToolAnswer:
    """Run one command of the memory tool. An error that the model can avoid is returned as text; others are raised."""

    async def work() -> wire.ToolAnswer:
        try:
            return wire.ToolAnswer(content=await _text(memory.command_of(given), call), is_error=False)
        except MemoryToolError as error:
            return wire.ToolAnswer(content=str(error), is_error=True)
        except ReverieError as error:
            if error.status >= SERVER_ERROR:
                raise
            return wire.ToolAnswer(content=error.sentence, is_error=True)

    return await answer_once(call.services, call.space, call.idempotency, work, wire.ToolAnswer)


async def _text(command: MemoryCommand, call: ToolCall) -> str:
    """Run a memory tool command and return its result text for the model. Raises MemoryToolError, ReverieError."""
    match command:
        case View():
            return await _view(command, call)
        case Create():
            return await _create(command, call)
        case StrReplace() | Insert():
            return await _edit(command, call)
        case Delete():
            return await _delete(command, call)
        case Rename():
            return await _rename(command, call)


async def _view(command: View, call: ToolCall) -> str:
    name = memory.relative(command.path)
    document = await _document(call, name)
    if document is not None:
        return memory.view_file(command.path, document.content, command.view_range)
    sizes = await _sizes(call)
    if not memory.is_folder(name, sizes):
        raise MemoryToolError(f"The path {command.path} does not exist. Please provide a valid path.")
    return memory.view_folder(command.path, name, sizes)


async def _create(command: Create, call: ToolCall) -> str:
    name = memory.relative(command.path)
    if await _document(call, name) is not None or memory.is_folder(name, await _sizes(call)):
        raise MemoryToolError(f"File {command.path} already exists")
    await _put(call, name, command.file_text, None)
    return f"File created successfully at: {command.path}"


async def _edit(command: StrReplace | Insert, call: ToolCall) -> str:
    """Change a file by its command; if another writer changes it between its reading and the write, try again."""
    name = memory.relative(command.path)

    async def attempt() -> str:
        document = await _document(call, name)
        if document is None:
            if memory.is_folder(name, await _sizes(call)):
                raise MemoryToolError(f"The path {command.path} is not a file.")
            raise MemoryToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        if isinstance(command, Insert):
            after = memory.inserted(document.content, command.insert_line, command.insert_text)
            text = f"The file {command.path} has been edited."
        else:
            after, text = memory.replaced(command.path, document.content, command.old_str, command.new_str)
        await _put(call, name, after, document)
        return text

    return await retry_while_overtaken(attempt)


async def _delete(command: Delete, call: ToolCall) -> str:
    name = memory.relative(command.path)
    if not name:
        raise MemoryToolError(f"Cannot delete the {memory.ROOT} directory itself")
    try:
        if await _document(call, name) is not None:
            await write(call.services, documents.delete, _by(call), name)
        else:
            await write(call.services, documents.delete_folder, _by(call), name)
    except NotFound:
        raise MemoryToolError(f"The path {command.path} does not exist") from None
    return f"Successfully deleted {command.path}"


async def _rename(command: Rename, call: ToolCall) -> str:
    old, new = memory.relative(command.old_path), memory.relative(command.new_path)
    if not old:
        raise MemoryToolError(f"Cannot rename the {memory.ROOT} directory itself")
    sizes = await _sizes(call)
    if new in sizes or memory.is_folder(new, sizes):
        raise MemoryToolError(f"The destination {command.new_path} already exists")
    try:
        await write(call.services, documents.move, _by(call), old, new)
    except NotFound:
        raise MemoryToolError(f"The path {command.old_path} does not exist") from None
    return f"Successfully renamed {command.old_path} to {command.new_path}"


async def _put(call: ToolCall, name: str, text: str, document: DocumentRecord | None) -> None:
    """Write a whole file in the place of the version that was read. Raises Conflict where there is another one."""
    try:
        path = writable_path(name)
        read = "" if document is None else document.sha256
        await write(call.services, documents.put, _by(call, project_of(call, path), read), path, text)
    except (TooLarge, ValidationError) as error:
        raise MemoryToolError(error.sentence) from None


def _by(call: ToolCall, project: str = PERSON, if_match: str | None = None) -> By:
    """Return whose writes a command makes, without the key: the answer of the whole command is stored under it."""
    return replace(call.by, key=None, project=project, if_match=if_match)


async def _document(call: ToolCall, name: str) -> DocumentRecord | None:
    """Return the document at a path after syncing its file, so that a person's latest save is in it; or None."""
    try:
        return await current(call, writable_path(name))
    except ValidationError:
        return None


async def _sizes(call: ToolCall) -> dict[str, int]:
    """Return the size of every document by its path."""
    listed = await call.services.sync_service.documents(call.space)
    return {document.path: document.size for document in listed}


@serves(Tools.tools)
async def list_tools(call: Call) -> Reply:
    """Return the definitions, ready for the `tools` of a request to a model."""
    return Reply(body=_definitions(call.query_as(wire.ToolsQuery).format))


@cache
def _definitions(form: wire.ToolFormat) -> bytes:
    """Return the answer in one form, which is made once: the schemas of the inputs take some milliseconds."""
    return Reply(wire.Page(tools.definitions(form))).encoded()


@serves(Tools.call_tool)
async def call_tool(call: Call) -> wire.ToolAnswer:
    """Run a tool. An error that the agent can avoid is an answer with `isError`, not a failed call.

    `memory` is the memory tool of the Messages API, whose definition is the API's own.
    """
    if call.params["name"] == "memory":
        body = _body(call)
        return await _run_memory_command(body.input, _caller(call, body))
    tool = tools.tool_named(call.params["name"])
    if tool is None:
        names = ", ".join(tool.name for tool in tools.LISTED)
        raise NotFound(f"there is no tool {call.params['name'][:80]!r}", hint=f"the tools are {names}")
    body = _body(call)
    return await run(tool, body.input, _caller(call, body))


def _caller(call: Call, body: wire.CallTool) -> ToolCall:
    thread = body.thread or ""
    who = agent_of(call.services, call.space, call.agent, thread)
    return ToolCall(call.services, call.space, who, thread, call.idempotency, call.params["name"])


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
