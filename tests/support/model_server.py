"""A local server of the Messages API that answers as scripted, with every fault that a real one may have.

    with ModelServer() as server:
        server.script(status(429, {"retry-after": "3"}), answer("{}"))

Each request is answered by the next step of the script, and the last step is repeated. `requests` are those that came
in, with their bodies, so that a test can compare them with a ledger and look for secrets in them. What a daemon asks by
itself is in `background`, and is answered with an empty object.
"""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from reverie import tokenizer

USAGE_FACTOR = 1.3  # this server counts more tokens than o200k_base does, as current models do
HUGE_BYTES = 2 << 30
BOMB_BYTES = 1 << 30
MODEL = "claude-test-1"


@dataclass(slots=True)
class Seen:
    """A request that came in, and the usage that was sent back with its answer, if one was."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    raw: bytes
    at: float
    input_tokens: int = 0
    output_tokens: int = 0
    sent_bytes: int = 0
    answered: bool = False


@dataclass(slots=True)
class Connection:
    """The socket of a request, with what a step needs: the request, the server's end, and a way to send."""

    socket: socket.socket
    seen: Seen
    stopping: threading.Event

    def send(self, data: bytes) -> bool:
        """Send all of `data`; return False where the client is gone."""
        try:
            self.socket.sendall(data)
        except OSError:
            return False
        self.seen.sent_bytes += len(data)
        return True

    def wait_until_left(self) -> None:
        """Return when the client closes its end, or the server stops."""
        self.socket.settimeout(0.1)
        while not self.stopping.is_set():
            try:
                if not self.socket.recv(1024):
                    return
            except TimeoutError:
                continue
            except OSError:
                return


class ModelServer:
    """The server, on a free TCP port of this machine; `tls` gives it a certificate."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Seen] = []
        self.background: list[Seen] = []
        self._steps: Sequence[Callable[[Connection], None]] = (answer("{}"),)
        self._next = 0
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept)
        self._serving: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        for thread in self._serving:
            thread.join()

    @property
    def port(self) -> int:
        """Return the port that it listens on."""
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """Return the address for `distiller.baseUrl`."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def script(self, *steps: Callable[[Connection], None]) -> None:
        """Answer the next requests with these steps, and forget the requests so far."""
        with self._lock:
            self._steps, self._next = steps, 0
            self.requests.clear()

    @property
    def tokens(self) -> tuple[int, int]:
        """Return the input and output tokens of all answers that were sent whole."""
        answered = [seen for seen in self.requests if seen.answered]
        return sum(seen.input_tokens for seen in answered), sum(seen.output_tokens for seen in answered)

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(client,))
            self._serving.append(thread)
            thread.start()

    def _serve(self, client: socket.socket) -> None:
        """Answer one request, and close."""
        with client:
            try:
                stream = self._tls.wrap_socket(client, server_side=True) if self._tls else client
                seen = _read_request(stream)
            except (OSError, ValueError):
                return
            if seen is None:
                return
            with self._lock:
                if purpose_of(seen) == "other":
                    # What a daemon asks by itself, such as a working state, comes at any time: no step is used for it.
                    self.background.append(seen)
                    step = answer("{}")
                else:
                    self.requests.append(seen)
                    step = self._steps[min(self._next, len(self._steps) - 1)]
                    self._next += 1
            step(Connection(stream, seen, self._stopping))


def answer(
    text: str | Callable[[Seen], str],
    *,
    stop_reason: str = "end_turn",
    usage: Any = ...,
    model: str | None = None,
    content: Any = ...,
) -> Callable[[Connection], None]:
    """Answer with a message of this text (or what is made from the request), streamed if that was asked for."""

    def step(connection: Connection) -> None:
        seen = connection.seen
        words = text if isinstance(text, str) else text(seen)
        seen.input_tokens = int(tokenizer.count(_texts(seen.body)) * USAGE_FACTOR) + 10
        seen.output_tokens = int(tokenizer.count(words) * USAGE_FACTOR) + 3
        counted = {
            "input_tokens": seen.input_tokens,
            "output_tokens": seen.output_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": model or seen.body.get("model", MODEL),
            "content": [{"type": "text", "text": words}] if content is ... else content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": counted if usage is ... else usage,
        }
        if usage is None:
            del message["usage"]
        if seen.body.get("stream"):
            seen.answered = connection.send(_head(200, {"content-type": "text/event-stream"}) + _events(message, words))
            return
        seen.answered = connection.send(body_of(message))

    return step


def tool_turns(*turns: Sequence[dict[str, Any]]) -> Callable[[Connection], None]:
    """Answer a conversation with these calls of tools, turn by turn, and then with words alone."""

    def step(connection: Connection) -> None:
        turn = sum(message["role"] == "assistant" for message in connection.seen.body["messages"])
        calls = turns[turn] if turn < len(turns) else ()
        content = [
            {"type": "tool_use", "id": f"toolu_{turn}_{number}", "name": call["name"], "input": call["input"]}
            for number, call in enumerate(calls)
        ]
        if not content:
            answer("I am done.")(connection)
            return
        answer(json.dumps([call["input"] for call in calls]), content=content, stop_reason="tool_use")(connection)

    return step


