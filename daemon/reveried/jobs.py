"""Jobs: long work that is started, observed, awaited and cancelled; at most 64 at a time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from reverie import wire
from reverie.decode import mapped
from reverie.errors import Busy, Conflict, NotFound, ReverieError, failure_of
from reverie.ids import ID_RANDOM_BYTES, new_id
from reveried.http.message import envelope_of
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from reverie.models import Json

RUNNING_MAX = 64
REMEMBERED_MAX = 250  # finished jobs whose result can still be read

State = Literal["running", "done", "failed", "cancelled"]


@dataclass(slots=True)
class Job:
    """The state of one job; `who` began it, an agent or `owner`."""

    id: str
    space: str
    kind: str
    created_at: str
    who: str = "owner"
    state: State = "running"
    result: Json = None
    failure: ReverieError | None = None
    finished_at: str | None = None

    def answer(self) -> wire.Job:
        """Return the job as the API answers it."""
        return mapped(
            self,
            wire.Job,
            progress=float(self.state == "done"),
            error=envelope_of(self.failure) if self.failure is not None else None,
        )


class Jobs:
    """The jobs of this process.

    What a job commits is in the store, but the job itself is only in memory: after a restart a caller that asks for it
    gets 404 and starts it again, which is safe with an idempotency key.
    """

    def __init__(self, *, clock: Callable[[], str], now_ms: Callable[[], int], random: Callable[[int], bytes]) -> None:
        self._clock = clock
        self._now_ms = now_ms
        self._random = random
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._by_key: dict[tuple[str, str], tuple[str, str]] = {}  # space and idempotency key: request, and job's id

    def start(
        self,
        space: str,
        kind: str,
        work: Callable[[], Awaitable[Json]],
        idempotency: tuple[str, str] | None = None,
        *,
        who: str = "owner",
    ) -> Job:
        """Start `work` and return its job; a repeated request gets the job of the first one, unless that failed.

        Raises:
            Busy: too many jobs run.
            Conflict: the idempotency key was used for another request.
        """
        if (first := self._started_before(space, idempotency)) is not None:
            return first
        if len(self._tasks) >= RUNNING_MAX:
            raise Busy("Too many jobs run.", hint="Wait for one, or cancel one.", retryAfter=5)
        job = Job(new_id("job", self._now_ms(), self._random(ID_RANDOM_BYTES)), space, kind, self._clock(), who)
        self._jobs[job.id] = job
        if idempotency is not None:
            key, request = idempotency
            self._by_key[space, key] = request, job.id
        self._forget()
        task = asyncio.get_running_loop().create_task(_run(job, work))
        self._tasks[job.id] = task
        task.add_done_callback(lambda ended: self._finish(job, ended))
        return job

    def _started_before(self, space: str, idempotency: tuple[str, str] | None) -> Job | None:
        """Return the running or finished job of this idempotency key, or None. Raises Conflict."""
        if idempotency is None:
            return None
        key, request = idempotency
        first, job_id = self._by_key.get((space, key), (request, ""))
        if first != request:
            raise Conflict(
                "this idempotency key was used for another request", hint="use a new key for each different request"
            )
        job = self._jobs.get(job_id)
        return job if job is not None and job.state in ("running", "done") else None

    def get(self, space: str, job_id: str) -> Job:
        """Return a job of this space by its id. Raises NotFound.

        Raises:
            NotFound: no such job in this space; a job of another space gives the same error.
        """
        job = self._jobs.get(job_id)
        if job is None or job.space != space:
            raise NotFound("There is no such job.", hint="Jobs are forgotten when the daemon restarts.")
        return job

    def list(self, space: str) -> list[Job]:
        """Return the jobs of this space, oldest first."""
        return [job for job in self._jobs.values() if job.space == space]

    async def wait(self, job: Job) -> Json:
        """Wait for a job and return its result; a cancelled caller does not cancel the job.

        Raises:
            ReverieError: what the work raised; Busy when it was cancelled.
        """
        task = self._tasks.get(job.id)
        if task is not None:
            await asyncio.wait((task,))
        if job.failure is not None:
            raise _without_frames(job.failure)
        return job.result

    def forget(self, space: str, holds: Callable[[Json], bool]) -> None:
        """Drop the results of the finished jobs of a space for which `holds` is true, with the jobs."""
        for job in self.list(space):
            if job.state != "running" and holds(job.result):
                del self._jobs[job.id]

    async def cancel(self, space: str, job_id: str) -> Job:
        """Cancel a job; what it has committed stays.

        Raises:
            NotFound: no such job in this space.
        """
        job = self.get(space, job_id)
        task = self._tasks.get(job.id)
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))
        return job

    @property
    def running(self) -> int:
        """Return the number of running jobs."""
        return len(self._tasks)

    def described(self) -> str:
        """Return what runs, for a person who waits for its end: `2 jobs (dream, import)`."""
        kinds = sorted({job.kind for job in self._jobs.values() if job.state == "running"})
        return f"{len(self._tasks)} job{'s' if len(self._tasks) != 1 else ''} ({', '.join(kinds)})" if kinds else "jobs"

    async def close(self, seconds: float) -> None:
        """Wait up to `seconds` for running jobs, then cancel them."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks.values(), timeout=seconds)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    def _finish(self, job: Job, task: asyncio.Task[None]) -> None:
        """Set the end time of a job whose task has ended, and its state if it was cancelled.

        A task that was cancelled before its first step has run nothing of `_run`, so the state is set here.
        """
        if task.cancelled():
            job.state, job.failure = "cancelled", Busy("The job was cancelled.", hint="Start it again.")
        job.finished_at = self._clock()
        self._tasks.pop(job.id, None)

    def _forget(self) -> None:
        """Drop the oldest finished jobs beyond REMEMBERED_MAX."""
        finished = [job.id for job in self._jobs.values() if job.state != "running"]
        for job_id in finished[: max(0, len(finished) - REMEMBERED_MAX)]:
            del self._jobs[job_id]
        if len(self._by_key) > 2 * (REMEMBERED_MAX + RUNNING_MAX):
            self._by_key = {key: entry for key, entry in self._by_key.items() if entry[1] in self._jobs}


def _without_frames(error: ReverieError) -> ReverieError:
    """Return a new error of the same type and content, without a traceback.

    A traceback refers to every frame that it passed, with snapshots and requests in their variables: an error that is
    remembered with the job, and raised again for each caller, would keep all of them in memory.
    """
    same = type(error).__new__(type(error), *error.args)
    same.__dict__.update(error.__dict__)
    return same


async def _run(job: Job, work: Callable[[], Awaitable[Json]]) -> None:
    """Run the work of a job and record its result or failure."""
    try:
        job.result = await work()
        job.state = "done"
    except ReverieError as error:
        job.state, job.failure = "failed", _without_frames(error)
    except BaseException as error:  # noqa: BLE001 - an unexpected error fails the job, not the daemon
        failure_of(error)
        logger("reveried.jobs").error("a job failed unexpectedly", job=job.kind, exc_info=error)
        job.state, job.failure = "failed", ReverieError("The job failed unexpectedly.", hint="reverie logs")
