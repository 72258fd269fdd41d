"""The blocking client: typed calls over the daemon's Unix socket."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from typing import TYPE_CHECKING, Self, TypeVar

from reverie.api import Api
from reverie.client.connection import Core, run_to_end
from reverie.client.http import LINE, LINE_MAX_BYTES, REST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Unpack

    import anthropic

    from reverie.api.endpoint import Call
    from reverie.client.connection import Options
    from reverie.client.session import Session, SessionOptions
    from reverie.wire.history import Event

T = TypeVar("T")

CONNECT_S = 60.0  # connecting blocks only while the listening socket's queue is full


class Client(Api):
    """One connection to the daemon, kept open between calls. Use one per thread, and close it (`with Client() as c:`).

    `socket_path` is found by the environment when not given. `token` binds to another space than the default.
    `timeout_s` (60) limits the wait for an answer, and `long_timeout_s` (900) that of a distillation or a dream. While
    the daemon is starting, calls are retried for `patience_s` (5); while no daemon listens at all, for
    `start_patience_s` (0), which is for a caller that has just started it.

    Every call raises DaemonNotRunning, ProtocolMismatch, Busy when no answer came in time, and every error of the
    daemon as its own class of `reverie.errors`.
    """

    def __init__(self, socket_path: Path | None = None, **options: Unpack[Options]) -> None:
        self._core = Core(_Sockets(), socket_path, idle_max=1, **options)
        self.socket_path = self._core.socket_path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        run_to_end(self._core.close())

    def send(self, call: Call[T]) -> T:
        """Send one built call and return its answer; all other methods use it."""
        return run_to_end(self._core.send(call))

    def session(
        self,
        thread_id: str,
        models: anthropic.Anthropic | None = None,
        *,
        model: str,
        **options: Unpack[SessionOptions],
    ) -> Session:
        """Return a session of the thread with a model: append, assemble, and turns with a loop of tools.

        Raises:
            ValidationError: a tool or an option that a session cannot have.
        """
        from reverie.client.session import Session  # noqa: PLC0415 - most programs need none

        return Session(self, thread_id, models, model=model, **options)

    def events(self, after: int | None = None) -> Iterator[Event]:
        """Yield the events after a sequence (None: from now on), without end; a broken stream is resumed.

        Raises:
            CursorExpired: the events after `after` are no longer stored, or the store is older than it.
            DaemonNotRunning: the daemon ended, and did not come back within `patience_s`.
        """
        stream = self._core.events(after)
        try:
            while True:
                yield run_to_end(anext(stream))
        finally:
            run_to_end(stream.aclose())


class _Sockets:
    """Blocking implementation of `connection.Network`."""

    async def connect(self, socket_path: Path) -> _Connection:
        return _Connection(socket_path)

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - no event loop runs here


class _Timeout:
    """Sets the timeout of a socket at the start of a context; it stays set after the end."""

    def __init__(self, peer: socket.socket, seconds: float) -> None:
        self._peer = peer
        self._seconds = seconds

    async def __aenter__(self) -> None:
        self._peer.settimeout(self._seconds)

    async def __aexit__(self, *_: object) -> None:
        pass


class _Connection:
    """One connection with a blocking socket; implements `connection.Connection`."""

    def __init__(self, socket_path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(CONNECT_S)
        try:
            self._socket.connect(str(socket_path))
        except OSError:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rb")

    def is_open(self) -> bool:
        """Return False if something can be read: on an idle connection that is the other end's close."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return not poll.poll(0)

    def timeout(self, seconds: float) -> _Timeout:
        return _Timeout(self._socket, seconds)

    async def write(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            # The daemon may refuse a request by its head, before reading its body: the answer says why.
            self._socket.sendall(data)

    async def read(self, want: int) -> bytes:
        if want == REST:
            return self._file.read()
        data = self._file.readline(LINE_MAX_BYTES) if want == LINE else self._file.read(want)
        if len(data) < want or (want == LINE and not data.endswith(b"\n")):
            raise ConnectionResetError("the other end closed in the middle of its answer")
        return data

    async def close(self) -> None:
        self._file.close()
        self._socket.close()
