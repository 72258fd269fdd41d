"""A provider made of bytes: each test says what it answers, when it ends, and what it saw; and a proxy before it."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from reverie.client import AsyncClient
from reveried.proxy.answers import ClaudeRequests
from reveried.proxy.provider import upstream
from reveried.proxy.run import in_thread
from reveried.proxy.server import ProxyServer

WAIT_S = 60.0
NO_DAEMON = Path("/nonexistent/reverie.sock")


@dataclass
class Provider:
    """A fake provider: its URL, the requests that came in (head and body), and the connections made and ended."""

    url: str = ""
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    ended: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


@contextmanager
def provider(answer: Callable[[socket.socket, bytes], None], tls: ssl.SSLContext | None = None) -> Iterator[Provider]:
    """Yield a provider that calls `answer` for each request; `answer` or the client closes the connection."""
    state = Provider()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        state.url = f"{'https' if tls else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
        threading.Thread(target=_accept, args=(listener, state, answer, tls), daemon=True).start()
        try:
            yield state
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts


def _accept(
    listener: socket.socket,
    state: Provider,
    answer: Callable[[socket.socket, bytes], None],
    tls: ssl.SSLContext | None,
) -> None:
    with suppress(OSError):  # closed at the end of the test
        while True:
            peer, _ = listener.accept()
            state.connections += 1
            threading.Thread(target=_serve, args=(peer, state, answer, tls), daemon=True).start()


def _serve(
    plain: socket.socket,
    state: Provider,
    answer: Callable[[socket.socket, bytes], None],
    tls: ssl.SSLContext | None,
) -> None:
    with suppress(OSError), plain:
        peer = plain if tls is None else tls.wrap_socket(plain, server_side=True)
        with peer:
            while (request := read_message(peer)) is not None:
                state.requests.append(request)
                answer(peer, request)
                if peer.fileno() < 0:
                    break
    state.ended.release()


def read_message(peer: socket.socket) -> bytes | None:
    """Return one request or response with its body, of a length that its head says, or chunked; None at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = peer.recv(1 << 16)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    is_chunked = lines.get(b"transfer-encoding") == b"chunked"
    length = int(lines.get(b"content-length", b"0"))
    while not (body.endswith(b"0\r\n\r\n") if is_chunked else len(body) >= length):
        piece = peer.recv(1 << 16)
        if not piece:
            break
        body += piece
    return head + b"\r\n\r\n" + body


def body_of(message: bytes) -> bytes:
    """Return the body of a request or response."""
    return message.partition(b"\r\n\r\n")[2]


def ok(body: bytes, *headers: bytes) -> bytes:
    """Return a response with a body."""
    return b"\r\n".join([b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(body), *headers, b"", body])


def chunked(*pieces: bytes) -> bytes:
    """Return the head of a streamed response, followed by these pieces as chunks."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)


@contextmanager
def proxied(
    url: str, *, daemon: Path | None = None, max_tokens: int | None = None, token: str | None = None
) -> Iterator[ProxyServer]:
    """Yield a proxy before a provider; `daemon` is the daemon's socket, `token` an access token for another space."""
    with in_thread(lambda: server_before(url, daemon=daemon, max_tokens=max_tokens, token=token)) as server:
        yield server


def server_before(
    url: str, *, daemon: Path | None = None, max_tokens: int | None = None, token: str | None = None
) -> ProxyServer:
    """Return a proxy before a provider that does not listen yet."""
    client = AsyncClient(daemon or NO_DAEMON, token=token)
    return ProxyServer(ClaudeRequests(client, max_tokens=max_tokens), upstream(url))


def split_url(server: ProxyServer) -> tuple[str, str]:
    """Return the host with its port, and the path of a proxy's URL."""
    host, _, path = server.url.removeprefix("http://").partition("/")
    return host, f"/{path}"


@contextmanager
def connected(server: ProxyServer) -> Iterator[Callable[..., socket.socket]]:
    """Yield a function that sends a request on one connection to a proxy, and returns its socket."""
    host, path = split_url(server)
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S) as peer:

        def send(method: str, target: str, body: bytes = b"", *headers: str) -> socket.socket:
            lines = [f"{method} {path}{target} HTTP/1.1", f"Host: {host}", f"Content-Length: {len(body)}", *headers]
            peer.sendall("\r\n".join([*lines, "", ""]).encode() + body)
            return peer

        yield send
