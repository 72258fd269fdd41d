"""One request and its response: the request as parsed, the writer of the response, and the error envelope."""

from __future__ import annotations

import asyncio
import http
import re
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import orjson

from reveried import PROTOCOL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from reverie.errors import ReverieError

PROTOCOL_HEADER = (b"reverie-protocol", str(PROTOCOL).encode())
RETRY_AFTER_S = 1
JOINED_BYTES_MAX = 64 * 1024  # up to this size head and body are one write; copying a larger body costs more
BODILESS = frozenset({http.HTTPStatus.NO_CONTENT, http.HTTPStatus.NOT_MODIFIED})
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")  # noqa: TID251 - bytes
STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in http.HTTPStatus}


class Request(msgspec.Struct):
    """One request as it arrived; header names are in lower case."""

    over_tcp: bool
    headers: list[tuple[bytes, bytes]] = msgspec.field(default_factory=list)
    method: str = ""
    path: str = ""  # percent-decoded
    query: bytes = b""
    body: bytearray = msgspec.field(default_factory=bytearray)
    complete: bool = False


def envelope_of(error: ReverieError) -> dict[str, Any]:
    """Return the error envelope: always exactly `error`, `message` and `details`."""
    return {"error": error.code, "message": error.message, "details": error.details}


def envelope_body(error: ReverieError) -> bytes:
    """Return the error envelope as JSON; details that JSON cannot represent are converted to text."""
    return orjson.dumps(envelope_of(error), default=str)


def _envelope_headers(error: ReverieError) -> list[tuple[bytes, bytes]]:
    """Return the headers of an error response: `Retry-After` (whole seconds, at least 1) for a 503, and so on."""
    headers = [(b"content-type", b"application/json"), PROTOCOL_HEADER]
    if error.status == http.HTTPStatus.SERVICE_UNAVAILABLE:
        after = error.details.get("retryAfter", RETRY_AFTER_S)
        seconds = max(RETRY_AFTER_S, int(after)) if isinstance(after, int | float) else RETRY_AFTER_S
        headers.append((b"retry-after", str(seconds).encode()))
    if error.status == http.HTTPStatus.METHOD_NOT_ALLOWED:
        headers.append((b"allow", str(error.details.get("allow", "")).encode()))
    if error.status == http.HTTPStatus.UNAUTHORIZED:
        headers.append((b"www-authenticate", b"Bearer"))
    return headers


def raw_response(error: ReverieError) -> bytes:
    """Return a complete error response with `Connection: close`, for a connection whose request cannot be parsed."""
    body = envelope_body(error)
    headers = [*_envelope_headers(error), (b"content-length", b"%d" % len(body)), (b"connection", b"close")]
    return _head(error.status, headers) + body


def _head(status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return status line and headers up to the empty line.

    Raises:
        ValueError: a header value contains a control character, which could begin a second response.
    """
    lines = [STATUS_LINES[status]]
    for name, value in headers:
        if _CONTROL.search(value):
            raise ValueError(f"the value of the header {name!r} contains a control character")
        lines.append(b"%b: %b\r\n" % (name, value))
    lines.append(b"\r\n")
    return b"".join(lines)


class Flow:
    """Flow control of one connection: pauses reading from the peer, and awaits room for writing to it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._writable = asyncio.Event()
        self._writable.set()
        self.read_paused = False

    async def drain(self) -> None:
        """Wait until the transport's write buffer has room."""
        await self._writable.wait()

    def pause_reading(self) -> None:
        """Stop reading from the peer; a second call has no effect."""
        if not self.read_paused:
            self.read_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read from the peer again."""
        if self.read_paused:
            self.read_paused = False
            self._transport.resume_reading()

    def pause_writing(self) -> None:
        """Make `drain` wait: the write buffer is full."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let `drain` return."""
        self._writable.set()


class Response:
    """The response to one request, written once: whole by `send`, or piece by piece by `start`, `write` and `end`.

    A response to a peer that has disconnected is dropped, which is no error. `on_complete` is called when the last
    byte has been handed to the transport.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        flow: Flow,
        *,
        is_head: bool,
        keep_alive: bool,
        on_complete: Callable[[], None],
    ) -> None:
        self._transport = transport
        self._flow = flow
        self._is_head = is_head  # a response to HEAD has the headers of GET and no body (RFC 9110, 9.3.2)
        self._on_complete = on_complete
        self._disconnected = asyncio.Event()
        self.keep_alive = keep_alive
        self.started = False
        self.complete = False
        self.is_stream = False

    async def send(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
        """Write the whole response. `headers` contain `content-length`, except for 204."""
        # The head first: where it cannot be built, nothing is started, and an error response can still be sent.
        head = _head(status, self._with_connection(headers))
        if not await self._begin():
            return
        if self._is_head or status in BODILESS:
            body = b""
        if len(body) <= JOINED_BYTES_MAX:
            self._transport.write(head + body)
        else:
            self._transport.write(head)
            self._transport.write(body)
        self._finish()

    async def start(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Write the head of a response in chunks (RFC 9112, 7.1)."""
        chunked = [] if self._is_head else [(b"transfer-encoding", b"chunked")]
        head = _head(status, [*self._with_connection(headers), *chunked])
        if await self._begin():
            self.is_stream = not self._is_head
            self._transport.write(head)

    async def write(self, piece: bytes) -> None:
        """Write one chunk when the peer has room for it; an empty piece would end the stream, so it is skipped."""
        if piece and self.is_stream and await self._has_room():
            self._transport.write(b"%x\r\n%b\r\n" % (len(piece), piece))

    async def end(self) -> None:
        """Write the last chunk of a response in chunks."""
        if self.started and not self.complete and await self._has_room():
            if self.is_stream:
                self._transport.write(b"0\r\n\r\n")
            self._finish()

    async def wait_disconnected(self) -> None:
        """Wait until the peer has disconnected."""
        await self._disconnected.wait()

    def disconnect(self) -> None:
        """Record that the peer has disconnected: nothing more is written, and `wait_disconnected` returns."""
        self._disconnected.set()

    async def _begin(self) -> bool:
        """Return True if the head may be written now."""
        assert not self.started, "a request has one response"
        if not await self._has_room():
            return False
        self.started = True
        return True

    async def _has_room(self) -> bool:
        """Wait for room in the write buffer; return False if the peer has disconnected."""
        await self._flow.drain()
        if self._transport.is_closing():
            self.disconnect()
        return not self._disconnected.is_set()

    def _with_connection(self, headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        return [*headers] if self.keep_alive else [*headers, (b"connection", b"close")]

    def _finish(self) -> None:
        self.complete = True
        if not self.keep_alive:
            self._transport.close()  # after what is buffered has been sent
        self._on_complete()


async def send_error(error: ReverieError, response: Response) -> None:
    """Send the error envelope as the whole response."""
    body = envelope_body(error)
    await response.send(error.status, [*_envelope_headers(error), (b"content-length", b"%d" % len(body))], body)


Handler: TypeAlias = "Callable[[Request, Response], Awaitable[None]]"
"""Answers one complete request."""
