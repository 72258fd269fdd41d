"""A local server in place of a provider of language models: scripted answers, and every fault that a real one may have.

    with ModelServer() as server:
        server.script(status(429, {"retry-after": "3"}), answer("{}"))

Each request is answered by the next step of the script, and the last step is repeated. `requests` are those that came
in, with their bodies, so that a test can compare them with a ledger and look for secrets in them. The requests of a
daemon for working states come at any time: they are in `background`, and answered with an empty object.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"  # RFC 1952, of one member
MODEL = "claude-test-1"
PURPOSES = {"memories": "extract", "operations": "consolidate", "currentTask": "state", "ok": "check"}


@dataclass(slots=True, eq=False)
class Request:
    """A request with the connection that it came over, and the tokens that were sent back as its usage, if any were."""

    raw: bytes
    socket: socket.socket
    stopping: threading.Event
    method: str = ""
    path: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    at: float = field(default_factory=time.monotonic)
    tokens: tuple[int, int] = (0, 0)
    sent_bytes: int = 0

    def __post_init__(self) -> None:
        head, *lines = self.raw.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        self.method, self.path, *_ = head.split(" ")
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        with suppress(ValueError):
            self.body = json.loads(body_of(self.raw))

    @property
    def purpose(self) -> str:
        """Return what a daemon wants: `reflect` with tools, else by the schema of the answer; "" for anything else."""
        body = self.body if isinstance(self.body, dict) else {}
        wanted = body.get("output_config", {}).get("format", {}).get("schema", {}).get("properties", {})
        return "reflect" if "tools" in body else next((PURPOSES[name] for name in PURPOSES if name in wanted), "")

    def send(self, data: bytes) -> bool:
        """Send all of `data`; return False where the client is gone."""
        try:
            self.socket.sendall(data)
        except OSError:
            return False
        self.sent_bytes += len(data)
        return True

    def wait_until_left(self) -> None:
        """Return when the client closes its end, or the server stops."""
        with suppress(OSError):
            while self.socket.recv(1024):
                pass


Step: TypeAlias = Callable[[Request], None]


class ModelServer:
    """The server, on a free TCP port of this machine or a Unix socket; `tls` gives it a certificate."""

    def __init__(self, *steps: Step, tls: ssl.SSLContext | None = None, path: Path | None = None) -> None:
        self.requests: list[Request] = []
        self.background: list[Request] = []
        self.connections = 0
        self.ended = threading.Semaphore(0)  # one for each connection that has ended
        self._steps: Sequence[Step] = steps or (answer("{}"),)
        self._next = 0
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._tls = tls
        family = socket.AF_INET if path is None else socket.AF_UNIX
        self._listener = socket.create_server(("127.0.0.1", 0) if path is None else str(path), family=family)
        self._thread = threading.Thread(target=self._accept)
        self._serving: list[threading.Thread] = []
        self._open: set[socket.socket] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        for peer in list(self._open):
            with suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
        for thread in self._serving:
            thread.join()

    @property
    def port(self) -> int:
        """Return the port that it listens on."""
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """Return its address, such as `distiller.baseUrl` has it."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def script(self, *steps: Step) -> None:
        """Answer the next requests with these steps, and forget the requests so far."""
        with self._lock:
            self._steps, self._next = steps, 0
            self.requests.clear()

    @property
    def tokens(self) -> tuple[int, int]:
        """Return the input and output tokens of all answers that were sent whole."""
        return sum(seen.tokens[0] for seen in self.requests), sum(seen.tokens[1] for seen in self.requests)

    def conversations(self) -> list[str]:
        """Return the requests for a reply, as JSON text, oldest first."""
        asked = [seen for seen in self.requests if _api(seen) in {"messages", "responses"}]
        return [json.dumps(seen.body, ensure_ascii=False) for seen in asked]

    def _accept(self) -> None:
        with suppress(OSError):
            while not self._stopping.is_set():
                peer, _ = self._listener.accept()
                self.connections += 1
                self._open.add(peer)
                thread = threading.Thread(target=self._serve, args=(peer,))
                thread.start()
                self._serving.append(thread)

    def _serve(self, plain: socket.socket) -> None:
        """Answer the requests of a connection until a step or the client closes it."""
        with suppress(OSError), plain:
            peer = self._tls.wrap_socket(plain, server_side=True) if self._tls else plain
            with peer:
                self._open.add(peer)  # with TLS another one
                while peer.fileno() >= 0 and not self._stopping.is_set() and (data := read_message(peer)) is not None:
                    request = Request(data, peer, self._stopping)
                    self._step(request)(request)
                self._open -= {plain, peer}
        self.ended.release()

    def _step(self, request: Request) -> Step:
        with self._lock:
            if request.purpose == "state":
                self.background.append(request)
                return answer("{}")
            self.requests.append(request)
            self._next += 1
            return self._steps[min(self._next, len(self._steps)) - 1]


