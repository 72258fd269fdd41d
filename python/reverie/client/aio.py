"""The asyncio client: the same calls, awaited, over a small pool of connections."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Self, TypeVar

from reverie.client.core import ApiCalls, AsyncFace, Core
from reverie.client.protocol import LINE, LINE_MAX_BYTES, REST

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path
    from types import TracebackType
    from typing import Unpack

    import anthropic

    from reverie import wire
    from reverie.client.protocol import Call
    from reverie.client.session import AsyncSession, SessionOptions

__all__ = ["AsyncClient"]

T = TypeVar("T")

IDLE_MAX = 8  # connections kept open for the next call


class AsyncClient(ApiCalls, AsyncFace):
    """Connections to the daemon for one event loop; calls may run concurrently. The arguments are those of Client."""

    def __init__(
        self,
        socket_path: Path | None = None,
        *,
        token: str | None = None,
        timeout_s: float = 60.0,
        long_timeout_s: float = 900.0,
        patience_s: float = 5.0,
        start_patience_s: float = 0.0,
    ) -> None:
        self._core = Core(
            _Streams(),
            socket_path,
            idle_max=IDLE_MAX,
            token=token,
            timeout_s=timeout_s,
            long_timeout_s=long_timeout_s,
            patience_s=patience_s,
            start_patience_s=start_patience_s,
        )
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

    async def events(self, after: int | None = None) -> AsyncIterator[wire.Event]:
        """Yield the events after a sequence (None: from now on), without end; a broken stream is resumed.

        Raises:
            CursorExpired: the events after `after` are no longer stored.
            DaemonNotRunning: the daemon ended, and did not come back within `patience_s`.
        """
        async with contextlib.aclosing(self._core.events(after)) as stream:
            async for event in stream:
                yield event


class _Streams:
    """Implementation of `core.Network` with asyncio streams."""

    async def connect(self, socket_path: Path) -> _Connection:
        return _Connection(*await asyncio.open_unix_connection(str(socket_path), limit=LINE_MAX_BYTES))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Connection:
    """One connection of the pool; implements `core.Connection`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def is_open(self) -> bool:
        return not (self._reader.at_eof() or self._writer.is_closing())

    def timeout(self, seconds: float) -> asyncio.Timeout:
        return asyncio.timeout(seconds)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            # The daemon may refuse a request by its head, before reading its body: the answer says why.
            await self._writer.drain()

    async def read(self, want: int) -> bytes:
        try:
            if want == REST:
                return await self._reader.read()
            line = await self._reader.readline() if want == LINE else await self._reader.readexactly(want)
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError("the other end closed in the middle of its answer") from error
        if want == LINE and not line.endswith(b"\n"):
            raise ConnectionResetError("the other end closed in the middle of its answer")
        return line

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):  # the other end may have closed first
            await self._writer.wait_closed()
