"""Logic of both clients without I/O: connection reuse, retries, waiting for a starting daemon, resuming of events.

`Core` is written with `async` functions over two small interfaces, `Network` and `Connection`. The asyncio face
implements them with streams. The blocking face implements them with a socket whose "coroutines" never suspend, and
runs them to their end at once, without importing asyncio, which takes longer to load than the rest of the client.
"""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar, overload

from reverie.client import calls
from reverie.client.http import Call, EventParser, call_bytes, check_head, error_of, read_body, read_head, read_piece
from reverie.errors import Busy, DaemonNotRunning, Forbidden, ReverieError, Starting
from reverie.places import Layout

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from reverie import wire
    from reverie.client.http import Head

T = TypeVar("T")
P = ParamSpec("P")

POLL_S = 0.05  # between two attempts while the daemon is starting
RESUME_PAUSE_S = 0.2  # before a broken event stream is opened again
HEARTBEAT_MAX_S = 60.0  # four heartbeats: the daemon sends a comment every 15 s on an idle event stream

NOT_LISTENING = (FileNotFoundError, ConnectionRefusedError)  # what connecting raises where no daemon listens


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

    async def events(self, after: int | None) -> AsyncGenerator[wire.Event, None]:
        """Yield the events after a sequence (None: from now on), without end; resume a broken stream."""
        parser = EventParser(after)
        patience_s = self._start_patience_s
        while True:
            connection = await self._connect(patience_s)
            try:
                head = await self._open_stream(connection, calls.event_stream(parser.last))
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


class BlockingFace(Protocol):
    """A client whose `send` returns the answer."""

    def send(self, call: Call[T]) -> T:
        """Send one built call and return its answer; every method of a client calls it."""
        ...


class AsyncFace(Protocol):
    """A client whose `send` is awaited."""

    async def send(self, call: Call[T]) -> T:
        """Send one built call and return its answer; every method of a client calls it."""
        ...


class _Method(Generic[P, T]):
    """A method of both client classes that builds a call and sends it, with the builder's signature and docstring."""

    def __init__(self, build: Callable[P, Call[T]]) -> None:
        self._build = build

    @overload
    def __get__(self, client: None, owner: type) -> Callable[P, Call[T]]: ...
    @overload
    def __get__(self, client: BlockingFace, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncFace, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: BlockingFace | AsyncFace | None, owner: type) -> Callable[..., Any]:
        build = self._build
        if client is None:
            return build

        @functools.wraps(build)
        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.send(build(*args, **kwargs))

        return method


class ApiCalls:
    """Every operation of the API as a method, for the blocking and the asyncio client."""

    backup = _Method(calls.backup)
    cancel_job = _Method(calls.cancel_job)
    health = _Method(calls.health)
    job = _Method(calls.job)
    metrics = _Method(calls.metrics)
    openapi = _Method(calls.openapi)
    spaces = _Method(calls.spaces)
    create_space = _Method(calls.create_space)
    tokens = _Method(calls.tokens)
    create_token = _Method(calls.create_token)
    revoke_token = _Method(calls.revoke_token)
    status = _Method(calls.status)
    add_schedule = _Method(calls.add_schedule)
    archive = _Method(calls.archive)
    archives = _Method(calls.archives)
    difference = _Method(calls.difference)
    document_history = _Method(calls.document_history)
    rollback = _Method(calls.rollback)
    dream = _Method(calls.dream)
    dream_record = _Method(calls.dream_record)
    dreams = _Method(calls.dreams)
    operation = _Method(calls.operation)
    operations = _Method(calls.operations)
    remove_schedule = _Method(calls.remove_schedule)
    schedules = _Method(calls.schedules)
    start_dream = _Method(calls.start_dream)
    undo = _Method(calls.undo)
    send_chunk = _Method(calls.send_chunk)
    start_session = _Method(calls.start_session)
    end_session = _Method(calls.end_session)
    compact_conversation = _Method(calls.compact_conversation)
    prepare_compaction = _Method(calls.prepare_compaction)
    sessions = _Method(calls.sessions)
    privacy = _Method(calls.privacy)
    change_privacy = _Method(calls.change_privacy)
    redactions = _Method(calls.redactions)
    allow_redactions = _Method(calls.allow_redactions)
    disallow_redactions = _Method(calls.disallow_redactions)
    start_import = _Method(calls.start_import)
    document = _Method(calls.document)
    documents = _Method(calls.documents)
    append_entry = _Method(calls.append_entry)
    change_memory = _Method(calls.change_memory)
    complete_run = _Method(calls.complete_run)
    put_run_file = _Method(calls.put_run_file)
    put_working_memory = _Method(calls.put_working_memory)
    run = _Method(calls.run)
    run_context = _Method(calls.run_context)
    run_file = _Method(calls.run_file)
    runs = _Method(calls.runs)
    start_run = _Method(calls.start_run)
    candidates = _Method(calls.candidates)
    candidate = _Method(calls.candidate)
    accept_candidate = _Method(calls.accept_candidate)
    reject_candidate = _Method(calls.reject_candidate)
    conflict = _Method(calls.conflict)
    conflicts = _Method(calls.conflicts)
    delete_document = _Method(calls.delete_document)
    delete_folder = _Method(calls.delete_folder)
    insert_lines = _Method(calls.insert_lines)
    move_document = _Method(calls.move_document)
    check_distiller = _Method(calls.check_distiller)
    compact = _Method(calls.compact)
    forget = _Method(calls.forget)
    index = _Method(calls.index)
    patch_document = _Method(calls.patch_document)
    put_document = _Method(calls.put_document)
    remember = _Method(calls.remember)
    resolve = _Method(calls.resolve)
    sync_now = _Method(calls.sync_now)
    sync_status = _Method(calls.sync_status)
    memories = _Method(calls.memories)
    memory = _Method(calls.memory)
    memory_history = _Method(calls.memory_history)
    recall = _Method(calls.recall)
    search = _Method(calls.search)
    add_note = _Method(calls.add_note)
    append = _Method(calls.append)
    context = _Method(calls.context)
    context_text = _Method(calls.context_text)
    create_thread = _Method(calls.create_thread)
    delete_note = _Method(calls.delete_note)
    delete_thread = _Method(calls.delete_thread)
    digest = _Method(calls.digest)
    distill = _Method(calls.distill)
    learn = _Method(calls.learn)
    reflect = _Method(calls.reflect)
    entries = _Method(calls.entries)
    messages = _Method(calls.messages)
    rewind = _Method(calls.rewind)
    notes = _Method(calls.notes)
    set_working_state = _Method(calls.set_working_state)
    model_requests = _Method(calls.model_requests)
    start_distill = _Method(calls.start_distill)
    summaries = _Method(calls.summaries)
    thread = _Method(calls.thread)
    threads = _Method(calls.threads)
    change_thread = _Method(calls.change_thread)
    brief = _Method(calls.brief)
    brief_text = _Method(calls.brief_text)
    change_brief_line = _Method(calls.change_brief_line)
    projects = _Method(calls.projects)
    sort_projects = _Method(calls.sort_projects)
    working_state = _Method(calls.working_state)
    call_tool = _Method(calls.call_tool)
    tools = _Method(calls.tools)
