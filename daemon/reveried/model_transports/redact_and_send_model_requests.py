"""Asks the configured model: redacts a request once more, sends it, and returns its answer or failure."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from reverie.errors import ModelFailed
from reverie.language_model.requests_and_answers import ModelRequest, Outcome, ReflectionBounds
from reverie.thread_safe_typed_decoding import convert
from reveried.execute_use_cases import decide
from reveried.keyed_locks_and_shared_waits import keyed_lock
from reveried.log import logger
from reveried.model_transports.transport import COMES_LATER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager

    from reverie.redact import Redactor
    from reveried.config_bounds_and_model_sections import Distiller
    from reveried.model_transports.send_and_await_recoverable_message_batches import Batches
    from reveried.model_transports.transport import ModelTransport
    from reveried.services import Services

__all__ = ["Models", "answered", "one_at_a_time", "prepared", "reflection_bounds"]

AT_ONCE = 2  # requests of the daemon; more would only meet a provider's limits sooner
ROUNDS_MAX = 4  # of questions that depend on answers: extraction, consolidation, and one more of each at a retry


class _Job(Protocol):
    """A snapshot with the outcomes of the requests to a model that deciding it needs."""

    outcomes: dict[str, Outcome] | None


J = TypeVar("J", bound=_Job)


@dataclass(slots=True)
class Models:
    """The configured model: its transport, and the limits of asking it."""

    transport: ModelTransport
    settings: Distiller
    redactor: Redactor
    turns: asyncio.Semaphore
    batches: Batches | None = None  # where requests of scheduled work are sent as batches

    @classmethod
    def of(cls, transport: ModelTransport, settings: Distiller, redactor: Redactor) -> Models:
        """Return a Models that asks over `transport`, with the settings' limits and this redactor."""
        return cls(transport, settings, redactor, asyncio.Semaphore(AT_ONCE))

    @property
    def asks_states(self) -> bool:
        """True if the model is asked for working states: over the API always, by a program only with a cheap model.

        A state is wanted after every turn and within a second, which a program of a subscription is not made for.
        """
        return self.settings.kind == "anthropic" or (
            self.settings.kind == "command" and bool(self.settings.cheap_model)
        )

    async def ask(self, requests: Sequence[ModelRequest], deadline_s: float | None = None) -> dict[str, Outcome]:
        """Return the outcome of each request by its id; a failed one is an outcome too."""
        seconds = self.settings.deadline_seconds if deadline_s is None else deadline_s
        outcomes = await asyncio.gather(*(self._ask_one(request, seconds) for request in requests))
        return {request.id: outcome for request, outcome in zip(requests, outcomes, strict=True)}

    async def _ask_one(self, request: ModelRequest, deadline_s: float) -> Outcome:
        """Send one request, redacted once more; return its answer, or the reason of its failure, as an outcome."""
        async with self.turns:
            try:
                return Outcome(answer=await self.transport.answer(await prepared(request, self.redactor), deadline_s))
            except ModelFailed as error:
                # The message may repeat what a provider or program said, so it is not logged.
                logger("reveried.model_transports").warning(
                    "a model failed", purpose=request.purpose, reason=error.reason
                )
                later = error.details.get(COMES_LATER) is True
                return Outcome(reason=error.reason, message=error.message, later=later)

    async def close(self) -> None:
        """Close the transport."""
        await self.transport.close()


async def prepared(request: ModelRequest, redactor: Redactor) -> ModelRequest:
    """Return a request with its texts redacted once more, right before it is sent."""
    fields = msgspec.to_builtins(request)
    clean, _ = await asyncio.to_thread(redactor.value, [fields["system"], fields["messages"]])
    return convert({**fields, "system": clean[0], "messages": clean[1]}, ModelRequest)


async def answered(services: Services, job: str, snapshot: J, outcomes: dict[str, Outcome], *, bulk: bool) -> J:
    """Ask the model every request that deciding the snapshot needs, and return the snapshot with the answers.

    `job` names the compute job that returns the requests without an outcome. `outcomes` keeps the answers over several
    snapshots: a plan that was stale is made again from the same answers as far as the questions are the same.
    """
    models = services.models
    if models is None:
        return snapshot
    loop = asyncio.get_running_loop()
    bounds = reflection_bounds(services)
    until = loop.time() + bounds.seconds
    for _ in range(ROUNDS_MAX + bounds.steps):
        snapshot.outcomes = outcomes
        open_requests = await decide(services, job, snapshot, list[ModelRequest], bulk=bulk)
        if not open_requests:
            break
        outcomes |= await _asked_in_time(models, open_requests, until - loop.time(), bounds.seconds)
    return snapshot


def reflection_bounds(services: Services) -> ReflectionBounds:
    """Return the bounds of a reflection that the settings name."""
    settings = services.config.reflection
    return ReflectionBounds(settings.max_steps, settings.max_tokens, settings.max_seconds)


async def _asked_in_time(
    models: Models, requests: Sequence[ModelRequest], left_s: float, whole_s: float
) -> dict[str, Outcome]:
    """Return the outcome of each request; turns of a reflection share a deadline, `left_s` seconds from now."""
    turns = [request for request in requests if request.tools]
    others = [request for request in requests if not request.tools]
    if turns and left_s <= 0:
        late = Outcome(reason="timeout", message=f"It was not done within {whole_s:g} seconds.")
        return {**dict.fromkeys((turn.id for turn in turns), late), **await models.ask(others)}
    deadline_s = min(left_s, models.settings.deadline_seconds)
    asked, rest = await asyncio.gather(models.ask(turns, deadline_s), models.ask(others))
    return asked | rest


def one_at_a_time(services: Services, space: str) -> AbstractAsyncContextManager[None]:
    """Return a lock under which one caller per space asks the model; without a model it locks nothing.

    Two at once would ask, and pay for, the same questions: the first to commit makes the other's plan stale.
    """
    return nullcontext() if services.models is None else keyed_lock("model", space)
