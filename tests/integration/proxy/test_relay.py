"""The proxy passes on requests, streams and failures of the provider byte for byte."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import ExitStack, suppress
from typing import Literal

import pytest
from structlog.testing import capture_logs

from reverie.errors import ValidationError
from reveried.proxy import server as proxy_server
from reveried.proxy.http import RequestHead
from reveried.proxy.provider import upstream
from reveried.proxy.server import ProxyServer
from support.model_server import ModelServer, Request, body_of, raw, read_message
from support.upstream import WAIT_S, chunked, connected, ok, proxied, split_url
from support.waiting import wait_until

MESSAGES = "/v1/messages?beta=true"


def received(peer: socket.socket) -> bytes:
    """Return all bytes that arrive until the other end closes the connection."""
    data = b""
    while piece := peer.recv(1 << 16):
        data += piece
    return data


def test_a_stream_has_the_bytes_of_the_provider() -> None:
    """A stream of 2 MB in pieces of every size arrives byte for byte, and the connection serves a second request."""
    pieces = [os.urandom(1 + 37 * number % 9_000) for number in range(400)]
    whole = chunked(*pieces) + b"0\r\n\r\n"

    def answer(request: Request) -> None:
        for start in range(0, len(whole), 5_003):
            request.send(whole[start : start + 5_003])

    with ModelServer(answer) as models, proxied(models.url) as server, connected(server) as send:
        for _ in range(2):
            peer = send("POST", MESSAGES, b'{"messages": []}', "x-api-key: k", "X-Odd: Case")
            data = b""
            while len(data) < len(whole):
                data += peer.recv(1 << 16)
            assert data == whole
        assert models.connections == 1
        head, _, body = models.requests[0].raw.partition(b"\r\n\r\n")
        assert head.startswith(b"POST /v1/messages?beta=true HTTP/1.1\r\nHost: 127.0.0.1:")
        assert b"x-api-key: k\r\nX-Odd: Case" in head
        assert body == b'{"messages": []}'
        assert split_url(server)[1].encode() not in models.requests[0].raw


def test_the_beginning_of_a_stream_comes_before_its_end() -> None:
    """A stream is passed on as it comes: the client has its beginning before the provider sends its end."""
    seen = threading.Event()

    def answer(request: Request) -> None:
        request.send(chunked(b"event: first\n\n"))
        assert seen.wait(WAIT_S)
        request.send(b"3\r\nend\r\n0\r\n\r\n")

    with ModelServer(answer) as models, proxied(models.url) as server, connected(server) as send:
        peer = send("POST", MESSAGES, b"{}")
        data = b""
        while b"first" not in data:
            data += peer.recv(1 << 16)
        seen.set()
        while not data.endswith(b"0\r\n\r\n"):
            data += peer.recv(1 << 16)


ERROR = ok(b'{"type":"error"}', b"retry-after: 7")
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"


@pytest.mark.parametrize(
    ("method", "whole", "end"),
    [
        ("POST", ERROR.replace(b"200 OK", b"529 Overloaded"), "close"),
        ("POST", ERROR.replace(b"200 OK", b"429 Too Many Requests"), "close"),
        ("POST", b"", "close"),
        ("POST", b"HTTP/1.1 200 OK\r\nContent-Le", "close"),
        ("POST", ok(b"four words of ten")[:-4], "close"),
        ("POST", chunked(b"data: one\n\n"), "close"),
        ("GET", b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it", "close"),
        ("HEAD", LENGTH, "keep"),
    ],
    ids=["529", "429", "nothing", "half_head", "half_body", "half_stream", "no_length", "head_alone"],
)
def test_an_answer_is_the_client_s_as_it_was_sent(method: str, whole: bytes, end: Literal["close", "keep"]) -> None:
    """Errors, halves, an answer without a length and one to HEAD arrive byte for byte; then the connection ends."""
    with ModelServer(raw(whole, end=end)) as models, proxied(models.url) as server, connected(server) as send:
        assert received(send(method, MESSAGES, b"" if method == "HEAD" else b"{}")) == whole


def test_a_provider_that_cannot_be_reached_ends_the_connection() -> None:
    """If the provider cannot be reached, the proxy closes the client's connection without an answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with proxied(url) as server, connected(server) as send:
        assert received(send("POST", MESSAGES, b"{}")) == b""


