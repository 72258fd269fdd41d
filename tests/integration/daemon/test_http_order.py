"""Pipelined requests, requests in single bytes, and clients that stop sending or disconnect."""

from __future__ import annotations

import socket
import struct
import threading

import pytest

from support.daemon import HEALTH, Daemon, check_refused, check_serving, request


def test_half_close_is_answered(daemon: Daemon) -> None:
    """A client that has shut down its sending side still gets its answer, then the end."""
    with daemon.wire() as wire:
        wire.send(HEALTH)
        wire.socket.shutdown(socket.SHUT_WR)
        answer = wire.answer()
        assert answer is not None
        assert answer.status == 200
        assert wire.closed()


def test_disconnecting_during_an_answer(daemon: Daemon) -> None:
    """A client that has disconnected before its answer leaves no error in the log."""
    for _ in range(50):
        with daemon.wire() as wire:
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            wire.send(HEALTH * 20)
    check_serving(daemon)
    assert "Traceback" not in daemon.log_text()
    assert '"trace"' not in daemon.log_text()


@pytest.mark.parametrize("count", [2, 1000])
def test_pipelined_requests_are_answered_in_order(daemon: Daemon, count: int) -> None:
    """Requests in one write are all answered in order, and an invalid last one is refused after them."""
    with daemon.wire() as wire:
        wire.send(b"".join(request("GET", f"/nowhere/{number}") for number in range(count)) + b"\x16\x03\x01\r\n\r\n")
        for number in range(count):
            answer = wire.answer()
            assert answer is not None
            assert answer.status == 404
            assert f"/nowhere/{number}'" in answer.json()["message"]
        check_refused(wire.answer(), 400, "validation_error", "protocol")
        assert wire.closed()


def test_too_many_pipelined_requests(daemon: Daemon) -> None:
    """Of 10,000 requests sent at once the queued ones are answered 404; the last answer may be 503 (`busy`)."""
    with daemon.wire() as wire:
        sender = threading.Thread(target=wire.send, args=(b"GET /x HTTP/1.1\r\n\r\n" * 10_000,))
        sender.start()
        statuses = []
        while (answer := wire.answer()) is not None:
            statuses.append(answer.status)
        sender.join()
        assert set(statuses[:-1]) == {404}
        assert statuses[-1] in {404, 503}


def test_request_in_single_bytes(daemon: Daemon) -> None:
    """A request sent byte by byte is one request."""
    with daemon.wire() as wire:
        for byte in request("GET", "/v1/health", b"{}"):
            wire.send(bytes([byte]))
        answer = wire.answer()
        assert answer is not None
        assert answer.status == 200


def test_expect_continue(daemon: Daemon) -> None:
    """A request with `Expect: 100-continue` is answered 100, or refused before its body if that is too large."""
    with daemon.wire() as wire:
        wire.send(b"GET /v1/health HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert wire.socket.recv(1 << 16) == b"HTTP/1.1 100 Continue\r\n\r\n"
        wire.send(b"{}")
        answer = wire.answer()
        assert answer is not None
        assert answer.status == 200
        wire.send(b"GET /v1/health HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n")
        check_refused(wire.answer(), 413, "too_large")


@pytest.mark.parametrize(
    "head",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"BREW /pot HTTP/1.1\r\n\r\n",
        b"x" * 65536 + b" / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/3.0\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\n\r\n",
        b"GET /%ff%fe HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nA\x00B: c\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"len=32 {}\n",
        b'{"id": null, "method": "health"}\n',
    ],
)
def test_invalid_heads_are_refused(daemon: Daemon, head: bytes) -> None:
    """An invalid HTTP/1.1 request gets one short answer that does not echo it, and the connection is closed."""
    with daemon.wire() as wire:
        wire.send(head)
        answer = wire.answer()
        assert answer is not None
        assert answer.status in {400, 413}
        assert len(answer.body) < 400
        assert wire.closed()
