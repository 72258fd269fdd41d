"""One HTTP/1.1 connection: uvicorn's protocol, with a limit on everything that a peer can send or leave unread.

What is known at each point: a request reaches the application only when it is whole, so no task waits for a slow
client. After `_refuse` nothing more is parsed; answers that were already due are sent first, then the refusal, then
the connection ends.
"""

from __future__ import annotations

import asyncio
import urllib.parse
from enum import Enum
from typing import TYPE_CHECKING, Any

import httptools

from reverie.errors import Busy, ReverieError, TooLarge, ValidationError
from reveried.http.envelope import raw_response
from reveried.http.response_cycle import Cycle
from reveried.http.uvicorn_shim import HttpToolsProtocol

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

    from reveried.http.admission import Gate
    from reveried.http.uvicorn_shim import Config, RequestResponseCycle, ServerState

__all__ = ["Connection"]

READ_AHEAD = 16  # requests without a body that wait before reading stops
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Phase(Enum):
    """What the parser is in the middle of."""

    BETWEEN = "between"
    HEAD = "head"
    BODY = "body"


class Connection(HttpToolsProtocol):
    """One peer, from accept to close."""

    def __init__(
        self, *, config: Config, server_state: ServerState, gate: Gate, loop: asyncio.AbstractEventLoop
    ) -> None:
        super().__init__(config, server_state, {}, loop)
        self.access_log = False
        self._gate = gate
        self._limits = gate.limits
        self._phase = Phase.BETWEEN
        self._admitted = False
        self._running: Cycle | None = None  # the request that a task answers now; `cycle` is the newest one read
        self._ended = False  # the peer sends no more
        self._refusal: bytes | None = None
        self._why: ReverieError | None = None
        self._head_bytes = 0
        self._body_bytes = 0
        self._body_held = 0  # what of `_held` is for the request being read
        self._silent_bytes = 0  # received inside a body without being part of it: chunk extensions, trailers
        self._progress = 0
        self._held = 0
        self._stall: asyncio.TimerHandle | None = None

    # Life of the connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Checks the peer before a byte is read, then the number of connections."""
        self.transport = transport
        if not self._gate.admits(transport.get_extra_info("socket")):
            transport.abort()
            return
        super().connection_made(transport)
        self._admitted = True
        self._gate.accepted += 1
        self._gate.open_connections += 1
        if self._gate.open_connections > self._limits.connections:
            self._gate.count("connections")
            self._refuse(Busy("Too many connections.", hint="Close idle connections, or try again.", retryAfter=1))
            return
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Gives back everything that the connection held."""
        self._disarm()
        self._calm()
        self._release()
        self.pipeline.clear()
        if self._running is not None:
            self._running.leave()
        if self._admitted:
            self._admitted = False
            self._gate.open_connections -= 1
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """A peer that has sent all it wanted may still read its answers; one that followed a stream has gone."""
        self._ended = True
        if self._running is not None and self._running.chunked_encoding:
            self._running.leave()
            return False
        return self._running is not None

    def shutdown(self) -> None:
        """Answers what is running, then closes."""
        if self._running is not None:
            self.cycle.keep_alive = False
            self._ended = True
        else:
            self.transport.close()

    # Bytes in

    def data_received(self, data: bytes) -> None:
        """Parses, and counts what the parser holds back."""
        if self._refusal is not None or self.transport.is_closing():
            return
        before, body_before = self._phase, self._body_bytes
        self._progress += len(data)
        try:
            self.parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._refuse(self._why or _malformed("That was not an HTTP/1.1 request."))
        else:
            self._watch(before, len(data), moved=self._body_bytes != body_before)

    def _watch(self, before: Phase, size: int, *, moved: bool) -> None:
        """Sets the deadline of what is unfinished, and bounds what the parser keeps of it."""
        match self._phase:
            case Phase.HEAD if before is Phase.HEAD:
                self._silent_bytes += size
            case Phase.HEAD:
                self._arm(self._limits.header_s, self._head_is_late)
            case Phase.BODY if before is Phase.BODY and not moved:
                self._silent_bytes += size
            case Phase.BODY:
                self._silent_bytes = 0
                if before is not Phase.BODY:
                    self._progress = 0
                    self._arm(self._limits.body_s, self._body_is_late)
            case Phase.BETWEEN:
                # Blank lines between requests are no request: the idle deadline runs on.
                return
        if self._silent_bytes > self._limits.header_bytes:
            self._refuse(self._head_too_large())

    # Parser callbacks: an exception raised in one ends the parse, and `_why` says how to answer.

    def on_message_begin(self) -> None:
        """A request's first byte."""
        super().on_message_begin()
        self._disarm()
        self._phase = Phase.HEAD
        self._head_bytes = self._body_bytes = self._silent_bytes = self._body_held = 0

    def on_url(self, url: bytes) -> None:
        """A piece of the request line."""
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header, or one trailer: trailers count, and are dropped."""
        self._count_head(len(name) + len(value) + len(b": \r\n"))
        if self._phase is Phase.HEAD:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole: decides from it alone whether the body may come."""
        self._disarm()
        self._phase = Phase.BODY
        if self.parser.should_upgrade():
            self._stop(_malformed("This socket speaks HTTP/1.1 and does not upgrade."))
        length = self._declared_length()
        if length > self._limits.body_bytes:
            self._stop(self._body_too_large())
        if len(self.pipeline) >= self._limits.pipelined:
            self._stop(Busy("Too many requests wait on one connection.", hint="Read answers before asking more."))
        self._hold(length)
        self._complete_scope()
        busy = self._running is not None or bool(self.pipeline)
        self.cycle = self._new_cycle()
        if busy:
            self.pipeline.appendleft((self.cycle, self.app))
            # A few small requests may wait while we go on reading, which is how we learn that the peer has gone.
            chunked = any(name == b"transfer-encoding" for name, _ in self.headers)
            if length or chunked or len(self.pipeline) >= READ_AHEAD:
                self.flow.pause_reading()
        elif self.expect_100_continue:
            self.transport.write(CONTINUE)

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        self._body_bytes += len(body)
        if self._body_bytes > self._limits.body_bytes:
            self._stop(self._body_too_large())
        if self._body_bytes > self._body_held:
            self._hold(len(body))
        self.cycle.body += body

    def on_message_complete(self) -> None:
        """The request is whole: it runs now, or after those before it."""
        self._disarm()
        self._phase = Phase.BETWEEN
        self.cycle.more_body = False
        self.cycle.message_event.set()
        if self._running is None and not self.pipeline:
            self._start_asgi_task(self.cycle, self.app)

    # Answers

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        assert isinstance(cycle, Cycle)
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """One answer is written: goes on with the next request, the refusal, the end, or idleness."""
        self._running = None
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            self._linger()
            return
        if self.pipeline and not self.pipeline[-1][0].more_body:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)
            return
        if self._refusal is not None:
            self._say_refusal()
            return
        if self._ended:
            self._close()
            return
        self.pipeline.clear()  # at most the request that is being read: it starts when it is whole
        self.flow.resume_reading()
        if self._phase is Phase.BETWEEN:
            self._await_request()

    def pause_writing(self) -> None:
        """The peer does not take its answer: it has `write_s` to begin."""
        super().pause_writing()
        self._calm()
        self._stall = self.loop.call_later(self._limits.write_s, self._stalled)

    def resume_writing(self) -> None:
        """The peer reads again."""
        self._calm()
        super().resume_writing()

    # Refusal and deadlines

    def _stop(self, why: ReverieError) -> None:
        """Ends the parse from inside a callback.

        Raises:
            ReverieError: `why`, which httptools turns into its own error.
        """
        self._why = why
        raise why

    def _refuse(self, why: ReverieError) -> None:
        if self._refusal is not None or self.transport.is_closing():
            return
        self._refusal = raw_response(why)
        self._disarm()
        self._release()
        self.flow.pause_reading()
        if self._running is None:
            self._say_refusal()

    def _say_refusal(self) -> None:
        assert self._refusal is not None
        self.transport.write(self._refusal)
        self._close()

    def _close(self) -> None:
        self.transport.close()
        self._linger()

    def _linger(self) -> None:
        """A peer that never reads its last answer does not keep the connection for ever."""
        self._calm()
        self._stall = self.loop.call_later(self._limits.write_s, self._stalled)

    def _await_request(self) -> None:
        self._release()
        self._arm(self._limits.idle_s, self._close)

    def _head_is_late(self) -> None:
        self._gate.count("header_deadline")
        self._refuse(_late(f"The head of the request was not complete within {self._limits.header_s:g} s."))

    def _body_is_late(self) -> None:
        """Refuses a body that stands still, or crawls; a reader that we paused ourselves is not late."""
        if self._progress < self._limits.progress_bytes and not self.flow.read_paused:
            self._gate.count("body_deadline")
            self._refuse(_late(f"The body stood still for {self._limits.body_s:g} s."))
            return
        self._progress = 0
        self._arm(self._limits.body_s, self._body_is_late)

    def _stalled(self) -> None:
        self._gate.count("write_deadline")
        self.transport.abort()

    def _arm(self, seconds: float, then: Any) -> None:
        self._disarm()
        self.timeout_keep_alive_task = self.loop.call_later(seconds, then)

    def _disarm(self) -> None:
        self._unset_keepalive_if_required()

    def _calm(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    # Counting

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self._limits.header_bytes:
            self._stop(self._head_too_large())

    def _hold(self, size: int) -> None:
        try:
            self._gate.hold(size)
        except Busy as busy:
            self._stop(busy)
        self._held += size
        self._body_held += size

    def _release(self) -> None:
        self._gate.release(self._held)
        self._held = 0

    def _declared_length(self) -> int:
        """What Content-Length says; 0 for a chunked body. The parser has refused anything but digits."""
        return next((int(value) for name, value in self.headers if name == b"content-length"), 0)

    def _head_too_large(self) -> TooLarge:
        self._gate.count("header_bytes")
        return TooLarge(
            f"The head of the request is larger than {self._limits.header_bytes} bytes.",
            hint="Put what is long into the body.",
            limit=self._limits.header_bytes,
        )

    def _body_too_large(self) -> TooLarge:
        self._gate.count("body_bytes")
        return TooLarge(
            f"The body is larger than {self._limits.body_bytes} bytes.",
            hint="Send it in several requests.",
            limit=self._limits.body_bytes,
        )

    # Requests

    def _complete_scope(self) -> None:
        """Fills in what only the whole head tells."""
        url = httptools.parse_url(self.url)
        raw_path = url.path
        self.scope["method"] = self.parser.get_method().decode("ascii")
        self.scope["http_version"] = self.parser.get_http_version()
        self.scope["path"] = urllib.parse.unquote(raw_path.decode("ascii"), errors="strict")
        self.scope["raw_path"] = raw_path
        self.scope["query_string"] = url.query or b""

    def _new_cycle(self) -> Cycle:
        return Cycle(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=self.scope["http_version"] == "1.1" and self.parser.should_keep_alive(),
            on_response=self.on_response_complete,
        )


def _malformed(message: str) -> ValidationError:
    return ValidationError(message, hint="Send HTTP/1.1 with JSON; see /v1/openapi.json.", reason="protocol")


def _late(message: str) -> ValidationError:
    return ValidationError(message, hint="Send the request in one go.", reason="deadline")
