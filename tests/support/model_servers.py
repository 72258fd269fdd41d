"""A local server that speaks as much of the Messages and Responses APIs as Claude Code and Codex need."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from support.quiet_handler import QuietHandler

MODEL = "claude-sonnet-5"
SUMMARY_ASKED = "Your task is to create a detailed summary of the conversation"


@dataclass
class ModelServer:
    """A fake model server: its address, the requests that it got, and the text of its next replies."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    reply: str = "Understood."
    usage: int = 100  # input tokens that are reported
    summary_s: float = 0.0  # before a summary of the conversation is answered, as a model takes its time

    def conversations(self) -> list[str]:
        """Return the requests for a reply, as JSON text, oldest first."""
        return [json.dumps(body, ensure_ascii=False) for body in self.requests]

    def forget(self) -> None:
        """Forget the requests so far."""
        self.requests.clear()


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Yield a running server."""
    state = ModelServer()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _messages(state: ModelServer, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of a reply of the Messages API."""
    usage = {"input_tokens": state.usage, "output_tokens": 5}
    message: dict[str, Any] = {
        "id": f"msg_{len(state.requests):04}",
        "type": "message",
        "role": "assistant",
        "content": [],
    }
    message |= {"model": body.get("model", MODEL), "stop_reason": None, "stop_sequence": None, "usage": usage}
    block = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": state.reply}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


def _responses(state: ModelServer) -> list[dict[str, Any]]:
    """Return the events of a reply of the Responses API."""
    number = f"resp_{len(state.requests):04}"
    content = [{"type": "output_text", "text": state.reply, "annotations": []}]
    item = {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": content}
    usage = {"input_tokens": state.usage, "output_tokens": 5, "total_tokens": state.usage + 5}
    return [
        {"type": "response.created", "response": {"id": number}},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"id": number, "usage": usage}},
    ]


def _handler(state: ModelServer) -> type[QuietHandler]:
    class Models(QuietHandler):
        """`POST /v1/messages`, `/v1/messages/count_tokens` and `/v1/responses`; any other path is empty JSON."""

        def do_POST(self) -> None:  # noqa: N802 - the base class looks it up by this name
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            path = self.path.partition("?")[0]
            if path.endswith("/count_tokens"):
                self.send_body(json.dumps({"input_tokens": state.usage}).encode())
                return
            if not path.endswith(("/messages", "/responses")):
                self.send_body(b"{}")
                return
            state.requests.append(body)
            if state.summary_s and SUMMARY_ASKED in json.dumps(body["messages"][-3:]):
                time.sleep(state.summary_s)
            events = _messages(state, body) if path.endswith("/messages") else _responses(state)
            if path.endswith("/messages") and not body.get("stream"):
                message = events[0]["message"] | {"content": [{"type": "text", "text": state.reply}]}
                self.send_body(json.dumps(message | {"stop_reason": "end_turn"}).encode())
                return
            data = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
            self.send_body(data.encode(), "text/event-stream")

        def do_GET(self) -> None:  # noqa: N802 - the base class looks it up by this name
            self.send_body(b'{"data": [], "models": []}')

    return Models
