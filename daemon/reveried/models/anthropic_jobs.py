"""The jobs of the model process, which alone imports the `anthropic` package: one request to the Messages API.

The package takes seconds and much memory to import, and talks to servers that may send anything. So it lives in a child
of the daemon (`reveried.compute` runs it), with an environment of its own: none of the package's variables
reaches it, and the key comes with each job through a pipe. A job sends one request once. Its answer is bounded in time
and bytes, read by a strict reader, and never part of an error's text.
"""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING

import anthropic
import msgspec

from reverie.decode import from_msgpack
from reverie.language_model.requests import ModelAnswer, ModelRequest
from reveried.models.anthropic_answers import connection_failure, read_message, status_failure, unusable
from reveried.models.anthropic_client import client_of, message_params
from reveried.models.transport import request_tokens, timed_out

if TYPE_CHECKING:
    from collections.abc import Callable


class SendJob(msgspec.Struct, frozen=True):
    """A request to send: to which model, where, with which key, within how many seconds."""

    request: ModelRequest
    model: str
    base_url: str
    key: str
    timeout_s: float


def ready(_: bytes) -> bytes:
    """Return at once: the process has started and imported everything."""
    return b""


def send(body: bytes) -> bytes:
    """Send the request of a `SendJob` once and return its `ModelAnswer`.

    Raises:
        ModelFailed: with its reason; `notSent` in the details where the provider has seen nothing of it.
    """
    job = from_msgpack(body, SendJob)
    try:
        return msgspec.msgpack.encode(_RUNNER.run(_answer(job)))
    except OverflowError:  # of the input of a call, which may have any form
        raise unusable("The model's answer has a number that is too large.") from None
    finally:
        gc.collect()  # a client is a cycle that holds much memory which the collector does not see


def clear_caches() -> None:
    """Free nothing: no job leaves anything behind."""


async def _answer(job: SendJob) -> ModelAnswer:
    try:
        async with asyncio.timeout(job.timeout_s):
            data = await _sent(job)
    except TimeoutError as error:
        raise timed_out() from error
    except anthropic.APIStatusError as error:
        raise status_failure(error.status_code, error.response.headers, error.body) from None
    except anthropic.APIConnectionError as error:
        raise connection_failure(error) from None
    return read_message(data, sent=request_tokens(job.request), with_tools=bool(job.request.tools))


async def _sent(job: SendJob) -> bytes:
    """Send a request and return the body of its response. Raises ModelFailed where it has no success."""
    async with client_of(job.base_url, job.key, job.timeout_s) as client:
        response = await client.messages.with_raw_response.create(**message_params(job.request, job.model))
        body: bytes = response.http_response.content
        return body


_RUNNER = asyncio.Runner()
JOBS: dict[str, Callable[[bytes], bytes]] = {"ready": ready, "send": send}
