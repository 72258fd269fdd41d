"""The one writer: a thread that takes all waiting writes into one durable commit, agents' before bulk work.

Sources only enqueue. One commit serves every write that waited at that moment (group commit); the number and the time
spent on bulk work in one commit are bounded, so that an agent's write never waits long behind an import.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from reverie.errors import Busy, ReverieError, StorageFailed
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.store import Done, Failed, Write

__all__ = ["Submit", "Worker", "WorkerStatus"]

T = TypeVar("T")

INTERACTIVE_BATCH = 256  # writes of agents in one commit
BULK_BATCH = 1  # pieces of bulk work in one commit, when agents wait; a piece is cut to last about 10 ms
BULK_ALONE_BATCH = 4  # and when nobody does
SHARED_S = 0.5  # for so long after an agent's write, bulk work comes in small pieces
STOP_TIMEOUT_S = 30.0


class Submit(Protocol):
    """Hands one write to the writer thread and waits for its commit."""

    async def __call__(self, write: Write[T], *, bulk: bool = False) -> Done[T]:
        """The value that the write's body returned and the operation's number, once it is durable.

        Raises:
            Busy: the queue is full, `details.retryAfter` seconds.
            StorageFailed: the store no longer takes writes.
            ReverieError: whatever the body raised; the write changed nothing.
        """
        ...


class Commits(Protocol):
    """What the worker needs of the store."""

    def commit(self, writes: Sequence[Write[Any]], *, at: str) -> list[Done[Any] | Failed]:
        """One durable transaction for all writes, each nested in it."""
        ...


@dataclass(slots=True)
class _Waiting:
    """One write and the coroutine that waits for it."""

    write: Write[Any]
    answer: asyncio.Future[Done[Any]]
    loop: asyncio.AbstractEventLoop


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """How the writer fares, for `/metrics` and `/v1/status`."""

    queued: int
    bulk_queued: int
    commits: int
    writes: int
    longest_commit_s: float
    failed: bool


@dataclass(slots=True)
class _Counts:
    commits: int = 0
    writes: int = 0
    longest_commit_s: float = 0.0


class Worker:
    """Owns the only thread that calls `store.commit`."""

    def __init__(
        self,
        store: Commits,
        *,
        clock: Callable[[], str],
        queue_length: int,
        committed: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._queue_length = queue_length
        self._committed = committed
        self._interactive: deque[_Waiting] = deque()
        self._bulk: deque[_Waiting] = deque()
        self._lock = threading.Condition()
        self._stopping = False
        self._failed: ReverieError | None = None
        self._counts = _Counts()
        self._agents_wrote = float("-inf")
        self._thread = threading.Thread(target=self._run, name="reverie-writer", daemon=True)

    def start(self) -> None:
        """Starts the writer thread."""
        self._thread.start()

    def stop(self) -> None:
        """Commits what is queued, then ends the thread. Writes that come later are refused as `busy`."""
        with self._lock:
            self._stopping = True
            self._lock.notify()
        if self._thread.is_alive():
            self._thread.join(STOP_TIMEOUT_S)

    async def submit(self, write: Write[T], *, bulk: bool = False) -> Done[T]:
        """Waits until the write is durable.

        Raises:
            Busy: the lane is full, or the daemon is stopping.
            StorageFailed: the store failed to write; nothing is written any more.
            ReverieError: what the write's body raised; it changed nothing.
        """
        loop = asyncio.get_running_loop()
        waiting = _Waiting(write, loop.create_future(), loop)
        with self._lock:
            self._refuse_if_closed()
            lane = self._bulk if bulk else self._interactive
            if len(lane) >= self._queue_length:
                raise Busy(
                    "The queue of writes is full.", hint="Try again in a moment.", retryAfter=1, queued=len(lane)
                )
            lane.append(waiting)
            if not bulk:
                self._agents_wrote = time.monotonic()
            self._lock.notify()
        # The write goes on when its caller leaves: it may be half way to the disk.
        return await asyncio.shield(waiting.answer)

    def is_shared(self) -> bool:
        """Whether an agent wrote a moment ago, so that bulk work had better be cut small."""
        return time.monotonic() < self._agents_wrote + SHARED_S

    def status(self) -> WorkerStatus:
        """Figures of this moment."""
        with self._lock:
            return WorkerStatus(
                queued=len(self._interactive),
                bulk_queued=len(self._bulk),
                commits=self._counts.commits,
                writes=self._counts.writes,
                longest_commit_s=self._counts.longest_commit_s,
                failed=self._failed is not None,
            )

    def _refuse_if_closed(self) -> None:
        if self._failed is not None:
            raise StorageFailed(
                f"The store takes no more writes since one failed: {self._failed.message}",
                hint="Look at the disk, then: reverie down; reverie check; reverie up",
            )
        if self._stopping:
            raise Busy("The daemon is stopping.", hint="Try again when it is back.", retryAfter=2)

    def _run(self) -> None:
        while batch := self._next_batch():
            self._commit(batch)

    def _next_batch(self) -> list[_Waiting]:
        """What the next commit holds; empty when the worker has stopped and nothing waits."""
        with self._lock:
            while not self._interactive and not self._bulk and not self._stopping:
                self._lock.wait()
            batch = [self._interactive.popleft() for _ in range(min(INTERACTIVE_BATCH, len(self._interactive)))]
            bulk = BULK_BATCH if batch else BULK_ALONE_BATCH
            batch += [self._bulk.popleft() for _ in range(min(bulk, len(self._bulk)))]
            return batch

    def _commit(self, batch: list[_Waiting]) -> None:
        if self._failed is not None:
            self._answer_all(batch, self._failed)
            return
        began = time.perf_counter()
        try:
            outcomes = self._store.commit([waiting.write for waiting in batch], at=self._clock())
        except Exception as error:  # noqa: BLE001 - a writer that ends would leave every caller waiting
            self._give_up(error)  # first: who is answered may ask again at once
            self._answer_all(batch, _as_storage_failure(error))
            return
        self._count(len(batch), time.perf_counter() - began)
        for waiting, outcome in zip(batch, outcomes, strict=True):
            _answer(waiting, outcome)
        self._committed()

    def _count(self, writes: int, seconds: float) -> None:
        with self._lock:
            self._counts.commits += 1
            self._counts.writes += writes
            self._counts.longest_commit_s = max(self._counts.longest_commit_s, seconds)

    def _give_up(self, error: Exception) -> None:
        """After a failed flush, a second one may say that all is well though the bytes are gone: so none follows.

        A full disk is another matter: nothing was half written, and the next write works once there is room.
        """
        failure = _as_storage_failure(error)
        log = logger("reveried.worker")
        log.error("a commit failed", kind=type(error).__name__, code=failure.code)
        if isinstance(failure, StorageFailed):
            with self._lock:
                self._failed = failure

    def _answer_all(self, batch: list[_Waiting], error: ReverieError) -> None:
        for waiting in batch:
            _settle(waiting, error)


def _as_storage_failure(error: Exception) -> ReverieError:
    if isinstance(error, ReverieError):
        return error
    return StorageFailed(
        "The store could not keep the write.", hint="reverie logs; reverie check", kind=type(error).__name__
    )


def _answer(waiting: _Waiting, outcome: Any) -> None:
    error = getattr(outcome, "error", None)
    _settle(waiting, outcome if error is None else error)


def _settle(waiting: _Waiting, outcome: Any) -> None:
    """Hands the outcome to the loop that waits; a loop that is gone needs no answer."""
    if not waiting.loop.is_closed():
        waiting.loop.call_soon_threadsafe(_resolve, waiting.answer, outcome)


def _resolve(answer: asyncio.Future[Any], outcome: Any) -> None:
    if answer.done():
        return
    if isinstance(outcome, BaseException):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)