def answer(
    text: str,
    *,
    stop_reason: str = "end_turn",
    usage: Any = ...,
    model: str | None = None,
    content: Any = ...,
) -> Step:
    """Answer with a message of this text, in the API of the request, streamed if that was asked for."""

    def step(request: Request) -> None:
        # More than o200k_base counts, as current models do.
        read, written = len(_texts(request.body)) // 3 + 10, len(text) // 2 + 3
        cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        counted = {"input_tokens": read, "output_tokens": written, **cached} if usage is ... else usage
        message = {
            "id": f"msg_{int(request.at * 1e6)}",
            "type": "message",
            "role": "assistant",
            "model": model or (request.body or {}).get("model", MODEL),
            "content": [{"type": "text", "text": text}] if content is ... else content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            **({} if counted is None else {"usage": counted}),
        }
        match request.method, _api(request):
            case "POST", "messages" if request.body.get("stream"):
                data = _stream(_message_events(message, text))
            case "POST", "messages":
                data = json_response(message)
            case "POST", "responses":
                data = _stream(_response_events(message, text))
            case "POST", "count_tokens":
                data = json_response({"input_tokens": counted["input_tokens"]})
            case _:
                data = json_response({"data": [], "models": []})
        if request.method == "HEAD":
            data = data[: -len(body_of(data))]
        if request.send(data):
            request.tokens = read, written

    return step


def tool_turns(*turns: Sequence[dict[str, Any]]) -> Step:
    """Answer a conversation with these calls of tools, turn by turn, and then with words alone."""

    def step(request: Request) -> None:
        turn = sum(message["role"] == "assistant" for message in request.body["messages"])
        calls = turns[turn] if turn < len(turns) else ()
        content = [
            {"type": "tool_use", "id": f"toolu_{turn}_{number}", "name": call["name"], "input": call["input"]}
            for number, call in enumerate(calls)
        ]
        if not content:
            answer("I am done.")(request)
            return
        answer(json.dumps([call["input"] for call in calls]), content=content, stop_reason="tool_use")(request)

    return step


def by_purpose(**steps: Step) -> Step:
    """Answer each request by the step for its purpose; one without a step gets an empty object."""
    return lambda request: steps.get(request.purpose, answer("{}"))(request)


def status(
    code: int,
    headers: Mapping[str, str] | None = None,
    *,
    kind: str = "api_error",
    message: str = "no",
    error_code: str | None = None,
    html: bool = False,
) -> Step:
    """Answer with an error status, as the API or as a proxy in front of it would."""
    details = {"details": {"error_code": error_code}} if error_code else {}
    body = {"type": "error", "error": {"type": kind, "message": message, **details}}
    data = f"<html><body>{message}</body></html>".encode() if html else json.dumps(body).encode()
    return raw(response(code, data, headers))


def raw(
    *pieces: bytes, end: Literal["keep", "close", "reset", "hang"] = "keep", times: int = 1, pause_s: float = 0.0
) -> Step:
    """Send these bytes, the last piece so many times, with pauses; then keep, close or reset the connection, or wait.

    `hang` waits until the client leaves.
    """

    def step(request: Request) -> None:
        for data in (*pieces, *pieces[-1:] * (times - 1)):
            if request.stopping.is_set() or not request.send(data):
                return
            time.sleep(pause_s)
        if end == "hang":
            request.wait_until_left()
        elif end != "keep":
            if end == "reset":
                request.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.socket.close()

    return step


