"""The client for asyncio: the same calls, awaited, over a small pool of connections."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from reverie.client import calls, errors
from reverie.client.blocking import HEARTBEAT_MAX_S, POLL_S, RESUME_PAUSE_S
from reverie.client.call import answer, call_bytes, check_protocol, failure
from reverie.client.framing import LINE, LINE_MAX_BYTES, REST, read_body, read_head, read_part
from reverie.client.sse import EventLines
from reverie.errors import Starting
from reverie.paths import Layout

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from pathlib import Path
    from types import TracebackType

    from reverie import wire
    from reverie.client.call import Call
    from reverie.client.framing import Head, Reading

__all__ = ["AsyncClient"]

T = TypeVar("T")
P = ParamSpec("P")

IDLE_MAX = 8  # connections kept open for the next call


def _offered(build: Callable[P, Call[T]]) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """A method that builds a call and awaits its answer, with the builder's signature and docstring."""

    @functools.wraps(build)
    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.send(build(*args, **kwargs))

    return method


class AsyncClient:
    """Connections to the daemon for one event loop; calls may run side by side. The arguments are those of Client."""

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
        self.socket_path = socket_path if socket_path is not None else Layout.current().socket
        self._token = token
        self._timeout_s = timeout_s
        self._long_timeout_s = long_timeout_s
        self._patience_s = patience_s
        self._start_patience_s = start_patience_s
        self._idle: list[_Line] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            await self._idle.pop().close()

    backup = _offered(calls.backup)
    cancel_job = _offered(calls.cancel_job)
    health = _offered(calls.health)
    job = _offered(calls.job)
    metrics = _offered(calls.metrics)
    openapi = _offered(calls.openapi)
    spaces = _offered(calls.spaces)
    status = _offered(calls.status)
    add_schedule = _offered(calls.add_schedule)
    archive = _offered(calls.archive)
    archives = _offered(calls.archives)
    difference = _offered(calls.difference)
    document_history = _offered(calls.document_history)
    rollback = _offered(calls.rollback)
    dream = _offered(calls.dream)
    dream_record = _offered(calls.dream_record)
    dreams = _offered(calls.dreams)
    operation = _offered(calls.operation)
    operations = _offered(calls.operations)
    remove_schedule = _offered(calls.remove_schedule)
    schedules = _offered(calls.schedules)
    start_dream = _offered(calls.start_dream)
    undo = _offered(calls.undo)
    send_chunk = _offered(calls.send_chunk)
    start_import = _offered(calls.start_import)
    document = _offered(calls.document)
    documents = _offered(calls.documents)
    append_entry = _offered(calls.append_entry)
    change_memory = _offered(calls.change_memory)
    conflict = _offered(calls.conflict)
    conflicts = _offered(calls.conflicts)
    delete_document = _offered(calls.delete_document)
    forget = _offered(calls.forget)
    index = _offered(calls.index)
    patch_document = _offered(calls.patch_document)
    put_document = _offered(calls.put_document)
    remember = _offered(calls.remember)
    resolve = _offered(calls.resolve)
    sync_now = _offered(calls.sync_now)
    sync_status = _offered(calls.sync_status)
    memories = _offered(calls.memories)
    memory = _offered(calls.memory)
    memory_history = _offered(calls.memory_history)
    recall = _offered(calls.recall)
    add_note = _offered(calls.add_note)
    append = _offered(calls.append)
    context = _offered(calls.context)
    create_thread = _offered(calls.create_thread)
    delete_note = _offered(calls.delete_note)
    delete_thread = _offered(calls.delete_thread)
    digest = _offered(calls.digest)
    distill = _offered(calls.distill)
    learn = _offered(calls.learn)
    messages = _offered(calls.messages)
    notes = _offered(calls.notes)
    set_working_state = _offered(calls.set_working_state)
    start_distill = _offered(calls.start_distill)
    summaries = _offered(calls.summaries)
    thread = _offered(calls.thread)
    threads = _offered(calls.threads)
    working_state = _offered(calls.working_state)
    call_tool = _offered(calls.call_tool)
    tools = _offered(calls.tools)

    async def send(self, call: Call[T]) -> T:
        """Send one built call and give its answer; what every method here does."""
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                return await self._once(call)
            except Starting:
                if time.monotonic() >= deadline:
                    raise
                await asyncio.sleep(POLL_S)

    async def events(self, after: int | None = None) -> AsyncIterator[wire.Event]:
        """Events after a sequence (None: from now on), without end; a broken stream is resumed where it was.

        Raises:
            CursorExpired: when the events after `after` are no longer kept.
            DaemonNotRunning: when the daemon went away and did not come back within `patience_s`.
        """
        lines = EventLines(after)
        patience_s = self._start_patience_s
        while True:
            line = await self._open(patience_s)
            try:
                head = await self._stream_head(line, calls.event_stream(lines.last))
                while (part := await asyncio.wait_for(line.read(read_part(head)), HEARTBEAT_MAX_S)) is not None:
                    for event in lines.feed(part):
                        yield event
            except (OSError, asyncio.IncompleteReadError, Starting):
                lines.broken()  # what was cut is sent again after resuming
            finally:
                await line.close()
            patience_s = max(self._patience_s, self._start_patience_s)
            await asyncio.sleep(RESUME_PAUSE_S)

    async def _stream_head(self, line: _Line, call: Call[None]) -> Head:
        async with asyncio.timeout(HEARTBEAT_MAX_S):
            head = await line.send(call_bytes(call, self._token))
            check_protocol(head)
            if head.status >= 400:
                raise failure(head, await line.read(read_body(head)))
        return head

    async def _once(self, call: Call[T]) -> T:
        timeout_s = self._long_timeout_s if call.long else self._timeout_s
        line, was_open = await self._ready()
        try:
            async with asyncio.timeout(timeout_s):
                head = await line.send(call_bytes(call, self._token))
                body = await line.read(read_body(head))
        except TimeoutError:
            await line.close()
            raise errors.late(timeout_s) from None
        except (OSError, asyncio.IncompleteReadError):
            await line.close()
            if was_open and call.is_repeatable:
                return await self._once(call)  # an idle connection that was just being closed: another decides
            raise errors.lost() from None
        except BaseException:
            await line.close()  # half an answer must not be read as the beginning of the next one
            raise
        if head.keeps_alive and len(self._idle) < IDLE_MAX:
            self._idle.append(line)
        else:
            await line.close()
        return answer(call, head, body)

    async def _ready(self) -> tuple[_Line, bool]:
        """A connection to use, and whether it has served before."""
        while self._idle:
            line = self._idle.pop()
            if line.is_fresh():
                return line, True
            await line.close()
        return await self._open(self._start_patience_s), False

    async def _open(self, patience_s: float) -> _Line:
        deadline = time.monotonic() + patience_s
        while True:
            try:
                return _Line(*await asyncio.open_unix_connection(str(self.socket_path), limit=LINE_MAX_BYTES))
            except OSError as error:
                if not isinstance(error, errors.NOBODY) or time.monotonic() >= deadline:
                    raise errors.unreachable(self.socket_path, error) from None
                await asyncio.sleep(POLL_S)


class _Line:
    """One connection of the pool."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def is_fresh(self) -> bool:
        return not (self._reader.at_eof() or self._writer.is_closing())

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):  # the other end may have closed first
            await self._writer.wait_closed()

    async def send(self, data: bytes) -> Head:
        self._writer.write(data)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            # A request that is refused from its head is answered before its body is read: the answer says why.
            await self._writer.drain()
        return await self.read(read_head())

    async def read(self, reading: Reading[T]) -> T:
        """Give a reading the bytes it asks for."""
        try:
            want = next(reading)
            while True:
                want = reading.send(await self._bytes(want))
        except StopIteration as done:
            value: T = done.value
            return value

    async def _bytes(self, want: int) -> bytes:
        if want == REST:
            return await self._reader.read()
        if want != LINE:
            return await self._reader.readexactly(want)
        line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise ConnectionResetError("the other end closed in the middle of its answer")
        return line
