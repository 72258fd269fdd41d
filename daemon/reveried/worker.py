"""The worker: the single writer thread, which commits all queued writes together, agents' writes before bulk work.

One durable commit serves every write that is queued at that moment (group commit), because the flush to disk is most
of its cost. The number of bulk writes in one commit is limited, so that an agent's write never waits long behind an
import.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from reverie.errors import Busy, ReverieError, StorageFailed, unexpected
from reverie.store import Failed
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.store import Done, Write

T = TypeVar("T")

INTERACTIVE_BATCH = 256  # agents' writes in one commit
BULK_BATCH = 1  # bulk writes in one commit beside agents' writes; a piece of bulk work is cut to last about 10 ms
BULK_ALONE_BATCH = 4  # and in a commit without agents' writes
SHARED_S = 0.5  # seconds after an agent's write in which bulk work is cut into small pieces
STOP_SAID_S = 30.0  # a stop that takes longer says so
WRITES_FAIL_HINT = "Look at the disk, then: reverie down; reverie check; reverie up"


class Submit(Protocol):
    """The function that queues a write and waits for its commit."""

    async def __call__(self, write: Write[T], *, bulk: bool = False) -> Done[T]:
        """Return the value of the write's body and the operation's number, once they are durable.

        Raises:
            Busy: the queue is full; try again after `details.retryAfter` seconds.
            StorageFailed: an earlier commit failed, and the store takes no more writes.
            ReverieError: what the body raised; the write changed nothing.
        """
        ...


class Commits(Protocol):
    """The part of the store that the worker uses."""

    def commit(self, writes: Sequence[Write[Any]], *, at: str) -> list[Done[Any] | Failed]:
        """Commit all writes in one transaction, each in a nested one that may fail alone; return their outcomes."""
        ...


@dataclass(slots=True)
class _Waiting:
    """A queued write and the future of its answer, which belongs to `loop`."""

    write: Write[Any]
    answer: asyncio.Future[Done[Any]]
    loop: asyncio.AbstractEventLoop


@dataclass(slots=True)
class _Alone:
    """Work for the writer thread between two commits, and the future of its result, which belongs to `loop`."""

    work: Callable[[], Any]
    answer: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """Figures of the worker for `/metrics`."""

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
    """The owner of the only thread that calls `store.commit`."""

    def __init__(
        self,
        store: Commits,
        *,
        clock: Callable[[], str],
        queue_length: int,
        on_commit: Callable[[], None] = lambda: None,
        beside: Callable[[], tuple[Write[None], Callable[[], None]] | None] = lambda: None,
    ) -> None:
        """Prepare the thread; `beside` returns a write of the daemon itself for the next commit, and its callback."""
        self._store = store
        self._clock = clock
        self._queue_length = queue_length
        self._on_commit = on_commit
        self._beside = beside
        self._interactive: deque[_Waiting] = deque()
        self._bulk: deque[_Waiting] = deque()
        self._alone: deque[_Alone] = deque()
        self._lock = threading.Condition()
        self._stopping = False
        self._failed: ReverieError | None = None
        self._counts = _Counts()
        self._last_agent_write = float("-inf")
        self._thread = threading.Thread(target=self._run, name="reverie-writer", daemon=True)

    def start(self) -> None:
        """Start the writer thread."""
        self._thread.start()

    def stop(self) -> None:
        """Commit what is queued, then end the thread; later writes are refused as `busy`."""
        with self._lock:
            self._stopping = True
            self._lock.notify()
        # However long it takes: the caller closes the store next, under a thread that still writes to it.
        while self._thread.is_alive():
            self._thread.join(STOP_SAID_S)
            if self._thread.is_alive():
                logger("reveried.worker").warning("the last writes take long", queued=len(self._interactive))

    async def submit(self, write: Write[T], *, bulk: bool = False) -> Done[T]:
        """Queue a write and return its outcome once it is durable; `bulk` queues it behind agents' writes.

        Raises:
            Busy: the queue is full, or the daemon is stopping.
            StorageFailed: an earlier commit failed, and the store takes no more writes.
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
                self._last_agent_write = time.monotonic()
            self._lock.notify()
        # A cancelled caller does not cancel its write: it may be in the transaction already.
        return await asyncio.shield(waiting.answer)

    async def run_alone(self, work: Callable[[], T]) -> T:
        """Run `work` in the writer thread, between two commits, and return its result; writes wait meanwhile.

        Raises:
            Busy: the daemon is stopping.
            StorageFailed: an earlier commit failed, and the store takes no more writes.
            ReverieError: what `work` raised.
        """
        loop = asyncio.get_running_loop()
        alone = _Alone(work, loop.create_future(), loop)
        with self._lock:
            self._refuse_if_closed()
            self._alone.append(alone)
            self._lock.notify()
        result: T = await asyncio.shield(alone.answer)
        return result

    def is_shared(self) -> bool:
        """Return whether an agent wrote less than SHARED_S ago, so that bulk work should be cut small."""
        return time.monotonic() < self._last_agent_write + SHARED_S

    @property
    def failure(self) -> ReverieError | None:
        """The error because of which the store takes no more writes, or None while it does."""
        return self._failed

    def status(self) -> WorkerStatus:
        """Return the worker's current figures, for `/metrics`."""
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
                hint=WRITES_FAIL_HINT,
            )
        if self._stopping:
            raise Busy("The daemon is stopping.", hint="Try again when it is back.", retryAfter=2)

    def _run(self) -> None:
        """Commit batch after batch until the worker is stopped; nothing else ends the thread.

        An error outside of a commit (in the clock, or in what follows a commit) marks the worker as failed: a writer
        that ended silently would leave its callers waiting for ever.
        """
        while batch := self._next_batch():
            if isinstance(batch, _Alone):
                self._run_alone(batch)
                continue
            try:
                self._commit(batch)
            except BaseException as error:  # noqa: BLE001 - see above
                self._mark_failed(error)
                self._answer_all(batch, _as_storage_failure(error))

    def _run_alone(self, alone: _Alone) -> None:
        """Run work that no commit may run beside, and give its caller the result or the error; the worker continues."""
        outcome: Any
        try:
            outcome = alone.work()
        except BaseException as error:  # noqa: BLE001 - answered; the writer goes on
            outcome = error if isinstance(error, ReverieError) else unexpected(error)
        if not alone.loop.is_closed():
            alone.loop.call_soon_threadsafe(_resolve, alone.answer, outcome)

    def _next_batch(self) -> list[_Waiting] | _Alone:
        """Return the writes of the next commit, or work to run without a commit; an empty list after the worker's stop.

        The end is when the worker has stopped and the queues are empty.
        """
        with self._lock:
            while not self._interactive and not self._bulk and not self._alone and not self._stopping:
                self._lock.wait()
            if self._alone:
                return self._alone.popleft()
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
            beside = self._beside()
            writes = [waiting.write for waiting in batch] + ([] if beside is None else [beside[0]])
            outcomes = self._store.commit(writes, at=self._clock())
        except BaseException as error:  # noqa: BLE001 - a writer thread that ends would leave every caller waiting
            self._mark_failed(error)  # before the answers: an answered caller may submit again at once
            self._answer_all(batch, _as_storage_failure(error))
            return
        # What is committed is answered as committed, whatever goes wrong after that.
        noted = None if beside is None else outcomes.pop()
        self._count_commit(len(batch), time.perf_counter() - began)
        _answer_each(batch, outcomes)
        if beside is not None and noted is not None:
            _note_beside(noted, beside[1])
        self._on_commit()

    def _count_commit(self, writes: int, seconds: float) -> None:
        with self._lock:
            self._counts.commits += 1
            self._counts.writes += writes
            self._counts.longest_commit_s = max(self._counts.longest_commit_s, seconds)

    def _mark_failed(self, error: BaseException) -> None:
        """Refuse all later writes after a failed flush; a full disk is no such failure.

        After a failed fsync the kernel may report a second one as successful although the bytes are lost, so none is
        tried. On a full disk nothing was half written, and the next write works once there is room.
        """
        failure = _as_storage_failure(error)
        log = logger("reveried.worker")
        log.error("a commit failed", kind=type(error).__name__, code=failure.code)
        if isinstance(failure, StorageFailed):
            with self._lock:
                self._failed = failure

    def _answer_all(self, batch: list[_Waiting], error: ReverieError) -> None:
        _answer_each(batch, [Failed(error)] * len(batch))


