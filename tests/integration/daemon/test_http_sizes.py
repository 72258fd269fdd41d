"""Size limits of bodies, heads, trailers and chunk extensions, without use of memory."""

from __future__ import annotations

import socket

import pytest

from support.daemon import BODY_BYTES, Daemon, check_refused, check_serving, request, status_bytes


def test_empty_body(daemon: Daemon) -> None:
    """A body of length 0 counts as no body."""
    with daemon.wire() as wire:
        wire.send(request("GET", "/v1/health", b""))
        answer = wire.answer()
        assert answer is not None
        assert answer.status == 200


@pytest.mark.parametrize("length", [1 << 30, 0xFFFFFFFF, 1 << 62])
def test_huge_length_is_refused_from_the_head(daemon: Daemon, length: int) -> None:
    """A body is refused by a large Content-Length alone: it is not read, and memory does not grow."""
    check_serving(daemon)
    before = status_bytes(daemon.pid, "VmRSS")
    with daemon.wire() as wire:
        wire.send(f"POST /v1/health HTTP/1.1\r\nContent-Length: {length}\r\n\r\n".encode())
        check_refused(wire.answer(), 413, "too_large")
        wire.send(b"\0" * (8 << 20))
    check_serving(daemon)
    assert status_bytes(daemon.pid, "VmRSS") - before < 1 << 20


def test_body_limit_is_exact(daemon: Daemon) -> None:
    """A body of exactly the limit is accepted, one byte more is not; a chunked one likewise, once over the limit."""
    with daemon.wire() as wire:
        wire.send(request("GET", "/v1/health", b" " * BODY_BYTES))
        answer = wire.answer()
        assert answer is not None
        assert answer.status == 200
        wire.send(request("GET", "/v1/health", b" " * (BODY_BYTES + 1)))
        check_refused(wire.answer(), 413, "too_large")
    with daemon.wire() as wire:
        head = b"GET /v1/health HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        wire.send(head + b"%x\r\n" % (BODY_BYTES + 1) + b" " * (BODY_BYTES + 1) + b"\r\n0\r\n\r\n")
        check_refused(wire.answer(), 413, "too_large")


def test_endless_heads_are_refused_at_32_kib(daemon: Daemon) -> None:
    """Heads, trailers and chunk extensions without end are refused, without use of memory."""
    chunk = b"x" * (1 << 20)
    lines = b"a: b\r\n" * 170_000
    chunked = b"GET /v1/health HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    for opening, more in (
        (b"GET /v1/health HTTP/1.1\r\nA: ", chunk),
        (b"GET /v1/health HTTP/1.1\r\n", lines),
        (b"GET /", chunk),
        (chunked + b"0\r\nA: ", chunk),
        (chunked + b"0\r\n", lines),
        (chunked + b"5;", chunk),
    ):
        before = status_bytes(daemon.pid, "VmRSS")
        with daemon.wire() as wire:
            wire.send(opening)
            sent = _send_until_closed(wire.socket, more, 200 << 20)
            check_refused(wire.answer(), 413, "too_large")
        assert sent < 4 << 20, opening
        assert status_bytes(daemon.pid, "VmRSS") - before < 4 << 20, opening
    check_serving(daemon)


def test_head_limit_is_exact(daemon: Daemon) -> None:
    """A head just below 32 KiB is served, one above is refused."""
    for size, status in ((32 * 1024 - 200, 200), (32 * 1024 + 1, 413)):
        with daemon.wire() as wire:
            wire.send(request("GET", "/v1/health", None, {"A": "x" * size}))
            answer = wire.answer()
            assert answer is not None
            assert answer.status == status


def _send_until_closed(peer: socket.socket, data: bytes, most: int) -> int:
    sent = 0
    while sent < most:
        try:
            sent += peer.send(data)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            break
    return sent
