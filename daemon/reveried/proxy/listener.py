"""The proxy's listener on the loopback interface, and who may use it: only those who know its address."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from typing import TYPE_CHECKING, Final

from reverie.errors import ValidationError
from reveried.proxy.connection import ClientConnection
from reveried.proxy.http import error_response

if TYPE_CHECKING:
    from reveried.proxy.answers import ClaudeRequests
    from reveried.proxy.http import RequestHead
    from reveried.proxy.provider import Upstream

HOST: Final = "127.0.0.1"
SECRET_BYTES: Final = 24  # of the first part of every path
CONNECTIONS_MAX: Final = 256
_OF_BROWSERS: Final = (b"origin", b"sec-fetch-site", b"sec-fetch-mode")


class ProxyServer:
    """Listens on 127.0.0.1, and passes on requests below a path that cannot be guessed.

    `requests` decides what is looked at and what is answered; `upstream` is the provider.
    """

    def __init__(self, requests: ClaudeRequests, upstream: Upstream, *, port: int = 0) -> None:
        self.upstream = upstream
        self._requests = requests
        self._opened: set[ClientConnection] = set()
        self._secret = secrets.token_urlsafe(SECRET_BYTES)
        self._server: asyncio.Server | None = None
        self._listener = _bound(port)
        self.port: int = self._listener.getsockname()[1]
        self._hosts = {f"{host}:{self.port}".encode() for host in (HOST, "localhost")}
        self._prefix = f"/{self._secret}/".encode()

    @property
    def url(self) -> str:
        """Return the base URL for the client, which is a secret."""
        return f"http://{HOST}:{self.port}/{self._secret}"

    async def start(self) -> None:
        """Accept connections from now on."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: ClientConnection(self, self._opened, CONNECTIONS_MAX), sock=self._listener
        )

    async def close(self) -> None:
        """End the listener and every connection."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._opened):
            connection.close()
        await self._requests.close()

    def refusal(self, head: RequestHead) -> bytes | None:
        """Return the error response to a forbidden request; else None, with the secret removed from its target."""
        if any(head.get(name) is not None for name in _OF_BROWSERS) or head.get(b"host") not in self._hosts:
            return error_response(403, "permission_error", "This proxy is for the client that it was started for.")
        given = head.target[: len(self._prefix)]
        if not hmac.compare_digest(given, self._prefix):
            return error_response(404, "not_found_error", "There is nothing here.")
        head.target = self.upstream.base_path.encode() + head.target[len(self._prefix) - 1 :]
        return None

    def looks_at(self, head: RequestHead) -> bool:
        """Return True for a POST of messages with an uncompressed body, which is read whole before it is passed on."""
        return self._requests.looks_at(head)

    async def answer(self, head: RequestHead, body: bytes) -> tuple[bytes | None, bytes]:
        """Return the response and the body, or None and the body to send to the provider, which may be changed."""
        return await self._requests.answer(head, body)


def _bound(port: int) -> socket.socket:
    """Return a socket bound to a loopback port, 0 for any that is free. Raises ValidationError."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise ValidationError(
            f"cannot listen on {HOST}:{port}: {error.strerror}", hint="choose another --port, or leave it out"
        ) from error
    listener.setblocking(False)  # noqa: FBT003 - the standard library's signature
    return listener
