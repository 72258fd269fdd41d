"""`/v1/jobs`: list, read and cancel jobs; and the reply of a route that starts one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import wire
from reverie.api.system import System
from reverie.errors import Forbidden
from reveried.execute import stored_answer
from reveried.http.route import serves
from reveried.http.types import Reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from reverie.models import Json
    from reveried.http.types import Call


async def start_job(call: Call, kind: str, work: Callable[[], Awaitable[Json]]) -> Reply:
    """Start a job; reply with 202 and its id, or with `?wait=true` with its result.

    Raises:
        Conflict: the idempotency key was used for another request.
    """
    await stored_answer(call.services, call.space, call.idempotency)
    job = call.services.jobs.start(call.space, kind, work, call.idempotency, who=call.who)
    if call.query_as(wire.WaitQuery).wait:
        return Reply(await call.services.jobs.wait(job))
    return Reply(wire.JobAccepted(job=job.id), status=202, headers={"location": f"/v1/jobs/{job.id}"})


@serves(System.jobs)
async def list_jobs(call: Call) -> wire.Page[wire.Job]:
    """List the jobs that this process has started, oldest first."""
    query = call.query_as(wire.ListQuery)
    jobs = call.services.jobs.list(call.space)
    if query.after is not None:
        jobs = [job for job in jobs if job.id > query.after]
    page = jobs[: query.limit]
    cursor = page[-1].id if len(jobs) > len(page) else None
    return wire.Page(items=[job.answer() for job in page], next=cursor)


@serves(System.job)
async def get_job(call: Call) -> wire.Job:
    """Return a job with its progress and result."""
    return call.services.jobs.get(call.space, call.params["id"]).answer()


@serves(System.cancel_job)
async def cancel_job(call: Call) -> wire.Job:
    """Cancel a job; an agent's token cancels those that the agent began alone."""
    if call.agent is not None and call.services.jobs.get(call.space, call.params["id"]).who != call.agent:
        raise Forbidden(
            "an agent's token cancels only jobs that it began", hint="a person cancels it, without the agent's token"
        )
    job = await call.services.jobs.cancel(call.space, call.params["id"])
    return job.answer()
