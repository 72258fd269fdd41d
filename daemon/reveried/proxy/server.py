"""The proxy's listener on the loopback interface, and each client's connection with its own one to the provider.

Only those who know the address may use it. The two connections live and end together. Bytes of a response go to the
client as they came, in the provider's own framing, and are parsed only to see where it ends. Each side is read no
faster than the other side takes it. Where one side ends, the other does: a client sees the failures of its provider as
if it were connected to it, and a client that leaves ends its request. Only a request that is still looked at outlives
the connection to the provider.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from typing import TYPE_CHECKING, ClassVar, Final

import httptools

from reverie.errors import ValidationError
from reveried.log import logger
from reveried.proxy.http import RequestHead, error_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from reveried.proxy.answers import ClaudeRequests
    from reveried.proxy.provider import Upstream


HEAD_BYTES_MAX: Final = 64 * 1024
BODY_BYTES_MAX: Final = 32 * 1024 * 1024  # of a body that is looked at; a larger one is passed on as it arrives
PENDING_BYTES_MAX: Final = 1024 * 1024  # of a body that waits for the provider's connection
HEAD_S: Final = 15.0  # for the first request of a connection
WARN_S: Final = 10.0  # between two lines of the log about too many connections


class ClientConnection(asyncio.Protocol):
    """The proxy's connection to the client: parses its requests, and refuses, answers or passes on each of them."""

    _warned_at: ClassVar[float] = float("-inf")

    def __init__(self, server: ProxyServer) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._head = RequestHead()
        self._head_bytes = 0
        self._body = bytearray()  # of a request that is looked at
        self._body_ended = False
        self._busy = False  # from the end of a request's head to the end of its response
        self._passing = False  # its body goes to the provider as it arrives
        self._pending = bytearray()  # bytes for the provider before it is connected
        self._task: asyncio.Task[None] | None = None
        self._provider: _ProviderConnection | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._ended = False
        self.is_known = False  # a request of it was let in: it is the client's
        self.opened_at = self._loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # of a stream socket
        """Admit the connection. Above the limit, close the oldest one, maybe this, that has had no admitted request."""
        self._transport = transport
        self._server.opened.add(self)
        alive = [one for one in self._server.opened if not one.is_ending()]
        if len(alive) > CONNECTIONS_MAX:
            waiting = [one for one in alive if not one.is_known]
            oldest = min(waiting, key=lambda one: one.opened_at)
            self._warn_of_many(len(waiting))
            oldest.close()
            if oldest is self:
                return
        self._deadline = self._loop.call_later(HEAD_S, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Close the connection to the provider too, and cancel the task that answers."""
        del exc
        self._ended = True
        self._server.opened.discard(self)
        self._cancel_deadline()
        if self._task is not None:
            self._task.cancel()
        if self._provider is not None:
            self._provider.transport.abort()
            self._provider = None

    def close(self) -> None:
        """End the connection now."""
        self._transport.abort()

    def is_ending(self) -> bool:
        """Return True if the connection is being ended."""
        return self._transport.is_closing()

    def _warn_of_many(self, without_request: int) -> None:
        """Log that there are too many connections, at most every WARN_S."""
        now = self._loop.time()
        if now - ClientConnection._warned_at >= WARN_S:
            ClientConnection._warned_at = now
            logger("reveried.proxy").warning(
                "too many connections: the oldest without a request was ended",
                limit=CONNECTIONS_MAX,
                without_request=without_request,
            )

    def pause_writing(self) -> None:
        """Read no more from the provider: the client is slow."""
        if self._provider is not None:
            self._provider.transport.pause_reading()

    def resume_writing(self) -> None:
        """Read from the provider again."""
        if self._provider is not None and not self._provider.transport.is_closing():
            self._provider.transport.resume_reading()

    # The request

    def data_received(self, data: bytes) -> None:
        """Parse what the client sends."""
        if self._transport.is_closing():
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse(error_response(426, "invalid_request_error", "This proxy does not change protocols."))
        except httptools.HttpParserError:
            self._refuse(error_response(400, "invalid_request_error", "That was not an HTTP/1.1 request."))

    def on_message_begin(self) -> None:
        """Begin a request; if the response to the one before has not ended, refuse it and end the connection."""
        if self._busy:
            self._refuse(b"")
        self._head, self._head_bytes = RequestHead(), 0

    def on_url(self, url: bytes) -> None:
        """Append a piece of the target."""
        self._count(len(url))
        self._head.target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header to the request's head; trailers after a body are dropped."""
        self._count(len(name) + len(value) + 4)
        if not self._busy:
            self._head.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Refuse the request, read its whole body, or stream it to the provider; decided from its head alone."""
        self._cancel_deadline()
        if self._parser.should_upgrade() or self._transport.is_closing():
            return
        self._head.method = self._parser.get_method()
        if (refusal := self._server.refusal(self._head)) is not None:
            self._refuse(refusal)
            return
        self.is_known = True
        if self._head.get(b"expect") is not None:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._busy, self._passing, self._body_ended = True, False, False
        self._body.clear()
        if not self._server.requests.looks_at(self._head):
            self._pass_on(self._head.passed_on(self._server.upstream.authority))

    def on_body(self, piece: bytes) -> None:
        """Keep a piece of the body, or pass it on."""
        if not self._busy:
            return
        if self._passing:
            self._send(self._framed(piece))
            return
        self._body += piece
        if len(self._body) > BODY_BYTES_MAX:
            data, self._body = self._framed(bytes(self._body)), bytearray()
            self._pass_on(self._head.passed_on(self._server.upstream.authority) + data)

    def on_message_complete(self) -> None:
        """Answer a request whose body was read whole; end the body of a request that is being passed on."""
        self._body_ended = True
        if self._passing and self._head.is_chunked:
            self._send(b"0\r\n\r\n")
        elif self._busy and not self._passing:
            self._task = self._loop.create_task(self._answer())

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > HEAD_BYTES_MAX:
            self._refuse(error_response(431, "invalid_request_error", "The head of the request is too large."))

    def _framed(self, piece: bytes) -> bytes:
        """Return a piece of the body in the framing of the request."""
        return b"%x\r\n%b\r\n" % (len(piece), piece) if self._head.is_chunked else piece

    def _refuse(self, data: bytes) -> None:
        """Write an error, and end the connection after it."""
        if not self._transport.is_closing():
            if not self._busy:
                self._transport.write(data)
            self._transport.close()

    async def _answer(self) -> None:
        """Write the answer to a request, or pass it on, changed or not."""
        body = bytes(self._body)
        self._body = bytearray()
        try:
            local, passed = await self._server.requests.answer(self._head, body)
        except Exception as error:  # noqa: BLE001 - whatever it is, the request goes on as it came
            logger("reveried.proxy").warning("a request is passed on as it came", kind=type(error).__name__)
            local, passed = None, body
        if self._ended:
            return
        if local is not None:
            self._transport.write(local)
            self.response_ended(keep=True)
        else:
            self._pass_on(self._head.passed_on(self._server.upstream.authority, body_bytes=len(passed)) + passed)

    # To the provider

    def _pass_on(self, data: bytes) -> None:
        """Begin to send a request to the provider, over the connection that there is or a new one."""
        self._passing = True
        if self._provider is None:
            self._pending += data
            self._task = self._loop.create_task(self._connect())
        else:
            self._provider.begin(is_head=self._head.method == b"HEAD")
            self._send(data)

    async def _connect(self) -> None:
        """Connect to the provider and send what waits for it; if that fails, close the client's connection."""
        try:
            provider = await self._server.upstream.connect(lambda: _ProviderConnection(self))
        except Exception as error:  # noqa: BLE001 - OSError, or what a wrong proxy or certificate leads to
            logger("reveried.proxy").warning("the provider cannot be reached", why=f"{type(error).__name__}: {error}")
            self._transport.close()
            return
        if self._ended:
            provider.transport.abort()
            return
        self._provider = provider
        provider.begin(is_head=self._head.method == b"HEAD")
        data, self._pending = bytes(self._pending), bytearray()
        self._transport.resume_reading()
        self._send(data)  # last: a provider that does not take it pauses the reading again

    def _send(self, data: bytes) -> None:
        if self._provider is not None:
            self._provider.transport.write(data)
            return
        self._pending += data
        if len(self._pending) > PENDING_BYTES_MAX:
            self._transport.pause_reading()

    def read_on(self, *, on: bool) -> None:
        """Read from the client, or not while the provider is slow to take a body."""
        if not self._transport.is_closing():
            (self._transport.resume_reading if on else self._transport.pause_reading)()

    # From the provider

    def relay(self, data: bytes) -> None:
        """Write bytes of the provider's response to the client."""
        self._transport.write(data)

    def response_ended(self, *, keep: bool) -> None:
        """Mark the client's connection idle after a response; close it unless both sides keep it alive."""
        self._busy = self._passing = False
        if not keep or not self._body_ended or not self._parser.should_keep_alive():
            self._transport.close()

    def provider_ended(self) -> None:
        """Close the client's connection because the provider closed its own, unless a request can use a new one.

        Not where it was idle since a request is still looked at: that gets another connection.
        """
        self._provider = None
        if not self._busy or self._passing:
            self._transport.close()

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _ProviderConnection(asyncio.Protocol):
    """The proxy's connection to the provider: relays its responses to the client, and notices where each one ends."""

    def __init__(self, client: ClientConnection) -> None:
        self._client = client
        self._is_head = False
        self._is_framed = True  # False: only the end of the connection ends the response
        self._status = 0
        self._parser = httptools.HttpResponseParser(self)
        self._ending: Callable[[], None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # of a stream socket
        """Keep the transport."""
        self.transport = transport

    def begin(self, *, is_head: bool) -> None:
        """Expect the response to a request; one to HEAD has no body."""
        self._is_head = is_head

    def data_received(self, data: bytes) -> None:
        """Pass the bytes on to the client, and end the response if they contain its end."""
        self._client.relay(data)
        if self._is_framed:
            try:
                self._parser.feed_data(data)
            except (httptools.HttpParserError, httptools.HttpParserUpgrade):
                self._is_framed = False
        if self._ending is not None:
            ending, self._ending = self._ending, None
            ending()

    def on_headers_complete(self) -> None:
        """Store the response's status; a response to HEAD ends with its headers."""
        self._status = self._parser.get_status_code()
        if self._is_head:
            self._ending = lambda: self._client.response_ended(keep=False)

    def on_message_complete(self) -> None:
        """End the response, unless it announces another one (status 1xx)."""
        if self._status >= 200 and not self._is_head:
            keep = self._parser.should_keep_alive()
            self._ending = lambda: self._client.response_ended(keep=keep)

    def connection_lost(self, exc: Exception | None) -> None:
        """Notify the client's connection that the provider has closed this one."""
        del exc
        self._client.provider_ended()

    def pause_writing(self) -> None:
        """Pause reading the request's body from the client: the provider is slow to take it."""
        self._client.read_on(on=False)

    def resume_writing(self) -> None:
        """Resume reading the request's body from the client."""
        self._client.read_on(on=True)


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
        self.requests = requests
        self.opened: set[ClientConnection] = set()
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
        self._server = await loop.create_server(lambda: ClientConnection(self), sock=self._listener)

    async def close(self) -> None:
        """End the listener and every connection."""
        if self._server is not None:
            self._server.close()
        for connection in list(self.opened):
            connection.close()
        await self.requests.close()

    def refusal(self, head: RequestHead) -> bytes | None:
        """Return the error response to a forbidden request; else None, with the secret removed from its target."""
        if any(head.get(name) is not None for name in _OF_BROWSERS) or head.get(b"host") not in self._hosts:
            return error_response(403, "permission_error", "This proxy is for the client that it was started for.")
        given = head.target[: len(self._prefix)]
        if not hmac.compare_digest(given, self._prefix):
            return error_response(404, "not_found_error", "There is nothing here.")
        head.target = self.upstream.base_path.encode() + head.target[len(self._prefix) - 1 :]
        return None


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
