"""Tests of the parts of the HTTP server: calls, routing, OpenAPI, admission, error responses, metrics and log."""

from __future__ import annotations

import asyncio
import io
import json
import socket
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from types import NoneType, SimpleNamespace
from typing import Any

import msgspec
import pytest
import structlog

from reverie import wire
from reverie.api.endpoint import Endpoint, sent
from reverie.errors import Busy, NotFound
from reveried import log
from reveried.http.limits import Admission, Limits
from reveried.http.message import envelope_body, raw_response
from reveried.http.metrics import Metrics
from reveried.http.route import Application, Table, paths_of
from reveried.http.types import Call, Reply, Stream
from reveried.server import Server, bind_unix
from support.daemon import Answer, Wire, request, scratch_home

LARGE_BYTES = 300_000  # more than head and body together in one write, and than a socket's buffer


class Point(msgspec.Struct, forbid_unknown_fields=True):
    """A request body of the test routes."""

    x: int
    y: int = 0


async def fine(call: Call) -> Reply:
    return Reply({"path": call.path, "params": dict(call.params), "body": call.json()})


async def broken(call: Call) -> Reply:
    raise KeyError("zebra", call.body)


class Defect(BaseException):
    """As the exception of another language's panic, which `except Exception` does not catch."""


async def panicking(call: Call) -> Reply:
    raise Defect("zebra", call.body)


async def odd(call: Call) -> Reply:
    del call
    raise NotFound("nowhere", hint="look", strange=object())


async def nothing(call: Call) -> Reply:
    del call
    return Reply(status=204)


async def failing_stream(call: Call) -> Stream:
    del call

    async def items() -> AsyncGenerator[bytes, None]:
        yield b"one"
        raise KeyError("zebra")

    return Stream(items(), lambda: None)


async def large(call: Call) -> Reply:
    del call
    return Reply(body=b"x" * LARGE_BYTES, media="text/plain")


async def splitting(call: Call) -> Reply:
    del call
    return Reply({}, headers={"x-name": "a\r\nHTTP/1.1 200 OK"})


