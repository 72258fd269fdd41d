"""Distilling a thread and learning from it, its summaries, what a model would get, and whether the model answers."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from reverie import wire
from reverie.api.system import System
from reverie.api.threads import Threads
from reverie.decode import mapped
from reverie.errors import ModelFailed
from reverie.language_model.answers import answer_schema, read_answer
from reverie.language_model.requests import ModelMessage, ModelRequest, new_request
from reverie.store import DistillationRecord
from reverie.usecases import distill as use_distill
from reverie.usecases import threads
from reveried.actions import learn
from reveried.http.route import reads, serves
from reveried.models.ask import prepared
from reveried.models.transport import request_tokens
from reveried.routes import jobs
from reveried.routes.pagination import record_page

if TYPE_CHECKING:
    from reverie.language_model.requests import Role
    from reverie.store import Reader
    from reveried.http.types import Call, Reply

OUTPUT_TOKENS = 256  # room for a model that thinks before it answers
SYSTEM = 'You are asked whether you can be reached. Answer with the JSON object {"ok": true} and nothing else.'


@reads(Threads.summaries)
def summaries(reader: Reader, call: Call) -> wire.Page[wire.PastDistillation]:
    """List the structured summaries of the thread, imported ones among them, oldest first."""
    thread = threads.get(reader, call.params["id"])
    return record_page(
        reader,
        call,
        DistillationRecord,
        lambda _, distillation: use_distill.past_answer(distillation),
        prefix=(thread.id,),
        numbered=True,
    )


@serves(Threads.distill)
async def distill_thread(call: Call) -> Reply:
    """Replace the thread's older messages by a summary in its context; the messages themselves stay stored."""
    budget = call.into(wire.DistillRequest).token_budget
    require_thread(call)
    work = partial(learn.distill, call.services, call.by, call.params["id"], token_budget=budget)
    return await jobs.start_job(call, "distill", work)


@serves(Threads.model_requests)
async def model_requests(call: Call) -> wire.ModelRequests:
    """Return the requests to a model that a distillation, or a reflection, would begin with; nothing is sent."""
    require_thread(call)
    reflect = call.query_as(wire.ModelRequestsQuery).reflect
    requests = await learn.model_requests(call.services, call.space, call.params["id"], reflect=reflect)
    items = [
        mapped(
            request,
            wire.ModelRequest,
            messages=[mapped(message, wire.ModelMessage) for message in request.messages],
            tokens=request_tokens(request),
            tools=[msgspec.to_builtins(tool) for tool in request.tools] or wire.ABSENT,
        )
        for request in requests
    ]
    return wire.ModelRequests(kind=call.services.config.distiller.kind, items=items)


@serves(Threads.learn)
@serves(Threads.reflect)
async def learn_thread(call: Call) -> Reply:
    """Learn memories from the thread's messages since the last time; to reflect, a model changes the memory files."""
    reflects = call.path.endswith("/reflect")
    require_thread(call)
    if reflects:
        learn.require_tools(call.services)
    work = partial(learn.learn, call.services, call.by, call.params["id"], reflect=reflects)
    return await jobs.start_job(call, "reflect" if reflects else "learn", work)


def require_thread(call: Call) -> None:
    """Raise NotFound unless the thread exists: before a job starts, or where a list would only be empty."""
    with call.services.store.reader(call.space) as reader:
        threads.get(reader, call.params["id"])


class _Ok(msgspec.Struct, forbid_unknown_fields=True):
    """The answer that is asked for."""

    ok: bool


@serves(
    System.check_distiller, once=True, owner="try the model", hint="run `reverie doctor --model` as the daemon's owner"
)
async def check(call: Call) -> wire.DistillerChecked:
    """Ask each model of the distiller, the cheap one first; this costs the owner money.

    Raises:
        ModelFailed: a model did not answer as it should; the hint says what to change.
    """
    models, settings = call.services.models, call.services.config.distiller
    if models is None:
        return wire.DistillerChecked(engine=settings.kind)
    checked = []
    roles: tuple[Role, ...] = ("cheap", "strong")
    for role in roles:
        began = time.monotonic()
        try:
            request = await prepared(_request(role), models.redactor)
            answer = await models.transport.answer(request, settings.deadline_seconds)
            read_answer(answer, _Ok)
        except ModelFailed as error:
            raise ModelFailed(
                f"The {role} model: {error.message}",
                **{**error.details, "hint": error.hint, "role": role, "engine": settings.kind},
            ) from error
        checked.append(mapped(answer, wire.ModelChecked, role=role, seconds=round(time.monotonic() - began, 3)))
    return wire.DistillerChecked(engine=settings.kind, models=checked)


def _request(role: Role) -> ModelRequest:
    return new_request(
        purpose="check",
        role=role,
        system=SYSTEM,
        messages=[ModelMessage("user", "Can you be reached?")],
        schema=answer_schema(_Ok),
        max_output_tokens=OUTPUT_TOKENS,
        prompt_version="check-1",
    )