def test_a_client_that_leaves_ends_its_request() -> None:
    """If the client leaves, before the first byte or in a stream, the proxy closes the provider's connection."""

    def answer(request: Request) -> None:
        if "stream" in request.body:
            request.send(chunked(b"data: one\n\n"))

    with ModelServer(answer) as models, proxied(models.url) as server:
        for number, body in enumerate((b"{}", b'{"stream": true}'), 1):
            with connected(server) as send:
                peer = send("POST", MESSAGES, body)
                while b"stream" in body and b"one" not in peer.recv(1 << 16):
                    pass
                wait_until(lambda: len(models.requests) == number, "the request")  # noqa: B023 - called at once
            assert models.ended.acquire(timeout=WAIT_S)


def test_an_idle_connection_ends_with_the_provider_s() -> None:
    """When the provider closes an idle connection, the proxy closes the client's too."""
    close = threading.Event()

    def answer(request: Request) -> None:
        request.send(ok(b"one"))
        assert close.wait(WAIT_S)
        request.socket.close()

    with ModelServer(answer) as models, proxied(models.url) as server, connected(server) as send:
        peer = send("GET", "/v1/models")
        assert read_message(peer) == ok(b"one")
        close.set()
        assert peer.recv(1) == b""


def test_a_provider_that_does_not_read_is_not_sent_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy reads no more of a large body from the client than the provider takes."""
    monkeypatch.setattr(proxy_server, "BODY_BYTES_MAX", 16_000_000)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with proxied(url) as server, connected(server) as send:

            def upload() -> None:
                with suppress(OSError):  # the connection ends with the provider's
                    send("POST", MESSAGES, bytes(24_000_000))

            sender = threading.Thread(target=upload)
            sender.start()
            peer, _ = listener.accept()
            wait_until(
                lambda: any(one._provider and not one._transport.is_reading() for one in list(server.opened)),
                "the pause",
            )
            peer.close()
            sender.join()


def test_a_body_that_is_too_large_to_look_at_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body above the size limit of inspection is passed on whole, with a length, in chunks, and on another path."""
    monkeypatch.setattr(proxy_server, "BODY_BYTES_MAX", 500_000)
    body = os.urandom(3_000_000)

    def answer(request: Request) -> None:
        request.send(ok(b"%d" % len(body_of(request.raw))))

    with ModelServer(answer) as models, proxied(models.url) as server:
        for target in (MESSAGES, "/v1/files"):
            with connected(server) as send:
                assert body_of(read_message(send("POST", target, body)) or b"") == b"%d" % len(body)
            assert body_of(models.requests[-1].raw) == body
        host, path = split_url(server)
        with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S) as peer:
            peer.sendall(
                f"POST {path}/v1/files HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
            )
            peer.sendall(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            assert read_message(peer) is not None
        assert body_of(models.requests[-1].raw) == b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"


def test_idle_connections_do_not_keep_the_client_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of too many connections the oldest idle ones are closed, and the log says so; those of the client stay."""
    monkeypatch.setattr("reveried.proxy.server.CONNECTIONS_MAX", 4)
    monkeypatch.setattr(proxy_server.ClientConnection, "_warned_at", float("-inf"))
    with (
        capture_logs() as logs,
        ModelServer(raw(ok(b"{}"))) as models,
        proxied(models.url) as server,
        ExitStack() as stack,
    ):
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(6)]
        assert idle[0].recv(1) == b""
        assert idle[1].recv(1) == b""
        clients = [stack.enter_context(connected(server)) for _ in range(4)]
        peers = [send("GET", "/v1/models") for send in clients]
        assert [read_message(peer) for peer in peers] == [ok(b"{}")] * 4
        assert all(one.recv(1) == b"" for one in idle)
        with socket.create_connection(("127.0.0.1", server.port)) as late:
            assert late.recv(1) == b""
        assert read_message(clients[0]("GET", "/v1/models")) == ok(b"{}")
    assert [log["limit"] for log in logs if log["event"].startswith("too many connections")] == [4]


def refused(server: ProxyServer, head: bytes) -> bytes:
    """Return the status line of the answer to a request that the proxy refuses."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S) as peer:
        peer.sendall(head)
        return received(peer).partition(b"\r\n")[0]


def test_only_the_client_comes_in() -> None:
    """Another path, a browser, another host, another protocol and an endless head are refused with their statuses."""
    with ModelServer(raw()) as models, proxied(models.url) as server:
        host, path = split_url(server)
        known = f"POST {path}/v1/messages HTTP/1.1\r\n"
        address = f"Host: {host}\r\n"
        for head, status in (
            (f"POST /v1/messages HTTP/1.1\r\n{address}\r\n", b"HTTP/1.1 404 Not Found"),
            (f"POST {path[:-1]}/v1/messages HTTP/1.1\r\n{address}\r\n", b"HTTP/1.1 404 Not Found"),
            (f"{known}{address}Origin: https://example.org\r\n\r\n", b"HTTP/1.1 403 Forbidden"),
            (f"{known}{address}Sec-Fetch-Site: none\r\n\r\n", b"HTTP/1.1 403 Forbidden"),
            (f"{known}Host: example.org:{server.port}\r\n\r\n", b"HTTP/1.1 403 Forbidden"),
            (f"{known}{address}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", b"HTTP/1.1 426 Upgrade Required"),
            ("what?\r\n\r\n", b"HTTP/1.1 400 Bad Request"),
            (f"{known}X: {'x' * 70_000}\r\n\r\n", b"HTTP/1.1 431 Request Header Fields Too Large"),
        ):
            assert refused(server, head.encode()) == status, head[:200]
        assert models.requests == []
        assert models.connections == 0


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ("Connection: content-length\r\nContent-Length: 5\r\n", b"GET /"),
        (
            "Connection: close\r\nConnection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n",
            b"1\r\na\r\n0\r\n\r\n",
        ),
    ],
)
def test_a_body_stays_a_body(headers: str, body: bytes) -> None:
    """Framing headers that `Connection` names are passed on, so that no body is read as another request."""
    with ModelServer(raw(ok(b"{}"))) as models, proxied(models.url) as server:
        host, path = split_url(server)
        with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S) as peer:
            peer.sendall(f"POST {path}/v1/files HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n".encode() + body)
            assert read_message(peer) == ok(b"{}")
        head, _, passed = models.requests[0].raw.partition(b"\r\n\r\n")
        assert headers.rpartition("\r\n")[0].rpartition("\r\n")[2].encode() in head
        assert passed == body


def test_two_encodings_of_a_body() -> None:
    """A body is chunked if the last of several Transfer-Encoding headers says so."""
    head = RequestHead(b"POST", b"/", [(b"Transfer-Encoding", b"gzip"), (b"transfer-encoding", b"chunked")])
    assert head.is_chunked


def test_two_requests_at_once_on_one_connection_end_it() -> None:
    """Two requests sent at once on one connection end the connection without an answer."""
    with ModelServer(raw()) as models, proxied(models.url) as server:
        host, path = split_url(server)
        one = f"GET {path}/v1/models HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        assert refused(server, one + one) == b""


def test_addresses_that_are_none() -> None:
    """A provider's address that is no usable URL is refused before the proxy listens."""
    for url in (
        "api.anthropic.com",
        "ftp://x",
        "https://",
        "https://x:0",
        "https://u:p@x",
        "https://x/?a=b",
        "http://ä",
        "http://[bad",
        "https://x/a b",
        "https://x/ä",
        "https://x/#a",
        "https://x:abc",
        "https://u:hunter2@x",
    ):
        with pytest.raises(ValidationError) as refused_with:
            upstream(url)
        assert "hunter2" not in refused_with.value.message