TABLE = Table(
    {
        Endpoint("GET /v1/fine", wire.NoQuery, Point, "Fine."): fine,
        Endpoint("POST /v1/fine", sent(Point), Point, "Fine, with a body.", query=wire.WaitQuery): fine,
        Endpoint("POST /v1/raw", wire.NoQuery, NoneType, "Any bytes.", raw=True): nothing,
        Endpoint("GET /v1/fine/{id}", wire.NoQuery, NoneType, "One."): fine,
        Endpoint("GET /v1/fine/{id}/more/{path:path}", wire.NoQuery, NoneType, "All below."): fine,
        Endpoint("GET /v1/broken", wire.NoQuery, NoneType, "Broken."): broken,
        Endpoint("GET /v1/panicking", wire.NoQuery, NoneType, "Broken."): panicking,
        Endpoint("GET /v1/odd", wire.NoQuery, NoneType, "Odd."): odd,
        Endpoint("DELETE /v1/fine/{id}", wire.NoQuery, NoneType, "Gone."): nothing,
        Endpoint("GET /v1/stream", wire.NoQuery, NoneType, "Ends early."): failing_stream,
        Endpoint("GET /v1/large", wire.NoQuery, NoneType, "More than one write."): large,
        Endpoint("GET /v1/splitting", wire.NoQuery, NoneType, "A header value with a line end."): splitting,
    }
)


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Yield the stream that the log is written to."""
    stream = io.StringIO()
    log.configure("info", stream)
    yield stream
    structlog.reset_defaults()


def serve(work: Callable[[Path], Any], limits: Limits | None = None, *, ready: bool = True) -> Any:
    """Serve the test routes in this process, and return the result of `work`, which runs in a thread."""

    async def main() -> Any:
        with scratch_home() as home:
            server = Server(Admission(limits or Limits()))
            services: Any = SimpleNamespace(metrics=Metrics(), callers=lambda _: None)
            if ready:
                server.handler = Application(lambda _: TABLE, services)
            server.listen(bind_unix(home / "s"))
            try:
                return await asyncio.to_thread(work, home / "s")
            finally:
                assert await server.drain(1.0)
                assert server.admission.reserved_bytes == 0
                assert server.admission.open_connections == 0

    return asyncio.run(main())


def ask(path: Path, *requests: bytes) -> list[Answer]:
    with Wire(path) as wire:
        wire.send(b"".join(requests))
        answers = [wire.answer() for _ in requests]
    assert None not in answers
    return [answer for answer in answers if answer is not None]


def test_a_duplicate_route_fails() -> None:
    """Two routes with the same method and path raise ValueError."""
    with pytest.raises(ValueError, match="GET /v1/fine"):
        paths_of(Table({**TABLE, Endpoint("GET /v1/fine", wire.NoQuery, Point, "Again."): fine}))


def test_matching() -> None:
    """Exact paths match before patterns, `{id}` one segment, `{path:path}` the rest; another method is 405."""

    def work(path: Path) -> list[Answer]:
        return ask(
            path,
            request("GET", "/v1/fine"),
            request("GET", "/v1/fine/a%2Fb"),
            request("GET", "/v1/fine/7/more/a/b.md"),
            request("POST", "/v1/fine", b'{"x": 1}'),
            request("PUT", "/v1/fine/7"),
            request("DELETE", "/v1/fine/7"),
            request("GET", "/v1/broken/x"),
        )

    fine_answer, slashed, below, posted, wrong, gone, missing = serve(work)
    assert fine_answer.json()["params"] == {}
    assert slashed.status == 404  # a segment is what stands between slashes after decoding
    assert below.json()["params"] == {"id": "7", "path": "a/b.md"}
    assert posted.json()["body"] == {"x": 1}
    assert (wrong.status, wrong.json()["details"]["allow"]) == (405, "DELETE, GET, HEAD")
    assert (gone.status, gone.body) == (204, b"")
    assert missing.status == 404


def test_unforeseen_errors_tell_nothing(logged: io.StringIO) -> None:
    """An unexpected exception is a 500; neither answer nor log contains its arguments."""

    def work(path: Path) -> list[Answer]:
        return ask(path, request("GET", "/v1/broken", b"secret"), request("GET", "/v1/odd"))

    defect, strange = serve(work)
    assert (defect.status, defect.json()["error"]) == (500, "internal_error")
    assert defect.json()["details"] == {"kind": "KeyError", "hint": "reverie logs shows it."}
    assert strange.status == 404
    said = logged.getvalue()
    assert "secret" not in said
    assert "zebra" not in said
    (line,) = [json.loads(line) for line in said.splitlines() if "unexpectedly" in line]
    assert line["kind"] == "KeyError"
    assert any("broken" in place for place in line["trace"])


def test_an_exception_that_is_no_exception_is_answered(logged: io.StringIO) -> None:
    """A BaseException other than an exit is a 500 like any other, and the connection serves the next request."""

    def work(path: Path) -> list[Answer]:
        return ask(path, request("GET", "/v1/panicking", b"secret"), request("GET", "/v1/fine"))

    defect, after = serve(work)
    assert (defect.status, defect.json()["details"]["kind"]) == (500, "Defect")
    assert after.status == 200
    assert "secret" not in logged.getvalue()
    assert "zebra" not in logged.getvalue()


def test_a_stream_that_fails_ends(logged: io.StringIO) -> None:
    """A stream whose items fail ends after what was sent, and the error is logged."""

    def work(path: Path) -> bytes:
        with Wire(path) as wire:
            wire.send(request("GET", "/v1/stream", None, {"Connection": "close"}))
            said = b""
            while piece := wire.socket.recv(65536):
                said += piece
            return said

    said = serve(work)
    assert b"one" in said
    assert said.endswith(b"0\r\n\r\n")
    assert "a stream failed" in logged.getvalue()


def read_all(path: Path, *requests: bytes) -> bytes:
    """Send requests, the last of which closes the connection; return all bytes of the answers."""
    with Wire(path) as wire:
        wire.send(b"".join(requests))
        received = b""
        while piece := wire.socket.recv(65536):
            received += piece
        return received


def test_head_has_the_head_of_get_alone() -> None:
    """A response to HEAD has the Content-Length of GET and no body, so the next response follows its head."""
    close = {"Connection": "close"}
    received = serve(lambda path: read_all(path, request("HEAD", "/v1/large"), request("GET", "/v1/fine", None, close)))

    head, _, rest = received.partition(b"\r\n\r\n")
    assert f"content-length: {LARGE_BYTES}".encode() in head
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")


def test_head_of_a_stream_ends() -> None:
    """A response to HEAD of a stream ends with its head, and the stream is never read."""
    close = {"Connection": "close"}
    stream = request("HEAD", "/v1/stream")
    received = serve(lambda path: read_all(path, stream, request("GET", "/v1/fine", None, close)))

    head, _, rest = received.partition(b"\r\n\r\n")
    assert b"text/event-stream" in head
    assert b"transfer-encoding" not in head
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_header_value_cannot_begin_another_response(logged: io.StringIO) -> None:
    """A header value with a line end is a defect: it is answered 500 and not sent."""
    (answer,) = serve(lambda path: ask(path, request("GET", "/v1/splitting")))

    assert (answer.status, answer.json()["error"]) == (500, "internal_error")
    assert "x-name" not in answer.headers
    assert "ValueError" in logged.getvalue()


def test_bodies_of_all_connections_are_bounded() -> None:
    """A body beyond the memory for all bodies is refused as busy; memory is released after the answer."""
    limits = Limits(body_bytes=1000, bodies_bytes=1500)

    def work(path: Path) -> list[int]:
        with Wire(path) as first, Wire(path) as second:
            first.send(b"POST /v1/fine HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" + b" " * 500)
            ask(path, request("GET", "/v1/fine"))
            second.send(b"POST /v1/fine HTTP/1.1\r\nContent-Length: 600\r\n\r\n")
            refused = second.answer()
            with Wire(path) as third:
                third.send(b"POST /v1/fine HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n258\r\n" + b" " * 600)
                chunked = third.answer()
            first.send(b" " * 498 + b"{}")
            served = first.answer()
            with Wire(path) as fourth:
                fourth.send(request("POST", "/v1/fine", b" " * 998 + b"{}"))
                later = fourth.answer()
        return [answer.status if answer is not None else 0 for answer in (refused, chunked, served, later)]

    assert serve(work, limits) == [503, 503, 200, 200]


def test_the_gate_by_uid(logged: io.StringIO) -> None:
    """The own uid and root are admitted, root is logged, other uids are refused; TCP is not checked by uid."""
    one, other = socket.socketpair()
    with one, other:
        import os

        uid = os.getuid()
        assert Admission(Limits()).admits(one)
        stranger = Admission(Limits(), own_uid=uid + 1)
        assert stranger.admits(one) == (uid == 0)
        if uid != 0:
            assert stranger.refused == {"peer_uid": 1}
    assert ("root" in logged.getvalue()) == (uid == 0)
    with socket.socket() as tcp:
        assert Admission(Limits()).admits(tcp)


def test_envelopes() -> None:
    """Details that are not JSON become text; a raw response is complete HTTP with `Connection: close`."""
    assert json.loads(envelope_body(Busy("later", hint="wait", what={1})))["details"]["what"] == "{1}"
    raw = raw_response(Busy("later", hint="wait", retryAfter=2.5))
    assert raw.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"retry-after: 2\r\n" in raw
    assert b"connection: close\r\n" in raw


def test_metrics_are_counted_by_pattern() -> None:
    """Durations are counted in cumulative buckets by route pattern and status."""
    metrics = Metrics()
    for seconds in (0.0005, 0.003, 30):
        metrics.observe("GET", "/v1/fine/{id}", 200, seconds)
    lines = metrics.lines()
    name = 'reverie_request_seconds_bucket{method="GET",route="/v1/fine/{id}",status="200",le='
    assert f'{name}"0.001"}} 1' in lines
    assert f'{name}"0.005"}} 2' in lines
    assert f'{name}"10.0"}} 2' in lines
    assert f'{name}"+Inf"}} 3' in lines


def test_log_lines(logged: io.StringIO) -> None:
    """Log lines are JSON objects; long values are cut, arguments of stdlib messages left out, levels applied."""
    import logging

    log.logger("x").debug("not said")
    log.logger("x").info("said", value="y" * 10_000)
    logging.getLogger("asyncio").warning("about %s", "a secret")
    try:
        int("a secret")
    except ValueError:
        logging.getLogger("asyncio").exception("failed with %s", "a secret")
    lines = [json.loads(line) for line in logged.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["said", "about %s", "failed with %s"]
    assert len(lines[0]["value"]) < 600
    assert lines[2]["kind"] == "ValueError"
    assert "a secret" not in logged.getvalue()
