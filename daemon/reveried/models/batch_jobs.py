"""The jobs of the model process for Message Batches: send one, ask for its state, read its results, list the newest.

As with single requests each job asks the server once, and its answers are bounded and read strictly.
"""

from __future__ import annotations

import asyncio
import gc
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import anthropic
import httpx2
import msgspec
from msgspec import Meta

from reverie.decode import from_json, from_msgpack
from reverie.errors import ModelFailed
from reverie.language_model.requests import ModelRequest, Outcome
from reveried.models.anthropic_answers import connection_failure, read_message, status_failure, unusable
from reveried.models.anthropic_client import BODY_BYTES_MAX, RESULTS_BYTES_MAX, AnswerError, client_of, message_params

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

T = TypeVar("T")
LISTED = 100  # batches of an account, newest first, among which one is looked for


class BatchItem(msgspec.Struct, frozen=True):
    """One request of a batch under our own id; `sent` is our count of its tokens, for a job that only reads results."""

    id: str
    request: ModelRequest | None = None
    sent: int = 0


class BatchJob(msgspec.Struct, frozen=True):
    """A job: its batch (empty for none yet), its items, and the model, address, key and time limit of requests."""

    batch: str
    items: list[BatchItem]
    model: str
    base_url: str
    key: str
    timeout_s: float


class BatchState(msgspec.Struct, frozen=True):
    """The state of a batch; `ended` is True once every request has a result."""

    id: str
    ended: bool


class ListedBatch(msgspec.Struct, frozen=True):
    """A batch of the account, with its number of requests.

    `age_s` are the seconds since it was created by the provider's own clock, or None where the response does not tell.
    """

    id: str
    ended: bool
    requests: int
    age_s: float | None


class BatchResult(msgspec.Struct, frozen=True):
    """The outcome of one request; `billed` is False for one that the provider did not work on.

    `found` is False for a request that the batch has no result of.
    """

    id: str
    outcome: Outcome
    billed: bool
    found: bool = True


Count = Annotated[int, Meta(ge=0)]


class _Counts(msgspec.Struct, frozen=True):
    processing: Count = 0
    succeeded: Count = 0
    errored: Count = 0
    canceled: Count = 0
    expired: Count = 0


class _Batch(msgspec.Struct, frozen=True):
    """The body of a response about a batch."""

    id: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\A[A-Za-z0-9_-]+\Z")]
    processing_status: Literal["in_progress", "canceling", "ended"]
    request_counts: _Counts = _Counts()
    results_url: str | None = None
    created_at: str = ""


class _List(msgspec.Struct, frozen=True):
    data: list[_Batch]


class _Error(msgspec.Struct, frozen=True):
    type: str = ""


class _ErrorBody(msgspec.Struct, frozen=True):
    error: _Error = _Error()


class _Result(msgspec.Struct, frozen=True):
    type: Literal["succeeded", "errored", "canceled", "expired"]
    message: msgspec.Raw = msgspec.Raw(b"null")
    error: _ErrorBody = _ErrorBody()


class _Line(msgspec.Struct, frozen=True):
    custom_id: str
    result: _Result


async def _create(job: BatchJob) -> BatchState:
    """Send a batch of requests to the provider and return its state, with its id."""
    requests: Any = [
        {"custom_id": item.id, "params": message_params(item.request, job.model)}
        for item in job.items
        if item.request is not None
    ]
    async with client_of(job) as client:
        response = await client.messages.batches.with_raw_response.create(requests=requests)
        batch = _decoded(response.http_response.content, _Batch)
        return BatchState(batch.id, batch.processing_status == "ended")


async def _state(job: BatchJob) -> BatchState:
    """Return the provider's state of a batch."""
    async with client_of(job) as client:
        response = await client.messages.batches.with_raw_response.retrieve(job.batch)
        batch = _decoded(response.http_response.content, _Batch)
        return BatchState(batch.id, batch.processing_status == "ended")


async def _newest(job: BatchJob) -> list[ListedBatch]:
    """Return the newest batches of the account."""
    async with client_of(job) as client:
        response = await client.messages.batches.with_raw_response.list(limit=LISTED)
        date = response.headers.get("date", "")
        return [
            ListedBatch(
                batch.id,
                ended=batch.processing_status == "ended",
                requests=sum(msgspec.structs.astuple(batch.request_counts)),
                age_s=_age_s(batch.created_at, date),
            )
            for batch in _decoded(response.http_response.content, _List).data
        ]


