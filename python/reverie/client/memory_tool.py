"""The memory tool of the Messages API over Reverie's documents, for the tool runner of the `anthropic` package.

    from reverie.client import Client
    from reverie.client.memory_tool import MemoryTool

    with Client() as reverie:
        runner = anthropic.Anthropic().beta.messages.tool_runner(tools=[MemoryTool(reverie)], …)

This module imports `anthropic`, which takes seconds: nothing else of the client does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

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

    from reverie import wire
    from reverie.client.aio import AsyncClient
    from reverie.client.blocking import Client

__all__ = ["AsyncMemoryTool", "MemoryTool"]


class MemoryTool(BetaAbstractMemoryTool):
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

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return a file or a folder. Raises ToolError."""
        return self._run(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file. Raises ToolError."""
        return self._run(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text in a file. Raises ToolError."""
        return self._run(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines into a file. Raises ToolError."""
        return self._run(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file or a folder. Raises ToolError."""
        return self._run(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename a file or a folder. Raises ToolError."""
        return self._run(command)

    def _run(self, command: BetaMemoryTool20250818Command) -> str:
        return _text(self._client.call_tool("memory", _given(command), thread=self._thread))


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool over the documents of the client's space. With a `thread`, new memories are of its project."""

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

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return a file or a folder. Raises ToolError."""
        return await self._run(command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file. Raises ToolError."""
        return await self._run(command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text in a file. Raises ToolError."""
        return await self._run(command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines into a file. Raises ToolError."""
        return await self._run(command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file or a folder. Raises ToolError."""
        return await self._run(command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename a file or a folder. Raises ToolError."""
        return await self._run(command)

    async def _run(self, command: BetaMemoryTool20250818Command) -> str:
        return _text(await self._client.call_tool("memory", _given(command), thread=self._thread))


def _given(command: BetaMemoryTool20250818Command) -> dict[str, Any]:
    """Return a command as the model gave it."""
    return command.model_dump(mode="json", exclude_unset=True)


def _text(answer: wire.ToolAnswer) -> str:
    """Return the text of an answer. Raises ToolError."""
    if answer.is_error:
        raise ToolError(answer.content)
    return answer.content
