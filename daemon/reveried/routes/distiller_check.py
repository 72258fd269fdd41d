"""A check of the chosen distiller: one tiny request to each of its models, counted like every other."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from reverie import wire
from reverie.errors import Forbidden, ModelFailed
from reverie.language_model.answers import answer_schema, read_answer
from reverie.language_model.requests import ModelMessage, ModelRequest, new_request
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.model_transports.ask_model import prepared
from reveried.use_case_runner import answer_once

if TYPE_CHECKING:
    from reverie.language_model.requests import Role
    from reveried.http.call import Call
    from reveried.services import Services

__all__ = ["ROUTES"]

SPOOL_WAITS_S = (
    1.0  # a person answers a spool, or another machine at night: that its folder can be written is what counts
)
OUTPUT_TOKENS = 256  # room for a model that thinks before it answers
SYSTEM = 'You are asked whether you can be reached. Answer with the JSON object {"ok": true} and nothing else.'


class _Ok(msgspec.Struct, forbid_unknown_fields=True):
    """The answer that is asked for."""

    ok: bool


async def check(call: Call) -> Reply:
    """Ask each model of the distiller once, and return how long it took and what it used.

    Raises:
        Forbidden: a token; requests to a model cost the owner money.
        ModelFailed: a model did not answer as it should; the hint says what to change.
    """
    if not call.is_owner:
        raise Forbidden("a token may not try the model", hint="run `reverie doctor --model` as the daemon's owner")
    work = partial(_check, call.services)
    return Reply(await answer_once(call.services, call.space, call.idempotency, work, wire.DistillerChecked))


async def _check(services: Services) -> wire.DistillerChecked:
    """Ask each model of the distiller, the cheap one first."""
    models, settings = services.models, services.config.distiller
    if models is None:
        return wire.DistillerChecked(engine=settings.kind)
    checked = []
    deadline_s = SPOOL_WAITS_S if settings.kind == "spool" else settings.deadline_seconds
    roles: tuple[Role, ...] = ("cheap", "strong")
    for role in roles:
        began = time.monotonic()
        try:
            answer = await models.transport.answer(await prepared(_request(role), models.redactor), deadline_s)
            read_answer(answer, _Ok)
        except ModelFailed as error:
            raise ModelFailed(
                f"The {role} model: {error.message}",
                **{**error.details, "hint": error.hint, "role": role, "engine": settings.kind},
            ) from error
        checked.append(
            wire.ModelChecked(
                role=role,
                model=answer.model,
                seconds=round(time.monotonic() - began, 3),
                input_tokens=answer.input_tokens,
                output_tokens=answer.output_tokens,
            )
        )
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


ROUTES = (
    Route(
        "POST",
        "/v1/distiller/check",
        check,
        "Asks each model of the distiller once; answers how long it took and what it used.",
        answer=wire.DistillerChecked,
    ),
)
