"""A local fake of the messages API, with its validation, context editing and response format."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anthropic

from reverie import tokenizer
from support.api_rules import HEADER, TOP, violations
from support.model_server import ModelServer, Request, response

MODEL = "claude-opus-5-5"


@dataclass
class MessagesApi:
    """Fake of the Messages API; `signed` are the thinking blocks it accepts (None: any)."""

    signed: list[dict[str, Any]] | None = None
    cleared: list[list[str]] = field(default_factory=list)  # the ids cleared in each accepted request

    def answer(self, body: dict[str, Any], betas: list[str]) -> tuple[int, dict[str, Any]]:
        """Return status and body for a request: 400 with all violations, or a reply."""
        errors = violations({**{name: body.get(name) for name in TOP - {"betas"}}, "betas": betas}, self.signed)
        errors += [f"extra inputs: {name}" for name in set(body) - TOP - {"model", "max_tokens", "tools", "thinking"}]
        if HEADER not in betas:
            errors.append("no beta header")
        if errors:
            error = {"type": "invalid_request_error", "message": "; ".join(errors)}
            return 400, {"type": "error", "error": error}
        cleared, freed = _edited(body)
        self.cleared.append(cleared)
        return 200, _message(body, cleared, freed)


@dataclass
class ScriptedApi(MessagesApi):
    """A server that answers each valid request with the next of `replies`: (stop reason, content), or a status.

    `requests` are all that came in; one more than there are replies is answered with 529.
    """

    replies: list[tuple[str, list[dict[str, Any]]] | int] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, body: dict[str, Any], betas: list[str]) -> tuple[int, dict[str, Any]]:
        """Return status and body for a request: 400 if invalid, else the next of `replies` (529 if none is left)."""
        self.requests.append(body)
        status, message = super().answer(body, betas)
        if status != 200:
            return status, message
        reply = self.replies.pop(0) if self.replies else 529
        if isinstance(reply, int):
            return reply, {"type": "error", "error": {"type": "api_error", "message": "as scripted"}}
        reason, content = reply
        return 200, {**message, "stop_reason": reason, "content": content}


def send_accepted(client: anthropic.Anthropic, request: Any) -> Any:
    """Send the fragment unchanged, assert that it is accepted, and return the answer."""
    tools: Any = [{"name": "Bash", "input_schema": {"type": "object"}}]
    answer = client.beta.messages.create(model=MODEL, max_tokens=64, tools=tools, **request)
    assert answer.content[0].type == "text"
    assert answer.content[0].text == "accepted"
    return answer


@contextmanager
def api_client(path: Path, api: MessagesApi) -> Iterator[anthropic.Anthropic]:
    """Yield a real client whose every request goes to `api`, on the socket at `path`."""
    with serving(path, api), connected(path) as client:
        yield client


@contextmanager
def connected(path: Path) -> Iterator[anthropic.Anthropic]:
    """Yield a real client whose every request goes to the server at `path`."""
    import anthropic
    import httpx2

    with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(path))) as http_client:
        yield anthropic.Anthropic(api_key="k", base_url="http://fake", http_client=http_client, max_retries=0)


@asynccontextmanager
async def async_connected(path: Path) -> AsyncIterator[anthropic.AsyncAnthropic]:
    """Yield a real asyncio client whose every request goes to the server at `path`."""
    import anthropic
    import httpx2

    async with httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(uds=str(path))) as http_client:
        yield anthropic.AsyncAnthropic(api_key="k", base_url="http://fake", http_client=http_client, max_retries=0)


@contextmanager
def serving(path: Path, api: MessagesApi) -> Iterator[None]:
    """Serve `api` on the socket at `path`."""

    def step(request: Request) -> None:
        status, answer = api.answer(request.body, request.headers.get("anthropic-beta", "").split(","))
        request.send(response(status, json.dumps(answer).encode()))

    with ModelServer(step, path=path):
        yield


def _edited(body: dict[str, Any]) -> tuple[list[str], int]:
    """Return the ids of tool uses whose results a request's context editing clears, and the tokens that it frees.

    Beyond the trigger all but the last `keep` results go, if they free at least `clear_at_least`.
    """
    edit = next((candidate for candidate in _edits(body) if candidate["type"] == "clear_tool_uses_20250919"), None)
    if edit is None or _weight(body) <= edit["trigger"]["value"]:
        return [], 0
    results = [
        (block["tool_use_id"], _size(block))
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    old = results[: -edit["keep"]["value"]]
    freed = sum(size for _, size in old)
    return ([call_id for call_id, _ in old], freed) if freed >= edit["clear_at_least"]["value"] else ([], 0)


def _edits(body: dict[str, Any]) -> list[dict[str, Any]]:
    edits: list[dict[str, Any]] = (body.get("context_management") or {}).get("edits", [])
    return edits


def _message(body: dict[str, Any], cleared: list[str], freed: int) -> dict[str, Any]:
    applied = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": len(cleared), "cleared_input_tokens": freed}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": "accepted"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": _weight(body) - freed, "output_tokens": 1},
        "context_management": {"applied_edits": [applied] if cleared else []},
    }


def _weight(body: dict[str, Any]) -> int:
    blocks = [block for message in body["messages"] for block in message["content"]]
    return sum(_size(block) for block in [*body["system"], *blocks])


def _size(block: dict[str, Any]) -> int:
    """Return the tokens of all texts in a block, nested ones included."""
    match block["type"]:
        case "text":
            return tokenizer.count(block["text"])
        case "thinking":
            return tokenizer.count(block["thinking"])
        case "tool_use":
            return tokenizer.count(json.dumps(block["input"]))
        case "tool_result" if isinstance(block["content"], str):
            return tokenizer.count(block["content"])
        case "tool_result":
            return sum(map(_size, block["content"]))
        case _:
            return 0
