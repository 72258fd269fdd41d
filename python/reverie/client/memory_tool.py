"""The memory tool of the Messages API over Reverie's documents, for the tool runner of the `anthropic` package.

    from reverie.client import Client
    from reverie.client.memory_tool import MemoryTool

    with Client() as reverie:
        runner = anthropic.Anthropic().beta.messages.tool_runner(tools=[MemoryTool(reverie)], …)

This module imports `anthropic`, which takes seconds: nothing else of the client does.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from reverie.api.endpoint import Call
from reverie.api.tools import Tools

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818Command,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

    from reverie.client.aio import AsyncClient
    from reverie.client.blocking import Client
    from reverie.wire.tools import ToolAnswer

Text = TypeVar("Text")  # a text, or one that is awaited


class _Commands(Generic[Text]):
    """The six commands: each sends one call with the client, whose face decides whether the text is awaited."""

    _client: Client | AsyncClient
    _thread: str | None

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> Text:
        """Return a file or a folder. Raises ToolError."""
        return self._run(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> Text:
        """Create a file. Raises ToolError."""
        return self._run(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> Text:
        """Replace a text in a file. Raises ToolError."""
        return self._run(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> Text:
        """Insert lines into a file. Raises ToolError."""
        return self._run(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> Text:
        """Delete a file or a folder. Raises ToolError."""
        return self._run(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> Text:
        """Rename a file or a folder. Raises ToolError."""
        return self._run(command)

    def _run(self, command: BetaMemoryTool20250818Command) -> Text:
        given = command.model_dump(mode="json", exclude_unset=True)  # as the model gave it
        return cast(
            "Text",
            self._client.send(_text_of(Tools.call_tool.call("memory", given, thread=self._thread))),
        )


class MemoryTool(_Commands[str], BetaAbstractMemoryTool):
    """The memory tool over the documents of the client's space. With a `thread`, new memories are of its project."""

    def __init__(
        self,
        client: Client,
        *,
        thread: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._client = client
        self._thread = thread


class AsyncMemoryTool(_Commands[Coroutine[Any, Any, str]], BetaAsyncAbstractMemoryTool):
    """The memory tool of an asyncio client, with the arguments of MemoryTool."""

    def __init__(
        self,
        client: AsyncClient,
        *,
        thread: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._client = client
        self._thread = thread


def _text_of(call: Call[ToolAnswer]) -> Call[str]:
    """Return the same call with the text of its answer as the result; an answer that is an error raises ToolError."""

    def decode(body: bytes) -> str:
        answer = call.decode(body)
        if answer.is_error:
            raise ToolError(answer.content)
        return answer.content

    return Call(call.method, call.target, decode, call.body, call.headers, call.long)
