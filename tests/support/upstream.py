"""A proxy before a provider, requests to it, and responses as bytes."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from reverie.client import AsyncClient
from reveried.proxy.answers import ClaudeRequests
from reveried.proxy.provider import upstream
from reveried.proxy.run import in_thread
from reveried.proxy.server import ProxyServer

WAIT_S = 60.0
NO_DAEMON = Path("/nonexistent/reverie.sock")


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
