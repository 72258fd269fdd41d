"""Logic of both clients without I/O: connection reuse, retries, waiting for a starting daemon, resuming of events.

`Core` is written with `async` functions over two small interfaces, `Network` and `Connection`. The asyncio face
implements them with streams. The blocking face implements them with a socket whose "coroutines" never suspend, and
runs them to their end at once, without importing asyncio, which takes longer to load than the rest of the client.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar

from msgspec.structs import replace

from reverie.client.http import EventParser, call_bytes, check_head, error_of, read_body, read_head, read_piece
from reverie.errors import Busy, DaemonNotRunning, Forbidden, ReverieError, Starting
from reverie.places import Layout

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from reverie.api.endpoint import Call
    from reverie.client.http import Head
    from reverie.wire.history import Event

T = TypeVar("T")

POLL_S = 0.05  # between two attempts while the daemon is starting
RESUME_PAUSE_S = 0.2  # before a broken event stream is opened again
HEARTBEAT_MAX_S = 60.0  # four heartbeats: the daemon sends a comment every 15 s on an idle event stream

NOT_LISTENING = (FileNotFoundError, ConnectionRefusedError)  # what connecting raises where no daemon listens


def event_stream(after: int | None) -> Call[None]:
    """Return the call that opens the stream of events after a sequence, as `events` does."""
    from reverie.api.history import Events  # noqa: PLC0415 - most programs follow no events

    call = Events.stream.call(after=after)
    headers = {"Accept": "text/event-stream"} | ({} if after is None else {"Last-Event-ID": str(after)})
    return replace(call, headers=headers)


class Connection(Protocol):
    """One open connection. Any OSError from its methods means that it cannot be used any more."""

    def is_open(self) -> bool:
        """Return False if the other end has closed an idle connection."""

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
        """Limit the operations inside the context; they raise TimeoutError."""

    async def write(self, data: bytes) -> None:
        """Write a whole request. A broken pipe is ignored: the daemon may answer before it has read a body."""

    async def read(self, want: int) -> bytes:
        """Return `want` bytes; a line for `LINE`, all up to the end for `REST` (constants of the protocol module)."""

    async def close(self) -> None:
        """Close the connection."""


class Network(Protocol):
    """The interface by which a client opens connections and waits between tries, blocking or with asyncio."""

    async def connect(self, socket_path: Path) -> Connection:
        """Open a connection to the daemon's socket."""

    async def sleep(self, seconds: float) -> None:
        """Wait for some seconds between two tries."""


class Options(TypedDict, total=False):
    """The options of a client, all of which may be left out."""

    token: str | None
    timeout_s: float
    long_timeout_s: float
    patience_s: float
    start_patience_s: float