def response(code: int, data: bytes, headers: Mapping[str, str] | None = None) -> bytes:
    """Return a response of the API, after which the client closes the connection."""
    plain = {"content-type": "application/json", "content-length": str(len(data)), "connection": "close"}
    return head(code, {**plain, "request-id": "req_1", **(headers or {})}) + data


def json_response(value: Any) -> bytes:
    """Return the response 200 with this JSON."""
    return response(200, json.dumps(value).encode())


def head(code: int, headers: Mapping[str, str]) -> bytes:
    """Return the head of a response."""
    lines = [f"HTTP/1.1 {code} Status", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _sized(count: int, encoding: str = "identity") -> bytes:
    """Return the head of a response with so many bytes of JSON."""
    return head(200, {"content-type": "application/json", "content-length": str(count), "content-encoding": encoding})


HALF = json_response({"type": "message", "content": [{"type": "text", "text": "x" * 500}]})[:-300]
hang = raw(end="hang")
"""Answer nothing until the client leaves."""

hang_in_body = raw(HALF, end="hang")
reset_in_body = raw(HALF, end="reset")
drip = raw(_sized(2_000), b" ", times=2_000, pause_s=0.05)
huge = raw(_sized(2 << 30), b'"', b"x" * (1 << 20), times=2 << 10)


def gzip_bomb(request: Request) -> None:
    """Send a gigabyte of zeros as a megabyte of gzip, whatever encoding was asked for."""
    piece = _zeros()
    raw(_sized(10 + 64 * len(piece), "gzip"), GZIP_HEAD, piece, times=64)(request)


@cache
def _zeros() -> bytes:
    """Return 16 MiB of zeros, deflated so that the same bytes may follow: a full flush forgets what came before."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return deflate.compress(bytes(16 << 20)) + deflate.flush(zlib.Z_FULL_FLUSH)


def self_signed(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """Return a certificate of 127.0.0.1 that no authority has signed, and the settings of a server that has it."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    create = ("openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "2", "-subj", "/CN=local")
    names = ("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate)
    subprocess.run([*create, *names], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return certificate, context


def _api(request: Request) -> str:
    """Return the last word of a request's path: `messages`, `count_tokens`, `responses`."""
    return request.path.partition("?")[0].rpartition("/")[2]


def _message_events(message: dict[str, Any], text: str) -> list[dict[str, Any]]:
    """Return the events of a reply of the Messages API."""
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": delta, "usage": message.get("usage")},
        {"type": "message_stop"},
    ]


def _response_events(message: dict[str, Any], text: str) -> list[dict[str, Any]]:
    """Return the events of a reply of the Responses API."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    item = {"type": "message", "role": "assistant", "id": message["id"], "content": content}
    read, written = message["usage"]["input_tokens"], message["usage"]["output_tokens"]
    usage = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    return [
        {"type": "response.created", "response": {"id": f"resp_{message['id']}"}},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"id": f"resp_{message['id']}", "usage": usage}},
    ]


def _stream(events: Sequence[dict[str, Any]]) -> bytes:
    """Return the response with server-sent events."""
    data = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
    return response(200, data, {"content-type": "text/event-stream"})


def _texts(body: Any) -> str:
    """Return every text of a request."""
    if isinstance(body, dict):
        return " ".join(_texts(value) for value in body.values())
    if isinstance(body, list):
        return " ".join(map(_texts, body))
    return body if isinstance(body, str) else ""


def read_message(peer: socket.socket) -> bytes | None:
    """Return one request or response with its body, of a length that its head says, or chunked; None at the end."""
    data = bytearray()
    while not _is_whole(data):
        piece = peer.recv(1 << 16)
        if not piece:
            return None
        data += piece
    return bytes(data)


def _is_whole(data: bytearray) -> bool:
    begin = data.find(b"\r\n\r\n") + 4
    if begin < 4:
        return False
    lines = dict(line.lower().split(b": ", 1) for line in bytes(data[: begin - 4]).split(b"\r\n")[1:])
    if lines.get(b"transfer-encoding") == b"chunked":
        return data.endswith(b"0\r\n\r\n", begin)
    return len(data) >= begin + int(lines.get(b"content-length", b"0"))


def body_of(message: bytes) -> bytes:
    """Return the body of a request or response."""
    return message.partition(b"\r\n\r\n")[2]
