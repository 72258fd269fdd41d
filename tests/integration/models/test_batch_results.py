"""Results of a batch that are damaged: a line that cannot be read costs its own request alone, and no time."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from reverie.decode import from_msgpack
from reverie.errors import ModelFailed
from reveried.models.batch_jobs import BATCH_JOBS, BatchItem, BatchJob, BatchResult
from support.fault_batches import SentBatch
from support.fault_model_server import FaultModelServer

if TYPE_CHECKING:
    from collections.abc import Callable

    Alter = Callable[[bytes], bytes]


def first_line(change: Callable[[dict[str, Any]], object]) -> Alter:
    """Return a function that changes the first line of a batch's results, the one of `call_2`, by `change`."""

    def alter(data: bytes) -> bytes:
        line, _, rest = data.partition(b"\n")
        entry = json.loads(line)
        change(entry)
        return json.dumps(entry).encode() + b"\n" + rest

    return alter


def said(text: str) -> Alter:
    """Return a function that replaces the text of the message in the first line of a batch's results."""
    return first_line(lambda entry: entry["result"]["message"].update(content=[{"type": "text", "text": text}]))


DAMAGES: dict[str, Alter] = {
    "half a line": lambda data: data[100:],
    "bytes that are no UTF-8": lambda data: data[:20] + b"\xff\xfe" + data[20:],
    "brackets without end": lambda data: b"[" * 200_000 + data,
    "an id that is a number": first_line(lambda entry: entry.update(custom_id=5)),
    "a result that is none": first_line(lambda entry: entry.update(result=None)),
    "a result of an unknown kind": first_line(lambda entry: entry.update(result={"type": "eaten"})),
    "a half of a surrogate pair": said("\ud800"),
    "10 MB": said("x" * 10_000_000),
    "20 MB without an end": lambda data: data.partition(b"\n")[2] + b'"' + b"x" * 20_000_000,
}


def read(server: FaultModelServer) -> dict[str, BatchResult]:
    """Return the results of the batch `msgbatch_1`, which has two requests, by request id."""
    job = BatchJob("msgbatch_1", [BatchItem("call_1"), BatchItem("call_2")], "m", server.url, "key", 20.0)
    with asyncio.Runner() as runner:
        data = BATCH_JOBS["batch-results"](runner, msgspec.msgpack.encode(job))
    return {result.id: result for result in from_msgpack(data, list[BatchResult])}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_line_costs_its_own_request(name: str) -> None:
    """If one line of a batch's results is damaged, the other request has its answer; the lost one counts as billed."""
    with FaultModelServer() as server:
        server.batches.all.append(SentBatch("msgbatch_1", {"call_1": {"model": "m"}, "call_2": {"model": "m"}}))
        server.batches.end()
        server.batches.alter = DAMAGES[name]
        results = read(server)
    assert results.keys() == {"call_1", "call_2"}
    assert results["call_1"].outcome.answer is not None
    assert results["call_2"].outcome.answer is None
    assert results["call_2"].billed


def test_the_address_that_was_checked_is_the_one_that_is_read() -> None:
    """The results are read from the address that was checked: one that the server names later gets no request."""
    with FaultModelServer() as elsewhere, FaultModelServer() as server:
        server.batches.all.append(SentBatch("msgbatch_1", {"call_1": {"model": "m"}, "call_2": {"model": "m"}}))
        server.batches.end()
        named = iter(("", *[f"{elsewhere.url}/v1/messages/batches/msgbatch_1/results"] * 9))
        server.batches.results_at = lambda: next(named)
        results = read(server)
        assert all(result.outcome.answer is not None for result in results.values())
        assert elsewhere.batches.calls == []


@pytest.mark.parametrize("address", ["{}", "http://user@{}", "{}\t", "http:{}", "https://{}", "http://{}:x"])
def test_results_at_another_server_are_refused(address: str) -> None:
    """If a batch names another server for its results, ModelFailed is raised and nothing is sent to that server."""
    with FaultModelServer() as elsewhere, FaultModelServer() as server:
        server.batches.all.append(SentBatch("msgbatch_1", {"call_1": {"model": "m"}, "call_2": {"model": "m"}}))
        server.batches.end()
        place = elsewhere.url if address[0] == "{" else elsewhere.url.removeprefix("http://")
        server.batches.results_at = lambda: address.format(place) + "/v1/messages/batches/msgbatch_1/results"
        with pytest.raises(ModelFailed):
            read(server)
        assert elsewhere.batches.calls == []
