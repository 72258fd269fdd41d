"""The client that blocks: typed calls over the daemon's Unix socket."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar

from reverie.client import calls, errors
from reverie.client.call import answer, call_bytes, check_protocol, failure
from reverie.client.connection import Line
from reverie.client.sse import EventLines
from reverie.errors import Starting
from reverie.paths import Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import TracebackType

    from reverie import wire
    from reverie.client.call import Call

__all__ = ["Client"]

T = TypeVar("T")
P = ParamSpec("P")

POLL_S = 0.05  # between two tries while the daemon is starting
RESUME_PAUSE_S = 0.2  # before a broken stream of events is taken up again
HEARTBEAT_MAX_S = 60.0  # the daemon sends a comment more often than this on an idle stream


def _offered(build: Callable[P, Call[T]]) -> Callable[Concatenate[Client, P], T]:
    """A method that builds a call and waits for its answer, with the builder's signature and docstring."""

    @functools.wraps(build)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.send(build(*args, **kwargs))

    return method


class Client:
    """One connection to the daemon, kept open between calls. Use one per thread, and close it (`with Client() as c:`).

    `socket_path` is found by the environment when not given. `token` binds to another space than the default.
    `timeout_s` is how long an answer may take (a distillation or a dream: `long_timeout_s`). `patience_s` is how long
    to go on trying while the daemon says that it is starting; `start_patience_s` the same while nobody answers at all,
    for a caller that has just started it.

    Every call raises DaemonNotRunning, ProtocolMismatch, Busy when no answer came in time, and whatever the daemon
    answered as its own class of `reverie.errors`.
    """

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
        self._line: Line | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._line is not None:
            self._line.close()
            self._line = None

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

    def send(self, call: Call[T]) -> T:
        """Send one built call and give its answer; what every method here does."""
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                return self._once(call)
            except Starting:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(POLL_S)

    def events(self, after: int | None = None) -> Iterator[wire.Event]:
        """Events after a sequence (None: from now on), without end; a broken stream is resumed where it was.

        Raises:
            CursorExpired: when the events after `after` are no longer kept.
            DaemonNotRunning: when the daemon went away and did not come back within `patience_s`.
        """
        lines = EventLines(after)
        patience_s = self._start_patience_s
        while True:
            call = calls.event_stream(lines.last)
            line = self._open(HEARTBEAT_MAX_S, patience_s)
            try:
                head = line.send(call_bytes(call, self._token), HEARTBEAT_MAX_S)
                check_protocol(head)
                if head.status >= 400:
                    raise failure(head, line.body(head))
                while (part := line.part(head)) is not None:
                    yield from lines.feed(part)
            except (OSError, Starting):
                lines.broken()  # what was cut is sent again after resuming
            finally:
                line.close()
            patience_s = max(self._patience_s, self._start_patience_s)
            time.sleep(RESUME_PAUSE_S)

    def _once(self, call: Call[T]) -> T:
        timeout_s = self._long_timeout_s if call.long else self._timeout_s
        data = call_bytes(call, self._token)
        line, was_open = self._ready(timeout_s)
        try:
            head = line.send(data, timeout_s)
            body = line.body(head)
        except TimeoutError:
            self.close()
            raise errors.late(timeout_s) from None
        except OSError:
            self.close()
            if was_open and call.is_repeatable:
                return self._once(call)  # an idle connection that was just being closed: a new one decides
            raise errors.lost() from None
        except BaseException:
            self.close()  # half an answer must not be read as the beginning of the next one
            raise
        if not head.keeps_alive:
            self.close()
        return answer(call, head, body)

    def _ready(self, timeout_s: float) -> tuple[Line, bool]:
        """The connection to use, and whether it has served before."""
        if self._line is not None and self._line.is_fresh():
            return self._line, True
        self.close()
        self._line = self._open(timeout_s, self._start_patience_s)
        return self._line, False

    def _open(self, timeout_s: float, patience_s: float) -> Line:
        deadline = time.monotonic() + patience_s
        while True:
            try:
                return Line(self.socket_path, timeout_s)
            except OSError as error:
                if not isinstance(error, errors.NOBODY) or time.monotonic() >= deadline:
                    raise errors.unreachable(self.socket_path, error) from None
                time.sleep(POLL_S)
