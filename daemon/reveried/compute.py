"""The compute process: a child that decides plans, from a snapshot as bytes to a plan as bytes, outside the server.

`Compute` (in the daemon) starts children on demand, at most two: one for agents and one for bulk work, so that an
import never delays a context. A child ends with its parent, and after a minute without work. The child itself is
`python -m reveried.compute`.

Starting a child takes a second, and a child as much memory again as the daemon. So while a lane has none, a job on few
bytes is run in a thread of the daemon, which has the modules for it loaded anyway. Most agents never need a child.

Frames in both directions: length of the name (1 byte), length of the body (8 bytes, big-endian), name, body.
A request's name is the job; a response's name is `ok`, or an error's wire code with the error envelope as its body.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import os
import select
import signal
import struct
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import msgspec
import orjson

from reverie.decode import from_json
from reverie.errors import Busy, ReverieError, failure_of, from_code
from reveried.linux import die_with_parent, release_memory
from reveried.locks import finish_before_cancel
from reveried.ram import LARGE_BYTES, QUIET_S, after_work

JOBS_MODULE = "reverie.usecases.compute_jobs"
# These cost some microseconds for each entry, and no more.
SMALL_JOBS = frozenset({"state", "context", "context-text", "compaction", "messages", "outline"})
HEAD = struct.Struct(">BQ")
OK = b"ok"
PIECE_BYTES = 1 << 20
FRAME_BYTES_MAX = 1 << 30
# Of a small job: a few hundred messages, some ten milliseconds of a thread beside the event loop.
SMALL_BYTES = 128 * 1024
COLD_BYTES = 1 << 20  # of a job that is not made to wait for a new child: that is started beside it, for the next one
BULK_QUEUE = 64  # calls that may wait in one lane
BULK_NICENESS = 10  # bulk work yields the processor to the daemon and to agents (`man 2 nice`)
STOP_GRACE_S = 2.0  # between SIGTERM and SIGKILL
# A job creates millions of objects and leaves no cycles: with the default thresholds a third of it was collection.
GC_THRESHOLDS = (100_000, 20, 20)


class ComputeFailed(ReverieError):
    """The compute process ended, or did not answer in time. Nothing was decided, and nothing changed."""

    code = "internal_error"
    status = 500
    retry = True


class _GarbageError(OSError):
    """The bytes that a child wrote are not a response."""


class _Envelope(msgspec.Struct):
    """The body of a child's response that is an error."""

    error: str
    message: str
    details: dict[str, object]


class Jobs(Protocol):
    """The interface of a module of jobs: functions from bytes to bytes by name, and a way to clear caches."""

    JOBS: Mapping[str, Callable[[bytes], bytes]]

    def clear_caches(self) -> None:
        """Free what the last job cached; called after each job that ran in a thread of the daemon's own process."""


@dataclass(slots=True)
class _Child:
    """A running compute process with its pipes, and the timer that ends it when it is idle."""

    process: asyncio.subprocess.Process
    idle: asyncio.TimerHandle | None = None


