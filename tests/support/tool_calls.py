"""Calls of agents' tools that succeed, or that are refused with a sentence for an agent."""

from __future__ import annotations

import json
from typing import Any

from reverie.client import Client


def result_of(client: Client, name: str, thread: str | None = None, **fields: Any) -> Any:
    """Return the result of a tool call that succeeds; its JSON decoded, where it is not the text of a file."""
    answer = client.call_tool(name, fields, thread=thread)
    assert not answer.is_error, answer.content
    assert answer.content.strip()
    return answer.content if name == "memory_read" else json.loads(answer.content)


def refused(client: Client, name: str, thread: str | None = None, **fields: Any) -> str:
    """Return the error text of a tool: short, and without HTTP terms."""
    answer = client.call_tool(name, fields, thread=thread)
    assert answer.is_error, answer.content
    assert 0 < len(answer.content) < 600
    assert not any(word in answer.content for word in ("GET ", "POST ", "ETag", "/v1/", "Content-Type"))
    return answer.content
