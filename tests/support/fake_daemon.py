"""HTTP/1.1 server on a Unix socket with the answers of a test, protocol violations included."""

from __future__ import annotations

import socketserver
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson

from support.quiet_handler import QuietHandler

HEALTH = {"status": "ok", "version": "0.1.0", "protocol": 1, "pid": 7, "uptimeSeconds": 1.5}


@dataclass(frozen=True)
class Request:
    """A request that the fake daemon received."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """A response: JSON, a body of bytes, `raw` bytes in place of HTTP, or a closed connection (`hang_up`)."""

    json: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    raw: bytes | None = None
    hang_up: bool = False
    protocol: str | None = "1"


Respond = Callable[[Request], Answer]


def envelope(code: str, message: str = "no", status: int = 400, **details: Any) -> Answer:
    """Return an error response of the daemon."""
    return Answer({"error": code, "message": message, "details": details}, status=status)


class FakeDaemon(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A fake daemon; `requests` are those that it received."""

    daemon_threads = True

    def __init__(self, path: Path, respond: Respond) -> None:
        self.respond = respond
        self.requests: list[Request] = []
        self.connections = 0
        super().__init__(str(path), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the traceback of a failed answer, unless the client closed the connection before it had all of it."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def always(answer: Answer) -> Callable[[Request], Answer]:
    """Return a function that answers every request alike."""
    return lambda _: answer


@contextmanager
def fake_daemon(path: Path, respond: Respond) -> Iterator[FakeDaemon]:
    """Run the server at `path` until the block ends."""
    server = FakeDaemon(path, respond)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(QuietHandler):
    """Records each request and sends the answer of the test."""

    protocol_version = "HTTP/1.1"
    server: FakeDaemon

    def _serve(self) -> None:
        """Read one request, record it and send the answer of the test."""
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        request = Request(
            self.command,
            parts.path,
            {name: values[-1] for name, values in parse_qs(parts.query).items()},
            {name.lower(): value for name, value in self.headers.items()},
            self.rfile.read(length),
        )
        self.server.requests.append(request)
        answer = self.server.respond(request)
        if answer.hang_up or answer.raw is not None:
            self.wfile.write(answer.raw or b"")
            self.close_connection = True
            return
        body = answer.body if answer.body is not None else orjson.dumps(answer.json)
        self.send_response(answer.status)
        if answer.protocol is not None:
            self.send_header("Reverie-Protocol", answer.protocol)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - the base class looks them up by these names