@dataclass(slots=True)
class _Lane:
    """A queue of calls for one child, which runs one job at a time; the lock is fair."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    child: _Child | None = None
    waiting: int = 0
    niceness: int = 0


class Compute:
    """Runs jobs in two child processes, each with a queue: one for agents, one (`bulk`) for background work."""

    def __init__(
        self,
        *,
        idle_s: float,
        timeout_s: float,
        jobs_module: str = JOBS_MODULE,
        small_jobs: Collection[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`small_jobs` are the names of the jobs that a thread of this process may run while there is no child.

        `env` is the environment of the children; None: that of this process.
        """
        self._env = env
        self._small_jobs = small_jobs
        self._in_thread = asyncio.Lock()  # jobs share caches, so one runs at a time
        self._warming: set[asyncio.Task[None]] = set()
        self._idle_s = idle_s
        self._timeout_s = timeout_s
        self._jobs_module = jobs_module
        self._lanes = {False: _Lane(), True: _Lane(niceness=BULK_NICENESS)}
        self._stopped = False
        self.started = 0
        self.crashed = 0

    async def run(self, job: str, body: bytes, *, bulk: bool = False, timeout_s: float | None = None) -> bytes:
        """Run `job` on `body` in a child, and return its answer.

        Raises:
            ComputeFailed: the child crashed or did not answer in time; the next call gets a new child.
            Busy: BULK_QUEUE calls wait in the lane already, or the daemon is stopping.
            ReverieError: what the job itself raised.
        """
        lane = self._lanes[bulk]
        if self._stopped or lane.waiting >= BULK_QUEUE:
            raise Busy("Too much work waits to be decided.", hint="Try again in a moment.", retryAfter=2)
        lane.waiting += 1
        try:
            if job in self._small_jobs and len(body) <= COLD_BYTES and not _is_alive(lane):
                return await self._run_cold(lane, job, body)
            async with lane.lock:
                return await self._run_in(lane, job, body, timeout_s or self._timeout_s)
        finally:
            lane.waiting -= 1
            after_work(len(body))

    async def close(self) -> None:
        """End the children; a job in progress fails."""
        self._stopped = True
        await asyncio.gather(*self._warming, return_exceptions=True)
        for lane in self._lanes.values():
            await self._end(lane)

    def pids(self) -> list[int]:
        """Return the process ids of the children that run."""
        children = (lane.child for lane in self._lanes.values())
        return [child.process.pid for child in children if child is not None and child.process.returncode is None]

    def prepare(self) -> None:
        """Start the child for agents in the background; if it runs and is idle, restart its idle timer."""
        lane = self._lanes[False]
        if self._stopped:
            return
        child = lane.child
        if child is None or not _is_alive(lane):
            self._warm_up(lane)
        elif child.idle is not None:
            child.idle.cancel()
            child.idle = asyncio.get_running_loop().call_later(self._idle_s, _close_input, child)

    async def _run_cold(self, lane: _Lane, job: str, body: bytes) -> bytes:
        """Return a job's answer, run in this process while its queue has no child; a large job starts the child.

        The child starts once the job is done, as both want the processor, unless other jobs wait for one.
        """
        is_large = len(body) > SMALL_BYTES
        if is_large and lane.waiting > 1:
            self._warm_up(lane)
        try:
            async with self._in_thread:
                ran = asyncio.to_thread(_run_once, self._jobs_module, job, body)
                return _unwrapped(*await finish_before_cancel(ran))
        finally:
            if is_large and not self._stopped and not _is_alive(lane):
                self._warm_up(lane)

    def _warm_up(self, lane: _Lane) -> None:
        """Start the child of a queue in the background, unless one is being started or a job is being run."""
        if self._warming or lane.lock.locked():
            return
        task = asyncio.get_running_loop().create_task(self._start_child(lane))
        self._warming.add(task)
        task.add_done_callback(self._warming.discard)

    async def _start_child(self, lane: _Lane) -> None:
        async with lane.lock:
            if not _is_alive(lane):
                child = await self._child_of(lane)
                child.idle = asyncio.get_running_loop().call_later(self._idle_s, _close_input, child)

    async def _run_in(self, lane: _Lane, job: str, body: bytes, timeout_s: float) -> bytes:
        child = await self._child_of(lane)
        try:
            name, answer = await asyncio.wait_for(_request(child.process, job, body), timeout_s)
        except TimeoutError as error:
            await self._end(lane)
            raise ComputeFailed(f"{job} took longer than {timeout_s:g} s.", hint="Try with less at once.") from error
        except (OSError, EOFError) as error:
            # It ended; or what it wrote is no response, and then nothing more that it writes can be read.
            self.crashed += 1
            status = await self._end(lane, gone=not isinstance(error, _GarbageError))
            from reveried.log import logger  # noqa: PLC0415 - the child, which has this module too, logs nothing

            logger("reveried.compute").error("the compute process ended", job=job, exit_status=status, why=str(error))
            raise ComputeFailed(
                f"The compute process ended during {job}.", hint="Try again; reverie logs.", exitStatus=status
            ) from error
        except asyncio.CancelledError:
            # Half of an answer may be in the pipe, and would be read as the next one: this child cannot be used again.
            await self._end(lane)
            raise
        child.idle = asyncio.get_running_loop().call_later(self._idle_s, _close_input, child)
        return _unwrapped(name, answer)

    async def _child_of(self, lane: _Lane) -> _Child:
        """Return the child that runs this queue's jobs, or a newly started one if it has ended."""
        child = lane.child
        if child is not None and child.idle is not None:
            child.idle.cancel()
            child.idle = None
            if child.process.returncode is None and not _stdin_closed(child.process):
                return child
            await self._end(lane)
        lane.child = _Child(await self._spawn(lane.niceness))
        self.started += 1
        return lane.child

    async def _spawn(self, niceness: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "reveried.compute",
            self._jobs_module,
            str(os.getpid()),
            str(niceness),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=1 << 20,
            env=self._env,
        )

    async def _end(self, lane: _Lane, *, gone: bool = False) -> int | None:
        """End the child of a queue, unless it has ended by itself (`gone`), and return its exit status."""
        child, lane.child = lane.child, None
        if child is None:
            return None
        if child.idle is not None:
            child.idle.cancel()
        process = child.process
        if process.stdin is not None:
            process.stdin.close()
        # Signalling a child that has just ended could reap it here, and its exit status would be lost for `wait`.
        if process.returncode is None and not gone:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        try:
            return await asyncio.wait_for(process.wait(), STOP_GRACE_S)
        except TimeoutError:
            process.kill()
            return await process.wait()