class Core:
    """Sends calls over idle connections that are kept for the next call, and follows the event stream."""

    def __init__(
        self,
        network: Network,
        socket_path: Path | None,
        *,
        idle_max: int,
        token: str | None = None,
        timeout_s: float = 60.0,
        long_timeout_s: float = 900.0,
        patience_s: float = 5.0,
        start_patience_s: float = 0.0,
    ) -> None:
        self.socket_path = socket_path if socket_path is not None else Layout.current().socket
        self._network = network
        self._idle_max = idle_max
        self._token = token
        self._timeout_s = timeout_s
        self._long_timeout_s = long_timeout_s
        self._patience_s = patience_s
        self._start_patience_s = start_patience_s
        self._idle: list[Connection] = []

    async def close(self) -> None:
        """Close the idle connections; the next call opens another."""
        while self._idle:
            await self._idle.pop().close()

    async def send(self, call: Call[T]) -> T:
        """Send a call and return its answer; while the daemon is starting, retry for `patience_s`."""
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                return await self._exchange(call)
            except Starting:
                if time.monotonic() >= deadline:
                    raise
                await self._network.sleep(POLL_S)

    async def events(self, after: int | None) -> AsyncGenerator[Event, None]:
        """Yield the events after a sequence (None: from now on), without end; resume a broken stream."""
        parser = EventParser(after)
        patience_s = self._start_patience_s
        while True:
            connection = await self._connect(patience_s)
            try:
                head = await self._open_stream(connection, event_stream(parser.last))
                while True:
                    async with connection.timeout(HEARTBEAT_MAX_S):
                        piece = await read_piece(connection.read, head)
                    if piece is None:
                        break
                    for event in parser.feed(piece):
                        yield event
            except (OSError, Starting):
                parser.reset()
            finally:
                await connection.close()
            patience_s = max(self._patience_s, self._start_patience_s)
            await self._network.sleep(RESUME_PAUSE_S)

    async def _open_stream(self, connection: Connection, call: Call[None]) -> Head:
        async with connection.timeout(HEARTBEAT_MAX_S):
            await connection.write(call_bytes(call, self._token))
            head = await read_head(connection.read)
            check_head(head)
            if head.status >= 400:
                raise error_of(head, await read_body(connection.read, head))
        return head

    async def _exchange(self, call: Call[T]) -> T:
        """Send a call once and decode its answer; the connection is kept if another request may follow on it."""
        timeout_s = self._long_timeout_s if call.long else self._timeout_s
        connection, reused = await self._idle_or_new()
        try:
            async with connection.timeout(timeout_s):
                await connection.write(call_bytes(call, self._token))
                head = await read_head(connection.read)
                body = await read_body(connection.read, head)
        except TimeoutError:
            await connection.close()
            raise Busy(
                f"the daemon did not answer within {timeout_s:g} s{_may_happen(call)}", hint=_repeat_hint(call)
            ) from None
        except OSError:
            await connection.close()
            if not (reused and call.is_idempotent):
                raise _closed(call) from None
            try:
                return await self._exchange(call)  # the daemon was just closing the idle connection: use a new one
            except DaemonNotRunning:
                raise _closed(call) from None
        except BaseException:
            await connection.close()  # the rest of this answer must not be read as the beginning of the next one
            raise
        if head.keeps_alive and len(self._idle) < self._idle_max:
            self._idle.append(connection)
        else:
            await connection.close()
        check_head(head)
        if head.status >= 400:
            raise error_of(head, body)
        return call.decode(body)

    async def _idle_or_new(self) -> tuple[Connection, bool]:
        """Return an open connection, and True if it is an idle one that was used before."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open():
                return connection, True
            await connection.close()
        return await self._connect(self._start_patience_s), False

    async def _connect(self, patience_s: float) -> Connection:
        """Open a connection; where no daemon listens, retry for `patience_s`."""
        deadline = time.monotonic() + patience_s
        while True:
            try:
                return await self._network.connect(self.socket_path)
            except OSError as error:
                if not isinstance(error, NOT_LISTENING) or time.monotonic() >= deadline:
                    raise _connect_error(self.socket_path, error) from None
                await self._network.sleep(POLL_S)


def _closed(call: Call[Any]) -> DaemonNotRunning:
    """Return the error for a call that was sent on a connection which then ended."""
    return DaemonNotRunning(
        f"the daemon closed the connection before it answered{_may_happen(call)}",
        hint="run `reverie logs` to see why, then `reverie up`",
    )


def _may_happen(call: Call[Any]) -> str:
    """Return what to say of a call without an answer: it was sent, and a write may be done all the same."""
    return "" if call.method == "GET" else "; what was asked may still happen"


def _repeat_hint(call: Call[Any]) -> str:
    """Return what to do after a call without an answer."""
    if call.is_idempotent:
        return "run `reverie status`, then try again"  # with its key a write is done once
    return "run `reverie status`, and look whether it has happened before you ask again"


def _connect_error(socket_path: Path, error: OSError) -> ReverieError:
    """Return the error for a connection that could not be opened."""
    if isinstance(error, NOT_LISTENING):
        return DaemonNotRunning("the daemon is not running: nobody answers at its socket", hint="run `reverie up`")
    if isinstance(error, PermissionError):
        return Forbidden(
            f"the socket {socket_path} may not be opened by this user",
            hint="run the command as the user whose daemon it is",
        )
    return DaemonNotRunning(
        f"the socket {socket_path} cannot be reached: {error.strerror}", hint="run `reverie doctor`"
    )


def run_to_end(coroutine: Awaitable[T]) -> T:
    """Run a coroutine that never suspends, because everything it awaits blocks instead; return its result."""
    try:
        next(coroutine.__await__())
    except StopIteration as done:
        value: T = done.value
        return value
    raise AssertionError("a coroutine of the blocking client suspended")