def _age_s(created_at: str, date: str) -> float | None:
    """Return the seconds from `created_at` (RFC 3339) to a response's `Date`; None where one of them is no time."""
    try:
        return (parsedate_to_datetime(date) - datetime.fromisoformat(created_at)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None


async def _results(job: BatchJob) -> list[BatchResult]:
    """Return the result of each item of an ended batch; a failure for an item that has none."""
    sent = {item.id: item.sent for item in job.items}
    result_by_id: dict[str, BatchResult] = {}
    async with client_of(job, body_bytes=RESULTS_BYTES_MAX) as client:
        response = await client.messages.batches.with_raw_response.retrieve(job.batch)
        url = _decoded(response.http_response.content, _Batch).results_url
        if url is None or not _is_at(url, job.base_url):
            raise unusable("The results of the batch are at another server.")
        # Not `batches.results`: it asks for the address once more, and the key would go wherever that one is.
        results = await client.get(url, cast_to=httpx2.Response, stream=True)
        async for data in _lines(results.aiter_bytes()):
            line = _line(data)
            if line is None:
                continue  # the request that it is about has no result; those of the others are paid for
            if line.custom_id in result_by_id:
                raise unusable("The results of the batch name a request twice.")
            result_by_id[line.custom_id] = _result(line, sent.get(line.custom_id, 0))
    missing = Outcome(reason="failed", message="The batch has no result of this request.")
    lost = [BatchResult(name, missing, billed=True, found=False) for name in sent if name not in result_by_id]
    return [*result_by_id.values(), *lost]


def _is_at(url: str, base_url: str) -> bool:
    """Return True if `url` is relative, or has the scheme, host and port of `base_url`."""
    try:
        there, here = httpx2.URL(url), httpx2.URL(base_url)
    except httpx2.InvalidURL:
        return False
    at = (there.scheme, there.host, there.port)
    return there.is_relative_url or at == (here.scheme, here.host, here.port)


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines of a body; an empty line in place of each that is longer than BODY_BYTES_MAX.

    The client's own decoder copies what it has of a line with every piece of it, and ends at a line that is no JSON.
    """
    line: list[bytes] = []
    size = 0
    async for piece in pieces:
        *ended, rest = piece.split(b"\n")
        for part in ended:
            yield b"" if size > BODY_BYTES_MAX else b"".join((*line, part))
            line, size = [], 0
        size += len(rest)
        if size <= BODY_BYTES_MAX:
            line.append(rest)
    yield b"" if size > BODY_BYTES_MAX else b"".join(line)


def _line(data: bytes) -> _Line | None:
    """Return a line of the results; None for one that cannot be read."""
    try:
        return from_json(data, _Line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _result(line: _Line, sent: int) -> BatchResult:
    """Return one request's result; a message that cannot be read is a failure that counts as billed."""
    match line.result.type:
        case "succeeded":
            try:
                answer = read_message(bytes(line.result.message), sent=sent, with_tools=False)
            except ModelFailed as error:
                return BatchResult(line.custom_id, Outcome(reason=error.reason, message=error.message), billed=True)
            return BatchResult(line.custom_id, Outcome(answer=answer), billed=True)
        case "expired":
            outcome = Outcome(reason="timeout", message="The batch expired before it was answered.")
        case "canceled":
            outcome = Outcome(reason="failed", message="The batch was canceled.")
        case _:
            kind = line.result.error.error.type
            name = kind if kind.isidentifier() and len(kind) <= 60 else "error"
            reason = "rejected" if name == "invalid_request_error" else "failed"
            outcome = Outcome(reason=reason, message=f"The provider did not answer this request of the batch ({name}).")
    return BatchResult(line.custom_id, outcome, billed=False)


def _decoded(data: bytes, kind: type[T]) -> T:
    """Decode the body of a response as a value of `kind`. Raises ModelFailed where it is none."""
    try:
        return from_json(data, kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise unusable("The provider's response is not about a batch.") from None


async def _in_time(job: BatchJob, work: Callable[[BatchJob], Coroutine[Any, Any, Any]]) -> bytes:
    """Return the encoded result of `work` within the job's time. Raises ModelFailed."""
    try:
        async with asyncio.timeout(job.timeout_s):
            return msgspec.msgpack.encode(await work(job))
    except TimeoutError as error:
        raise ModelFailed("The provider did not answer in time.", hint="Try again.", reason="timeout") from error
    except anthropic.APIStatusError as error:
        raise status_failure(error.status_code, error.response.headers, error.body) from None
    except anthropic.APIConnectionError as error:
        raise connection_failure(error) from None
    except AnswerError as error:  # beside the client's own errors: results are read behind its back
        raise unusable(f"The provider's response is {error}.") from None
    except httpx2.TransportError as error:
        raise ModelFailed(
            "The connection to the provider broke.", hint="Try again.", kind=type(error).__name__
        ) from None
    except (ValueError, anthropic.AnthropicError):
        raise unusable("The provider's response is not about a batch.") from None


def _job(work: Callable[[BatchJob], Coroutine[Any, Any, Any]]) -> Callable[[asyncio.Runner, bytes], bytes]:
    def run(runner: asyncio.Runner, body: bytes) -> bytes:
        try:
            return runner.run(_in_time(from_msgpack(body, BatchJob), work))
        finally:
            gc.collect()  # a client is a cycle that holds much memory which the collector does not see

    return run


BATCH_JOBS = {
    "batch-create": _job(_create),
    "batch-state": _job(_state),
    "batch-newest": _job(_newest),
    "batch-results": _job(_results),
}