def _is_alive(lane: _Lane) -> bool:
    child = lane.child
    return child is not None and child.process.returncode is None and not _stdin_closed(child.process)


def _run_once(jobs_module: str, job: str, body: bytes) -> tuple[bytes, bytes]:
    """Run a job in the calling thread as a child would, then clear the jobs' caches; return name and body."""
    jobs: Jobs = importlib.import_module(jobs_module)
    try:
        return _answer(jobs.JOBS, job, body)
    finally:
        jobs.clear_caches()


def _unwrapped(name: bytes, answer: bytes) -> bytes:
    """Return the body of a successful response. Raises the error that any other response describes."""
    if name == OK:
        return answer
    envelope = orjson.loads(answer)
    raise from_code(envelope["error"], envelope["message"], envelope["details"])


async def _request(process: asyncio.subprocess.Process, job: str, body: bytes) -> tuple[bytes, bytes]:
    """Send one request and return the response's name and body; OSError or EOFError where the child is gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    name = job.encode()
    process.stdin.write(HEAD.pack(len(name), len(body)) + name)
    view = memoryview(body)
    for start in range(
        0, len(body), PIECE_BYTES
    ):  # in pieces: the transport would copy all that the pipe does not take
        process.stdin.write(view[start : start + PIECE_BYTES])
        await process.stdin.drain()
    name_length, length = HEAD.unpack(await process.stdout.readexactly(HEAD.size))
    if length > FRAME_BYTES_MAX:
        raise _GarbageError("a frame is too long")
    name_bytes, answer = await process.stdout.readexactly(name_length), await process.stdout.readexactly(length)
    if name_bytes != OK:
        try:
            from_json(answer, _Envelope)
        except ValueError as error:
            raise _GarbageError("a response is no error envelope") from error
    return name_bytes, answer


def _close_input(child: _Child) -> None:
    """Close the input of an idle child, which then ends."""
    if child.process.stdin is not None:
        child.process.stdin.close()


def _stdin_closed(process: asyncio.subprocess.Process) -> bool:
    return process.stdin is None or process.stdin.is_closing()


def _read_exactly(source: int, size: int) -> bytes:
    """Return `size` bytes of a pipe; fewer only at its end."""
    data = memoryview(bytearray(size))
    begin = 0
    while begin < size and (count := os.readv(source, [data[begin:]])):
        begin += count
    return bytes(data[:begin])


def _write_all(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]


def _answer(jobs: Mapping[str, Callable[[bytes], bytes]], name: str, body: bytes) -> tuple[bytes, bytes]:
    """Return a response's name and body; an exception of the job becomes a response too, so the child survives it."""
    try:
        return OK, jobs[name](body)
    except ReverieError as error:
        envelope = {"error": error.code, "message": error.message, "details": error.details}
    except BaseException as error:  # noqa: BLE001 - an unexpected error is answered by its kind; its message may contain a caller's words
        failure_of(error)
        details = {"kind": type(error).__name__, "hint": "reverie logs"}
        envelope = {"error": "internal_error", "message": f"{name} failed unexpectedly.", "details": details}
        print(f"compute: {name}: {type(error).__name__}", file=sys.stderr)  # noqa: T201 - goes to the daemon's log
    return str(envelope["error"]).encode(), orjson.dumps(envelope, default=str)


def main(arguments: list[str], *, source: int = 0, target: int = 1) -> int:
    """Run the child: answer requests from `source` on `target` until the input ends; return the exit status."""
    jobs_module, parent, niceness = arguments
    os.nice(int(niceness))
    if int(parent):
        die_with_parent(signal.SIGKILL, int(parent))
    # Ctrl-C in a terminal signals the whole process group, but the daemon decides when its children end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    jobs: Jobs = importlib.import_module(jobs_module)
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    was_large = False  # a job since memory was given back
    while True:
        # Not between two large jobs: what is given back costs the next one more time than its own work on it.
        if was_large and not select.select([source], [], [], QUIET_S)[0]:
            release_memory()
            was_large = False
        if len(head := _read_exactly(source, HEAD.size)) < HEAD.size:
            return 0
        name_length, length = HEAD.unpack(head)
        if length > FRAME_BYTES_MAX:
            return 2
        name = _read_exactly(source, name_length).decode()
        body = _read_exactly(source, length)
        if len(body) < length:
            return 0
        answer_name, answer = _answer(jobs.JOBS, name, body)
        _write_all(target, HEAD.pack(len(answer_name), len(answer)) + answer_name + answer)
        del body, answer
        was_large = was_large or length >= LARGE_BYTES


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