def raw_answer(data: bytes) -> Callable[[Connection], None]:
    """Answer 200 with a body of these bytes."""
    return lambda connection: _send(connection, _response(200, data))


def status(
    code: int,
    headers: Mapping[str, str] | None = None,
    *,
    kind: str = "api_error",
    message: str = "no",
    error_code: str | None = None,
    html: bool = False,
) -> Callable[[Connection], None]:
    """Answer with an error status, as the API or as a proxy in front of it would."""
    details = {"details": {"error_code": error_code}} if error_code else {}
    body: Any = {"type": "error", "error": {"type": kind, "message": message, **details}}
    data = f"<html><body>{message}</body></html>".encode() if html else json.dumps(body).encode()
    return lambda connection: _send(connection, _response(code, data, headers))


def redirect(target: str) -> Callable[[Connection], None]:
    """Answer 302 to another address."""
    return status(302, {"location": target})


def hang(connection: Connection) -> None:
    """Send nothing until the client leaves."""
    connection.wait_until_left()


def hang_in_body(connection: Connection) -> None:
    """Send the first half of an answer, then nothing until the client leaves."""
    whole = body_of({"type": "message", "content": [{"type": "text", "text": "x" * 500}]})
    connection.send(whole[: len(whole) // 2])
    connection.wait_until_left()


def reset_in_body(connection: Connection) -> None:
    """Send the first half of an answer and reset the connection."""
    whole = body_of({"type": "message", "content": [{"type": "text", "text": "x" * 500}]})
    connection.send(whole[: len(whole) // 2])
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def drip(connection: Connection) -> None:
    """Send an answer one byte in 50 ms until the client leaves."""
    for byte in body_of({"type": "message", "content": [{"type": "text", "text": "x" * 2000}]}):
        if connection.stopping.is_set() or not connection.send(bytes((byte,))):
            return
        time.sleep(0.05)


def huge(connection: Connection) -> None:
    """Send a JSON string of 2 GiB, as far as the client reads it."""
    piece = b"x" * (1 << 20)
    if not connection.send(_head(200, {"content-type": "application/json", "content-length": str(HUGE_BYTES)}) + b'"'):
        return
    while connection.seen.sent_bytes < HUGE_BYTES and not connection.stopping.is_set():
        if not connection.send(piece):
            return


def gzip_bomb(connection: Connection) -> None:
    """Send a gigabyte of zeros as a megabyte of gzip, whatever encoding was asked for."""
    piece = gzip.compress(bytes(16 << 20), compresslevel=9)  # members may follow each other (RFC 1952)
    data = piece * (BOMB_BYTES // (16 << 20))
    connection.send(_response(200, data, {"content-encoding": "gzip"}))


def body_of(message: Any) -> bytes:
    """Return the response 200 with this JSON."""
    return _response(200, json.dumps(message).encode())


def _send(connection: Connection, data: bytes) -> None:
    connection.send(data)


def _response(code: int, data: bytes, headers: Mapping[str, str] | None = None) -> bytes:
    plain = {"content-type": "application/json", "content-length": str(len(data)), "connection": "close"}
    return _head(code, {**plain, "request-id": "req_1", **(headers or {})}) + data


def _head(code: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {code} Status", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _events(message: dict[str, Any], words: str) -> bytes:
    """Return a message as server-sent events."""
    begun = {**message, "content": [], "stop_reason": None}
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": delta, "usage": message.get("usage")},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def _texts(body: Any) -> str:
    """Return every text of a request."""
    if isinstance(body, dict):
        return " ".join(_texts(value) for value in body.values())
    if isinstance(body, list):
        return " ".join(map(_texts, body))
    return body if isinstance(body, str) else ""


def _read_request(stream: socket.socket) -> Seen | None:
    """Return the request that a client sends, or None where it leaves before that."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = stream.recv(1 << 16)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    while len(body) < int(headers.get("content-length", "0")):
        piece = stream.recv(1 << 16)
        if not piece:
            return None
        body += piece
    method, path, _ = lines[0].split(" ", 2)
    return Seen(method, path, headers, json.loads(body) if body else {}, data[: len(head) + 4] + body, time.monotonic())


def purpose_of(seen: Seen) -> str:
    """Return what a request wants: `reflect` with tools, else `extract`, `consolidate`, `check` or `other`."""
    if "tools" in seen.body:
        return "reflect"
    wanted = seen.body.get("output_config", {}).get("format", {}).get("schema", {}).get("properties", {})
    names = {"memories": "extract", "operations": "consolidate", "ok": "check"}
    return next((purpose for name, purpose in names.items() if name in wanted), "other")


def by_purpose(**steps: Callable[[Connection], None]) -> Callable[[Connection], None]:
    """Answer each request by the step for its purpose; one without a step gets an empty object."""
    return lambda connection: steps.get(purpose_of(connection.seen), answer("{}"))(connection)
