"""Deciding, outside the process that serves: a child takes bytes and gives back a plan as bytes.

`Compute` (in the daemon) starts children on need, two at most, so that an import never makes a context wait; a child
dies with its parent and leaves after a minute without work. `python -m reveried.compute` is the child. Frames both
ways: length of the name (1 byte), length of the body (8 bytes, big-endian), name, body. An answer's name is `ok`, or
an error's wire code with the envelope as its body.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import os
import signal
import struct
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import orjson

from reverie.errors import Busy, ReverieError, from_code
from reveried.platform import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["JOBS_MODULE", "Compute", "ComputeFailed", "main"]

JOBS_MODULE = "reverie.usecases.jobs"
HEAD = struct.Struct(">BQ")
OK = b"ok"
FRAME_BYTES_MAX = 1 << 30
BULK_QUEUE = 64
BULK_NICENESS = 10  # bulk work yields the processor to the daemon and to the agents (`man 2 nice`)
STOP_GRACE_S = 2.0
GARBAGE = (100_000, 20, 20)  # a job makes millions of objects and leaves none: looking for garbage took a third of it


class ComputeFailed(ReverieError):
    """The compute process ended, or gave no answer in time. Nothing was decided, and nothing changed."""

    code = "internal_error"
    status = 500
    retry = True


class Jobs(Protocol):
    """A module with the work that a child can do, by name."""

    JOBS: Mapping[str, Callable[[bytes], bytes]]


@dataclass(slots=True)
class _Child:
    """One running compute process and the pipes to it."""

    process: asyncio.subprocess.Process
    idle: asyncio.TimerHandle | None = None


@dataclass(slots=True)
class _Lane:
    """A child that does one job at a time; those who want it wait for the lock in order."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    child: _Child | None = None
    waiting: int = 0
    niceness: int = 0


class Compute:
    """Runs named jobs in children of this process."""

    def __init__(self, *, idle_s: float, timeout_s: float, jobs_module: str = JOBS_MODULE) -> None:
        self._idle_s = idle_s
        self._timeout_s = timeout_s
        self._jobs_module = jobs_module
        self._lanes = {False: _Lane(), True: _Lane(niceness=BULK_NICENESS)}
        self._stopped = False
        self.started = 0
        self.crashed = 0

    async def run(self, job: str, body: bytes, *, bulk: bool = False, timeout_s: float | None = None) -> bytes:
        """The answer of `job` to `body`, decided in a child.

        Raises:
            ComputeFailed: the child crashed or gave no answer in time; the next call gets a new child.
            Busy: too much bulk work waits already, or the daemon is stopping.
            ReverieError: what the job itself raised.
        """
        lane = self._lanes[bulk]
        if self._stopped or lane.waiting >= BULK_QUEUE:
            raise Busy("Too much work waits to be decided.", hint="Try again in a moment.", retryAfter=2)
        lane.waiting += 1
        try:
            async with lane.turn:
                return await self._run_in(lane, job, body, timeout_s or self._timeout_s)
        finally:
            lane.waiting -= 1

    async def close(self) -> None:
        """Ends the children; a job in progress fails."""
        self._stopped = True
        for lane in self._lanes.values():
            await self._end(lane)

    def pids(self) -> list[int]:
        """The process ids of the children that are alive."""
        return [lane.child.process.pid for lane in self._lanes.values() if lane.child is not None]

    async def _run_in(self, lane: _Lane, job: str, body: bytes, timeout_s: float) -> bytes:
        child = await self._child_of(lane)
        try:
            name, answer = await asyncio.wait_for(_ask(child.process, job, body), timeout_s)
        except TimeoutError as error:
            await self._end(lane)
            raise ComputeFailed(f"{job} took longer than {timeout_s:g} s.", hint="Try with less at once.") from error
        except (OSError, EOFError) as error:
            self.crashed += 1
            status = await self._end(lane, gone=True)
            raise ComputeFailed(
                f"The compute process ended during {job}.", hint="Try again; reverie logs.", exitStatus=status
            ) from error
        except asyncio.CancelledError:
            # Half an answer may stand in the pipe: this child cannot be asked again.
            await self._end(lane)
            raise
        child.idle = asyncio.get_running_loop().call_later(self._idle_s, _let_go, child)
        if name == OK:
            return answer
        envelope = orjson.loads(answer)
        raise from_code(envelope["error"], envelope["message"], envelope["details"])

    async def _child_of(self, lane: _Lane) -> _Child:
        """The lane's child, if it is still there; else a new one."""
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
        )

    async def _end(self, lane: _Lane, *, gone: bool = False) -> int | None:
        """Ends the lane's child, unless it is `gone` by itself, and says how it ended."""
        child, lane.child = lane.child, None
        if child is None:
            return None
        if child.idle is not None:
            child.idle.cancel()
        process = child.process
        if process.stdin is not None:
            process.stdin.close()
        # Signalling a child that has ended already would take its exit status away from whoever waits for it.
        if process.returncode is None and not gone:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        try:
            return await asyncio.wait_for(process.wait(), STOP_GRACE_S)
        except TimeoutError:
            process.kill()
            return await process.wait()