def _note_beside(outcome: Done[Any] | Failed, written: Callable[[], None]) -> None:
    """Call `written` if the daemon's own write was committed, else log its failure: the next commit repeats it."""
    if isinstance(outcome, Failed):
        log = logger("reveried.worker")
        log.warning("a write of the daemon itself failed", kind=type(outcome.error).__name__)
    else:
        written()


def _as_storage_failure(error: BaseException) -> ReverieError:
    if isinstance(error, ReverieError):
        return error
    return StorageFailed(
        "The store could not keep the write.", hint="reverie logs; reverie check", kind=type(error).__name__
    )


def _answer_each(batch: Sequence[_Waiting], outcomes: Sequence[Done[Any] | Failed]) -> None:
    """Give each write's future its outcome, with one call for each event loop; a closed loop gets none."""
    answers: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Done[Any]], Done[Any] | Exception]]] = {}
    for waiting, outcome in zip(batch, outcomes, strict=True):
        result = outcome.error if isinstance(outcome, Failed) else outcome
        answers.setdefault(waiting.loop, []).append((waiting.answer, result))
    for loop, resolved in answers.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_resolve_each, resolved)


def _resolve_each(answers: Sequence[tuple[asyncio.Future[Done[Any]], Done[Any] | Exception]]) -> None:
    for answer, result in answers:
        _resolve(answer, result)


def _resolve(answer: asyncio.Future[Any], result: Done[Any] | Exception) -> None:
    if answer.done():  # its loop is shutting down
        return
    if isinstance(result, Exception):
        answer.set_exception(result)
    else:
        answer.set_result(result)
