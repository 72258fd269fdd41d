"""The official Python client of the Model Context Protocol over the daemon's Unix socket, in both of its forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp
import pytest
from mcp import types
from mcp.client.streamable_http import streamable_http_client

from reverie import tools
from reverie.client import Client
from support.daemon import Daemon
from support.mcp_bridge import PROGRAM

PATH = "facts/gates.md"
TEXT = "# Gates\n\n- The north gate is green\n"


async def _yes(context: Any, params: Any) -> types.ElicitResult:
    """Agree to a deletion that is named."""
    del context
    assert PATH in params.message
    return types.ElicitResult(action="accept", content={"delete": True})


async def _no(context: Any, params: Any) -> types.ElicitResult:
    del context, params
    return types.ElicitResult(action="decline")


def _text(content: Any) -> str:
    """Return the text of a content block."""
    return str(content.text)


async def _use(client: mcp.Client) -> dict[str, Any]:
    """Use every kind of thing that the server offers; return what came back."""
    listed = await client.list_tools()
    resources = await client.list_resources()
    read = await client.read_resource(f"memory://documents/{PATH}")
    prompts = await client.list_prompts()
    review = await client.get_prompt("review")
    called = await client.call_tool("memory_list", {})
    deleted = await client.call_tool("memory_delete", {"path": PATH})
    return {
        "version": client.protocol_version,
        "tools": [tool.name for tool in listed.tools],
        "uris": [str(resource.uri) for resource in resources.resources],
        "text": _text(read.contents[0]),
        "prompts": [prompt.name for prompt in prompts.prompts],
        "review": _text(review.messages[0].content),
        "files": called.structured_content,
        "deleted": not deleted.is_error,
    }


def _check(used: dict[str, Any], *, agrees: bool) -> None:
    assert used["tools"] == [tool.name for tool in tools.LISTED]
    assert f"memory://documents/{PATH}" in used["uris"]
    assert "north gate" in used["text"]
    assert used["prompts"] == ["continue", "handoff", "review"]
    assert PATH in used["review"]
    assert PATH in [file["path"] for file in used["files"]["files"]]
    assert used["deleted"] is agrees


@pytest.mark.parametrize("agrees", [True, False])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_over_http(daemon: Daemon, client: Client, *, mode: str, agrees: bool) -> None:
    """Over HTTP the client lists, reads and calls all that is offered; its user is asked before a deletion."""
    client.put_document(PATH, TEXT)

    async def talk() -> dict[str, Any]:
        transport = httpx2.AsyncHTTPTransport(uds=str(daemon.socket))
        async with httpx2.AsyncClient(transport=transport, timeout=60) as http:
            server = streamable_http_client("http://localhost/mcp", http_client=http)
            async with mcp.Client(server, mode=mode, elicitation_callback=_yes if agrees else _no) as found:
                return await _use(found)

    used = anyio.run(talk)
    assert used["version"] == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    _check(used, agrees=agrees)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_over_the_bridge(daemon: Daemon, client: Client, tmp_path: Path, mode: str) -> None:
    """Over `reverie mcp` (standard input and output) the client lists, reads and calls all that is offered."""
    client.put_document(PATH, TEXT)

    async def talk() -> dict[str, Any]:
        server = mcp.StdioServerParameters(command=PROGRAM, args=["mcp"], env=daemon.env, cwd=tmp_path)
        async with mcp.Client(mcp.stdio_client(server), mode=mode, elicitation_callback=_yes) as found:
            return await _use(found)

    _check(anyio.run(talk), agrees=True)
