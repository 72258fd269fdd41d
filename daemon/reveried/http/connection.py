"""One HTTP/1.1 connection over httptools, with a limit on everything that a peer can send or leave unread.

Invariants: a request is handed to its handler only when it is complete, so no task waits for a slow client. Requests
of one connection run one after the other, in their order (pipelining, RFC 9112, 9.3.2). After `_refuse` nothing more
is parsed; responses that are already due are sent first, then the error, then the connection is closed.
"""

from __future__ import annotations

import asyncio
import socket
import urllib.parse
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import httptools

from reverie.errors import Busy, ReverieError, failure_of
from reveried.http.limits import malformed
from reveried.http.message import Flow, Request, Response, raw_response, send_error
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from reveried.http.limits import Admission
    from reveried.http.message import Handler

GRACE_S = 0.02  # after a deadline; long enough for one pass of the event loop, which reads what has arrived
READ_AHEAD = 16  # requests without a body that are queued before reading is paused
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Phase(Enum):
    """Part of a request that the parser expects next."""

    BETWEEN = "between"
    HEAD = "head"
    BODY = "body"


@dataclass(slots=True)
class OpenConnections:
    """The connections of one server, and the tasks that answer their requests."""

    connections: set[Connection] = field(default_factory=set)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)


class Connection(asyncio.Protocol):
    """One peer, from accept to close."""

    def __init__(self, handler: Handler, open_: OpenConnections, admission: Admission) -> None:
        self._handler = handler
        self._open = open_
        self._admission = admission
        self._limits = admission.limits
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        # After `Connection: close` a peer may have sent more: the first request is answered, the rest is ignored.
        self._parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._url = b""
        self._request = Request(over_tcp=False)  # the newest request, which may still be incomplete
        self._response: Response | None = None  # its response
        self._running: Response | None = None  # the response that a task produces now
        self._queue: deque[tuple[Request, Response]] = deque()  # requests that wait for it, oldest first
        self._phase = Phase.BETWEEN
        self._expects_continue = False
        self._admitted = False
        self._peer_ended = False  # the peer sends no more
        self._refusal: bytes | None = None  # the error response that ends the connection
        self._parse_error: ReverieError | None = None
        self._head_bytes = 0
        self._body_bytes = 0
        self._silent_bytes = 0  # received within a request but not part of it: chunk extensions, trailers
        self._progress = 0  # bytes since the body deadline was set
        self._reserved = 0  # bytes of memory for the bodies of this connection,
        self._body_reserved = 0  # of them for the request being read
        self._read_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # of a stream socket
        """Check the peer's uid before a byte is read, then the number of connections."""
        self._transport = transport
        self._flow = Flow(transport)
        peer: socket.socket = transport.get_extra_info("socket")
        self._over_tcp = peer.family != socket.AF_UNIX
        if not self._admission.admits(peer):
            transport.abort()
            return
        self._open.connections.add(self)
        self._admitted = True
        self._admission.accepted += 1
        self._admission.open_connections += 1
        if self._admission.open_connections > self._limits.connections:
            self._refuse(self._admission.too_many_connections())
            return
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers and release everything that the connection reserved."""
        del exc
        self._cancel_read_timer()
        self._cancel_write_timer()
        self._release()
        self._queue.clear()
        if self._running is not None:
            self._running.disconnect()
        # These three refer back to this object: without them no cycle is left to the garbage collector.
        self._running = self._response = None
        del self._parser
        if self._admitted:
            self._admitted = False
            self._admission.open_connections -= 1
            self._open.connections.discard(self)
        self._flow.resume_writing()  # a task that waits for room learns that the transport is closing

    def eof_received(self) -> bool:
        """Return True to keep the connection open for the responses that are due (RFC 9112, 9.6).

        The reader of a stream, which has no end of its own, is taken to have left.
        """
        self._peer_ended = True
        if self._running is not None and self._running.is_stream:
            self._running.disconnect()
            return False
        return self._running is not None

    def shutdown(self) -> None:
        """Close the connection after the running request is answered."""
        if self._running is not None:
            assert self._response is not None
            self._response.keep_alive = False
            self._peer_ended = True
        else:
            self._transport.close()

    def close(self) -> None:
        """Close the connection after its buffered bytes have been sent, within the write deadline."""
        self._transport.close()
        self._limit_close()

    # Bytes in

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, refuse a malformed request, and set the deadline of an incomplete one."""
        if self._refusal is not None or self._transport.is_closing():
            return
        phase_before, body_before = self._phase, self._body_bytes
        self._progress += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._refuse(self._parse_error or malformed("That was not an HTTP/1.1 request."))
        except BaseException as error:  # noqa: BLE001 - the edge: the peer would see its connection end without a word
            failure = failure_of(error)
            logger("reveried.http").error("a request was not read", kind=type(error).__name__, exc_info=error)
            self._refuse(failure)
        else:
            self._set_deadline(phase_before, len(data), body_advanced=self._body_bytes != body_before)

    def _set_deadline(self, before: Phase, size: int, *, body_advanced: bool) -> None:
        """Set the deadline of an incomplete request, and limit the bytes that are neither counted as head nor body.

        `before` is the phase before the last `size` bytes. The parser reports a header only when it is complete, and
        chunk extensions and trailers not at all: without this count a peer could send them without end.
        """
        match self._phase:
            case Phase.HEAD if before is Phase.HEAD:
                self._silent_bytes += size
            case Phase.HEAD:
                self._set_read_timer(self._limits.header_s, lambda: self._refuse(self._admission.head_late()))
            case Phase.BODY if before is Phase.BODY and not body_advanced:
                self._silent_bytes += size
            case Phase.BODY:
                self._silent_bytes = 0
                if before is not Phase.BODY:
                    self._progress = 0
                    self._set_read_timer(self._limits.body_s, self._check_body_progress)
            case Phase.BETWEEN:
                # Blank lines between requests (RFC 9112, 2.2) are no request: the idle deadline stays as it is.
                return
        if self._silent_bytes > self._limits.header_bytes:
            self._refuse(self._admission.head_too_large())

    # Parser callbacks: an exception raised in one ends the parse, and `_parse_error` is the response to it.

    def on_message_begin(self) -> None:
        """Begin a request at its first byte."""
        self._url = b""
        self._request = Request(self._over_tcp)
        self._expects_continue = False
        self._cancel_read_timer()
        self._phase = Phase.HEAD
        self._head_bytes = self._body_bytes = self._silent_bytes = self._body_reserved = 0

    def on_url(self, url: bytes) -> None:
        """Append a piece of the request target."""
        self._count_head(len(url))
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header to the request; a trailer, which comes after the body, is counted and dropped."""
        self._count_head(len(name) + len(value) + len(b": \r\n"))
        if self._phase is Phase.HEAD:
            name = name.lower()
            if name == b"expect" and value.lower() == b"100-continue":
                self._expects_continue = True
            self._request.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Decide from the head alone whether the body may be sent, and queue the request."""
        self._cancel_read_timer()
        self._phase = Phase.BODY
        if self._parser.should_upgrade():
            self._stop(malformed("This socket speaks HTTP/1.1 and does not upgrade."))
        length = self._declared_length()
        if length > self._limits.body_bytes:
            self._stop(self._admission.body_too_large())
        if len(self._queue) >= self._limits.pipelined:
            self._stop(Busy("Too many requests wait on one connection.", hint="Read answers before asking more."))
        self._reserve(length)
        self._read_target()
        busy = self._running is not None or bool(self._queue)
        self._response = Response(
            self._transport,
            self._flow,
            is_head=self._request.method == "HEAD",
            keep_alive=self._parser.get_http_version() == "1.1" and self._parser.should_keep_alive(),
            on_complete=self._response_complete,
        )
        self._queue.append((self._request, self._response))
        if busy:
            # A few small requests may queue up while reading goes on, because only reading shows that the peer left.
            chunked = any(name == b"transfer-encoding" for name, _ in self._request.headers)
            if length or chunked or len(self._queue) >= READ_AHEAD:
                self._flow.pause_reading()
        elif self._expects_continue:
            self._transport.write(CONTINUE)

    def on_body(self, body: bytes) -> None:
        """Append a piece of the body."""
        self._body_bytes += len(body)
        if self._body_bytes > self._limits.body_bytes:
            self._stop(self._admission.body_too_large())
        if self._body_bytes > self._body_reserved:  # a chunked body declares no length: reserve as it arrives
            self._reserve(len(body))
        self._request.body += body

    def on_message_complete(self) -> None:
        """Run the request now, or after those before it."""
        self._cancel_read_timer()
        self._phase = Phase.BETWEEN
        self._request.complete = True
        if self._running is None:
            self._start_next()

    # Responses

    def _start_next(self) -> bool:
        """Start the task of the oldest queued request; return False if there is none that is complete."""
        if not self._queue or not self._queue[0][0].complete:
            return False
        request, self._running = self._queue.popleft()
        task = self._loop.create_task(self._respond(request, self._running))
        self._open.tasks.add(task)
        task.add_done_callback(self._open.tasks.discard)
        return True

    async def _respond(self, request: Request, response: Response) -> None:
        """Run the handler, which sends its errors itself; an exception that escapes it is a defect of the handler."""
        try:
            await self._handler(request, response)
        except BaseException as error:  # noqa: BLE001 - the edge: nothing above would report it
            failure = failure_of(error)
            logger("reveried.http").error("a request was not answered", kind=type(error).__name__, exc_info=error)
            if not response.started:
                response.keep_alive = False
                await send_error(failure, response)
        finally:
            if not response.complete:
                self._transport.close()  # the peer cannot know where the next response would begin

    def _response_complete(self) -> None:
        """Continue with the next request, the refusal, the end, or the wait for another request."""
        self._running = None
        if self._transport.is_closing():
            self._limit_close()
        elif self._start_next():
            pass
        elif self._refusal is not None:
            self._send_refusal()
        elif self._peer_ended:
            self.close()
        else:
            self._flow.resume_reading()
            if self._phase is Phase.BETWEEN:
                self._await_request()

    def pause_writing(self) -> None:
        """Start the write deadline: the peer does not read its response."""
        self._flow.pause_writing()
        self._limit_close()

    def resume_writing(self) -> None:
        """Cancel the write deadline: the peer reads again."""
        self._cancel_write_timer()
        self._flow.resume_writing()

    # Refusal and deadlines

    def _stop(self, error: ReverieError) -> None:
        """Stop the parser by raising `error` inside one of its callbacks, and remember it.

        Raises:
            ReverieError: `error`, which httptools replaces by an error of its own.
        """
        self._parse_error = error
        raise error

    def _refuse(self, error: ReverieError) -> None:
        """Stop reading, and send the error after the responses that are due."""
        if self._refusal is not None or self._transport.is_closing():
            return
        self._refusal = raw_response(error)
        self._cancel_read_timer()
        self._release()
        self._flow.pause_reading()
        if self._running is None:
            self._send_refusal()

    def _send_refusal(self) -> None:
        assert self._refusal is not None
        self._transport.write(self._refusal)
        self.close()

    def _limit_close(self) -> None:
        """Abort the connection if the peer does not read the buffered bytes within `write_s`."""
        self._cancel_write_timer()
        self._write_timer = self._loop.call_later(self._limits.write_s, self._abort)

    def _await_request(self) -> None:
        self._release()
        self._set_read_timer(self._limits.idle_s, self.close)

    def _check_body_progress(self) -> None:
        """Refuse a body that advances too slowly; while reading is paused by us, the peer is not to blame."""
        if self._progress < self._limits.progress_bytes and not self._flow.read_paused:
            self._refuse(self._admission.body_late())
            return
        self._progress = 0
        self._set_read_timer(self._limits.body_s, self._check_body_progress)

    def _abort(self) -> None:
        self._admission.count("write_deadline")
        self._transport.abort()

    def _set_read_timer(self, seconds: float, callback: Callable[[], None]) -> None:
        """Set a timer that calls `callback` after `seconds`, once the event loop has read from the socket again.

        After a suspension (SIGSTOP, a laptop's sleep) every deadline has passed, and the event loop runs timers before
        it reads: without that pass a request that waits in the socket would be thrown away.
        """

        def read_once_more() -> None:
            self._read_timer = self._loop.call_later(GRACE_S, callback)

        self._cancel_read_timer()
        self._read_timer = self._loop.call_later(seconds, read_once_more)

    def _cancel_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _cancel_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self._limits.header_bytes:
            self._stop(self._admission.head_too_large())

    def _reserve(self, size: int) -> None:
        try:
            self._admission.reserve(size)
        except Busy as busy:
            self._stop(busy)
        self._reserved += size
        self._body_reserved += size

    def _release(self) -> None:
        self._admission.release(self._reserved)
        self._reserved = 0

    def _declared_length(self) -> int:
        """Return Content-Length, or 0 for a chunked body; the parser has refused anything but digits."""
        return next((int(value) for name, value in self._request.headers if name == b"content-length"), 0)

    def _read_target(self) -> None:
        """Set method, path and query, which are known only with the whole head."""
        url = httptools.parse_url(self._url)
        self._request.method = self._parser.get_method().decode("ascii")
        self._request.path = urllib.parse.unquote(url.path.decode("ascii"), errors="strict")
        self._request.query = url.query or b""
