"""`/v1/jobs`: long work, followed, waited for and cancelled; and how a route answers with one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.wire import Job as WireJob
from reveried.http.call import Reply
from reveried.http.routing import Route

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from reverie.models import Json
    from reveried.http.call import Call
    from reveried.jobs import Progress

__all__ = ["ROUTES", "answer"]


async def answer(call: Call, kind: str, work: Callable[[Progress], Awaitable[Json]]) -> Reply:
    """Starts long work: 202 with the job, or with `?wait=true` its result."""
    job = call.services.jobs.start(call.space, kind, work)
    if call.flag("wait"):
        return Reply(await call.services.jobs.wait(job))
    return Reply({"job": job.id}, status=202, headers={"location": f"/v1/jobs/{job.id}"})


async def list_jobs(call: Call) -> Reply:
    """The jobs that this daemon remembers."""
    limit = call.limit()
    after = call.query.get("after")
    jobs = call.services.jobs.list(call.space)
    if after is not None:
        jobs = [job for job in jobs if job.id > after]
    page = jobs[:limit]
    following = page[-1].id if len(jobs) > len(page) else None
    return Reply({"items": [job.public() for job in page], "next": following})


async def get_job(call: Call) -> Reply:
    """How far one job is, and its result."""
    return Reply(call.services.jobs.get(call.space, call.params["id"]).public())


async def cancel_job(call: Call) -> Reply:
    """Ends one job."""
    job = await call.services.jobs.cancel(call.space, call.params["id"])
    return Reply(job.public())


ROUTES = (
    Route("GET", "/v1/jobs", list_jobs, "Jobs that the daemon remembers, oldest first.", query=("limit", "after")),
    Route("GET", "/v1/jobs/{id}", get_job, "How far a job is, and its result.", gives=WireJob),
    Route("DELETE", "/v1/jobs/{id}", cancel_job, "Ends a job; what it has committed stays.", gives=WireJob),
)
