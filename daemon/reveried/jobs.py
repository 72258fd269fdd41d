"""Long work by name: started, followed, waited for and cancelled; a few at a time, the finished ones remembered."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from reverie.errors import Busy, NotFound, ReverieError
from reverie.ids import new_id
from reveried.http.messages import envelope_of
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from reverie.models import Json

__all__ = ["Job", "Jobs", "Progress"]

RUNNING_MAX = 64
REMEMBERED_MAX = 1000
ID_RANDOM_BYTES = 10

State = Literal["running", "done", "failed", "cancelled"]


@dataclass(slots=True)
class Job:
    """One piece of long work. `progress` is 0..1."""

    id: str
    space: str
    kind: str
    created_at: str
    state: State = "running"
    progress: float = 0.0
    result: Json = None
    failure: ReverieError | None = None
    finished_at: str | None = None

    def public(self) -> dict[str, Json]:
        """As the wire shows it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "state": self.state,
            "progress": round(self.progress, 4),
            "result": msgspec.to_builtins(self.result),
            "error": envelope_of(self.failure) if self.failure is not None else None,
            "createdAt": self.created_at,
            "finishedAt": self.finished_at,
        }


class Progress:
    """What a job's work is given to say how far it is."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def at(self, share: float) -> None:
        """`share` of the work is done, 0 to 1; it never goes back."""
        self._job.progress = min(1.0, max(self._job.progress, share))


class Jobs:
    """All long work of this process.

    What a job changed is in the store; the job itself is not kept across a restart: a caller that asks for it then
    gets 404 and starts it again, which is safe with an idempotency key.
    """

    def __init__(self, *, clock: Callable[[], str], now_ms: Callable[[], int], random: Callable[[int], bytes]) -> None:
        self._clock = clock
        self._now_ms = now_ms
        self._random = random
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, space: str, kind: str, work: Callable[[Progress], Awaitable[Json]]) -> Job:
        """Begins `work` and gives its job.

        Raises:
            Busy: too many jobs run.
        """
        if len(self._tasks) >= RUNNING_MAX:
            raise Busy("Too many jobs run.", hint="Wait for one, or cancel one.", retryAfter=5)
        job = Job(new_id("job", self._now_ms(), self._random(ID_RANDOM_BYTES)), space, kind, self._clock())
        self._jobs[job.id] = job
        self._forget()
        task = asyncio.get_running_loop().create_task(_run(job, work))
        self._tasks[job.id] = task
        task.add_done_callback(lambda ended: self._finish(job, ended))
        return job

    def get(self, space: str, job_id: str) -> Job:
        """The job, if it is of this space.

        Raises:
            NotFound: no such job here; other spaces' jobs read the same.
        """
        job = self._jobs.get(job_id)
        if job is None or job.space != space:
            raise NotFound("There is no such job.", hint="Jobs are forgotten when the daemon restarts.")
        return job

    def list(self, space: str) -> list[Job]:
        """The jobs of this space, oldest first."""
        return [job for job in self._jobs.values() if job.space == space]

    async def wait(self, job: Job) -> Json:
        """The result, when it is there. The job goes on when its caller leaves.

        Raises:
            ReverieError: what the work raised; Busy when it was cancelled.
        """
        task = self._tasks.get(job.id)
        if task is not None:
            await asyncio.wait((task,))
        if job.failure is not None:
            raise job.failure
        return job.result

    async def cancel(self, space: str, job_id: str) -> Job:
        """Ends the job; what it has committed stays.

        Raises:
            NotFound: no such job here.
        """
        job = self.get(space, job_id)
        task = self._tasks.get(job.id)
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))
        return job

    @property
    def running(self) -> int:
        """How many run now."""
        return len(self._tasks)

    async def close(self, seconds: float) -> None:
        """Gives running jobs `seconds` to end, then cancels them."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks.values(), timeout=seconds)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    def _finish(self, job: Job, task: asyncio.Task[None]) -> None:
        """The task has ended; one that was cancelled before its first step has said nothing of it."""
        if task.cancelled():
            job.state, job.failure = "cancelled", Busy("The job was cancelled.", hint="Start it again.")
        job.finished_at = self._clock()
        self._tasks.pop(job.id, None)

    def _forget(self) -> None:
        """Keeps the newest finished ones."""
        finished = [job.id for job in self._jobs.values() if job.state != "running"]
        for job_id in finished[: max(0, len(finished) - REMEMBERED_MAX)]:
            del self._jobs[job_id]


async def _run(job: Job, work: Callable[[Progress], Awaitable[Json]]) -> None:
    try:
        job.result = await work(Progress(job))
        job.state, job.progress = "done", 1.0
    except ReverieError as error:
        job.state, job.failure = "failed", error
    except Exception as error:  # noqa: BLE001 - the edge of a job: what nobody foresaw is told by its kind
        logger("reveried.jobs").error("a job failed unexpectedly", job=job.kind, exc_info=error)
        job.state, job.failure = "failed", ReverieError("The job failed unexpectedly.", hint="reverie logs")
