"""Asks the configured model: redacts a request once more, sends it, and returns its answer or failure."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from reverie.decode import convert
from reverie.errors import ModelFailed
from reverie.language_model.requests import ModelRequest, Outcome
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.redact import Redactor
    from reveried.config import Distiller
    from reveried.models.transport import ModelTransport

AT_ONCE = 2  # requests of the daemon; more would only meet a provider's limits sooner


@dataclass(slots=True)
class Models:
    """The configured model: its transport, and the limits of asking it."""

    transport: ModelTransport
    settings: Distiller
    redactor: Redactor
    turns: asyncio.Semaphore

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
                logger("reveried.models").warning("a model failed", purpose=request.purpose, reason=error.reason)
                return Outcome(reason=error.reason, message=error.message)

    async def ask_in_time(self, requests: Sequence[ModelRequest], left_s: float, whole_s: float) -> dict[str, Outcome]:
        """Return the outcome of each request; turns of a reflection share a deadline, `left_s` seconds from now."""
        turns = [request for request in requests if request.tools]
        others = [request for request in requests if not request.tools]
        if turns and left_s <= 0:
            late = Outcome(reason="timeout", message=f"It was not done within {whole_s:g} seconds.")
            return {**dict.fromkeys((turn.id for turn in turns), late), **await self.ask(others)}
        deadline_s = min(left_s, self.settings.deadline_seconds)
        asked, rest = await asyncio.gather(self.ask(turns, deadline_s), self.ask(others))
        return asked | rest

    async def close(self) -> None:
        """Close the transport."""
        await self.transport.close()


async def prepared(request: ModelRequest, redactor: Redactor) -> ModelRequest:
    """Return a request with its texts redacted once more, right before it is sent."""
    fields = msgspec.to_builtins(request)
    clean, _ = await asyncio.to_thread(redactor.value, [fields["system"], fields["messages"]])
    return convert({**fields, "system": clean[0], "messages": clean[1]}, ModelRequest)