async def _ask(process: asyncio.subprocess.Process, job: str, body: bytes) -> tuple[bytes, bytes]:
    """One question and its answer. Raises OSError or EOFError (IncompleteReadError) when the child is gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    name = job.encode()
    process.stdin.write(HEAD.pack(len(name), len(body)) + name)
    process.stdin.write(body)
    await process.stdin.drain()
    name_length, length = HEAD.unpack(await process.stdout.readexactly(HEAD.size))
    return await process.stdout.readexactly(name_length), await process.stdout.readexactly(length)


def _let_go(child: _Child) -> None:
    """A minute without work: the end of its input tells the child to leave."""
    if child.process.stdin is not None:
        child.process.stdin.close()


def _stdin_closed(process: asyncio.subprocess.Process) -> bool:
    return process.stdin is None or process.stdin.is_closing()


def _read_exactly(source: int, size: int) -> bytes:
    """`size` bytes of a pipe; fewer only at its end."""
    pieces = bytearray()
    while len(pieces) < size:
        piece = os.read(source, min(size - len(pieces), 1 << 20))
        if not piece:
            break
        pieces += piece
    return bytes(pieces)


def _write_all(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]


def _answer(jobs: Mapping[str, Callable[[bytes], bytes]], name: str, body: bytes) -> tuple[bytes, bytes]:
    """The frame that answers one question: never an exception, so that one bad job does not end the child."""
    try:
        return OK, jobs[name](body)
    except ReverieError as error:
        envelope = {"error": error.code, "message": error.message, "details": error.details}
    except Exception as error:  # noqa: BLE001 - the edge of the child: what it cannot foresee is told by its kind
        envelope = {
            "error": "internal_error",
            "message": f"{name} failed unexpectedly.",
            "details": {"kind": type(error).__name__, "hint": "reverie logs"},
        }
        print(f"compute: {name}: {type(error).__name__}", file=sys.stderr)  # noqa: T201 - goes to the daemon's log
    return str(envelope["error"]).encode(), orjson.dumps(envelope, default=str)


def main(arguments: list[str], *, source: int = 0, target: int = 1) -> int:
    """The child: answers frames from `source` on `target` until its input ends."""
    jobs_module, parent, niceness = arguments
    os.nice(int(niceness))
    if int(parent):
        die_with_parent(signal.SIGKILL, int(parent))
    # A terminal's interrupt goes to the whole group; the daemon decides when its children end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    jobs: Jobs = importlib.import_module(jobs_module)
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    while len(head := _read_exactly(source, HEAD.size)) == HEAD.size:
        name_length, length = HEAD.unpack(head)
        if length > FRAME_BYTES_MAX:
            return 2
        name = _read_exactly(source, name_length).decode()
        body = _read_exactly(source, length)
        if len(body) < length:
            break
        answer_name, answer = _answer(jobs.JOBS, name, body)
        _write_all(target, HEAD.pack(len(answer_name), len(answer)) + answer_name + answer)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
