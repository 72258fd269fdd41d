"""The asyncio client: the same calls, awaited, over a small pool of connections."""

from __future__ import annotations

import asyncio
import contextlib
import select
import socket
from typing import TYPE_CHECKING, Self, TypeVar

from reverie.api import Api
from reverie.client.connection import Core
from reverie.client.http import LINE, LINE_MAX_BYTES, REST

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path
    from types import TracebackType
    from typing import Unpack

    import anthropic

    from reverie.api.endpoint import Call
    from reverie.client.connection import Options
    from reverie.client.session import AsyncSession, SessionOptions
    from reverie.wire.history import Event

T = TypeVar("T")

CONNECT_S = 5.0  # as long as the daemon's queue of new connections may be full
_QUEUE_PAUSE_S = 0.01
_RECEIVED_BYTES = 1 << 18  # at once
IDLE_MAX = 8  # connections kept open for the next call


class AsyncClient(Api):
    """Connections to the daemon for one event loop; calls may run concurrently. The arguments are those of Client."""

    def __init__(self, socket_path: Path | None = None, **options: Unpack[Options]) -> None:
        self._core = Core(_Sockets(), socket_path, idle_max=IDLE_MAX, **options)
        self.socket_path = self._core.socket_path

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the idle connections."""
        await self._core.close()

    async def send(self, call: Call[T]) -> T:
        """Send one built call and return its answer; what every method here does."""
        return await self._core.send(call)

    def session(
        self,
        thread_id: str,
        models: anthropic.AsyncAnthropic | None = None,
        *,
        model: str,
        **options: Unpack[SessionOptions],
    ) -> AsyncSession:
        """Return a session of the thread with a model: append, assemble, and turns with a loop of tools.

        Raises:
            ValidationError: a tool or an option that a session cannot have.
        """
        from reverie.client.session import AsyncSession  # noqa: PLC0415 - most programs need none

        return AsyncSession(self, thread_id, models, model=model, **options)

    async def events(self, after: int | None = None) -> AsyncIterator[Event]:
        """Yield the events after a sequence (None: from now on), without end; a broken stream is resumed.

        Raises:
            CursorExpired: the events after `after` are no longer stored, or the store is older than it.
            DaemonNotRunning: the daemon ended, and did not come back within `patience_s`.
        """
        async with contextlib.aclosing(self._core.events(after)) as stream:
            async for event in stream:
                yield event


class _Sockets:
    """Implementation of `connection.Network` with the sockets of the event loop.

    They are no streams of asyncio: those drop what was received as soon as something cannot be sent, and so the answer
    of a daemon that refuses a request by its head.
    """

    async def connect(self, socket_path: Path) -> _Connection:
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            peer.settimeout(0)
            async with asyncio.timeout(CONNECT_S):
                while not _connects(peer, socket_path):  # noqa: ASYNC110 - the system tells no one when there is room
                    await asyncio.sleep(_QUEUE_PAUSE_S)
        except BaseException:
            peer.close()
            raise
        return _Connection(peer)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def _connects(peer: socket.socket, socket_path: Path) -> bool:
    """Return True once a socket is connected, False while the daemon's queue of new connections is full.

    `loop.sock_connect` takes a full queue for a connection that is being made, and then uses one that is none.
    """
    try:
        peer.connect(str(socket_path))
    except BlockingIOError:
        return False
    return True


class _Connection:
    """One connection of the pool; implements `connection.Connection`."""

    def __init__(self, peer: socket.socket) -> None:
        self._socket = peer
        self._received = bytearray()

    def is_open(self) -> bool:
        """Return False if something can be read: on an idle connection that is the other end's close."""
        if self._socket.fileno() < 0:
            return False
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return not self._received and not poll.poll(0)

    def timeout(self, seconds: float) -> asyncio.Timeout:
        return asyncio.timeout(seconds)

    async def write(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            # The daemon may refuse a request by its head, before reading its body: the answer says why.
            await asyncio.get_running_loop().sock_sendall(self._socket, data)

    async def read(self, want: int) -> bytes:
        if want == REST:
            while await self._receive():
                pass
            return self._taken(len(self._received))
        return self._taken(await self._line_end() if want == LINE else await self._all_of(want))

    async def close(self) -> None:
        self._socket.close()

    async def _all_of(self, size: int) -> int:
        """Receive until `size` bytes are buffered; return `size`."""
        while len(self._received) < size:
            await self._receive_more()
        return size

    async def _line_end(self) -> int:
        """Receive until a whole line is buffered; return its length with the line end."""
        looked_at = 0
        while (end := self._received.find(b"\n", looked_at)) < 0 and looked_at < LINE_MAX_BYTES:
            looked_at = len(self._received)
            await self._receive_more()
        if not 0 <= end < LINE_MAX_BYTES:
            raise ConnectionResetError("the other end sent a line without an end")
        return end + 1

    async def _receive_more(self) -> None:
        if not await self._receive():
            raise ConnectionResetError("the other end closed in the middle of its answer")

    async def _receive(self) -> int:
        """Receive more bytes; return how many, 0 at the end."""
        piece = await asyncio.get_running_loop().sock_recv(self._socket, _RECEIVED_BYTES)
        self._received += piece
        return len(piece)

    def _taken(self, size: int) -> bytes:
        taken = bytes(memoryview(self._received)[:size])
        del self._received[:size]
        return taken
