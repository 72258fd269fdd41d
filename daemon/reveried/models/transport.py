"""The interface of a transport, which sends one request to a language model and returns the words of its answer.

A transport is one module here: `command`, `anthropic`. The daily ceiling and the ledger are the same for all
of them and wrap the chosen one: `meter`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from reverie import tokenizer
from reverie.errors import ModelFailed
from reverie.language_model.requests import message_text

if TYPE_CHECKING:
    from reverie.language_model.requests import ModelAnswer, ModelRequest

NOT_SENT: Final = "notSent"
"""A detail of ModelFailed that is true where the provider has seen nothing of the request: it does not count."""


class ModelTransport(Protocol):
    """Sends requests to a model. One object serves the whole daemon; calls may run at the same time.

    A transport does not redact, does not read the answer, and writes no request, answer or credential to the log.
    """

    async def answer(self, request: ModelRequest, deadline_s: float) -> ModelAnswer:
        """Return the answer to `request` within `deadline_s` seconds from now, retries included.

        Cancelling the call ends whatever it started: processes, connections.

        Raises:
            ModelFailed: with `reason` (see there), and `retry_after` seconds where the provider named them.
        """
        ...

    async def close(self) -> None:
        """End every process and connection of the transport."""
        ...


def request_tokens(request: ModelRequest) -> int:
    """Return the tokens of a request's texts, in o200k_base; tokens that a provider adds do not count."""
    tools = tokenizer.count(msgspec.json.encode(request.tools).decode()) if request.tools else 0
    return (
        tokenizer.count(request.system)
        + tools
        + sum(tokenizer.count(message_text(message)) for message in request.messages)
    )


def timed_out(**details: bool) -> ModelFailed:
    """Return the error of a request without an answer before its deadline."""
    hint = "Try again, or raise distiller.deadlineSeconds."
    return ModelFailed("The model did not answer in time.", hint=hint, reason="timeout", **details)
