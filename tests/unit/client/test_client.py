"""Tests of the blocking and the asyncio client with a fake daemon: requests, answers, errors, retries, timeouts."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reverie import client as client_package
from reverie import errors, wire
from reverie.api.endpoint import BadAnswer
from reverie.client import AsyncClient, Client
from support.fake_daemon import HEALTH, Answer, Request, always, envelope, fake_daemon

Ask = Callable[..., Any]


def test_a_typed_answer(ask: Ask, path: Path) -> None:
    """A call returns a wire struct, and the request has the protocol header."""
    with fake_daemon(path, always(Answer(HEALTH))) as daemon:
        health = ask(path, "health")
    assert health == wire.Health(status="ok", version="0.1.0", protocol=1, pid=7, uptime_seconds=1.5)
    assert daemon.requests[0].headers["reverie-protocol"] == "1"
    assert "authorization" not in daemon.requests[0].headers


def test_answers_without_json(ask: Ask, path: Path) -> None:
    """Archives are returned as bytes, metrics as text, and a deletion returns None."""
    with fake_daemon(path, always(Answer(body=b"# HELP\n"))):
        assert ask(path, "archive", "ab") == b"# HELP\n"
        assert ask(path, "metrics") == "# HELP\n"
    with fake_daemon(path.with_name("2.sock"), always(Answer(status=204, body=b""))):
        assert ask(path.with_name("2.sock"), "remove_schedule", "s") is None


def test_idempotency_key_and_token_travel(ask: Ask, path: Path) -> None:
    """The idempotency key and the token are sent as headers."""
    conflict = always(envelope("conflict", status=409, currentVersion=4))
    with fake_daemon(path, conflict) as daemon, pytest.raises(errors.Conflict) as caught:
        ask(path, "undo", "o", key="k1", options={"token": "t0"})
    assert caught.value.details["currentVersion"] == 4
    assert daemon.requests[0].headers["idempotency-key"] == "k1"
    assert daemon.requests[0].headers["authorization"] == "Bearer t0"
    assert daemon.requests[0].headers["content-length"] == "0"


def test_errors_come_back_as_themselves(ask: Ask, path: Path) -> None:
    """An error answer is raised as its own class, with its details and Retry-After."""
    busy = Answer(
        {"error": "busy", "message": "full", "details": {}}, status=503, headers={"Retry-After": "2"}, protocol=None
    )
    with fake_daemon(path, always(busy)), pytest.raises(errors.Busy) as caught:
        ask(path, "status")
    assert caught.value.details["retryAfter"] == "2"
    with (
        fake_daemon(
            path.with_name("2"), always(envelope("token_budget_exceeded", status=422, budget=1, minimumRequired=9))
        ),
        pytest.raises(errors.TokenBudgetExceeded) as over,
    ):
        ask(path.with_name("2"), "dream", token_budget=1)
    assert (over.value.budget, over.value.minimum_required) == (1, 9)


def test_an_append_is_checked_before_it_is_sent(ask: Ask, path: Path) -> None:
    """A malformed message is refused by the client, before anything is sent."""
    with pytest.raises(errors.ValidationError) as caught:
        ask(path, "append", "a", [{"role": "user"}])
    assert caught.value.details["field"] == "messages[0].content"


def test_nobody_there(ask: Ask, path: Path) -> None:
    """Without a daemon, DaemonNotRunning is raised with the command to start it."""
    with pytest.raises(errors.DaemonNotRunning) as caught:
        ask(path, "health")
    assert caught.value.hint == "run `reverie up`"


def test_a_socket_that_may_not_be_opened(ask: Ask, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket that may not be opened raises Forbidden, one that cannot be reached DaemonNotRunning."""

    def refuse(kind: type[OSError], number: int) -> None:
        def connect(*_: Any) -> None:
            raise kind(number, "no")

        monkeypatch.setattr(socket.socket, "connect", connect)

        async def opened(*_: Any, **__: Any) -> None:
            raise kind(number, "no")

        monkeypatch.setattr(asyncio, "open_unix_connection", opened)

    with monkeypatch.context():
        refuse(PermissionError, 13)
        with pytest.raises(errors.Forbidden):
            ask(path, "health")
        refuse(NotADirectoryError, 20)
        with pytest.raises(errors.DaemonNotRunning, match="cannot be reached"):
            ask(path, "health")


def test_waits_for_a_daemon_that_was_just_started(ask: Ask, path: Path) -> None:
    """With `start_patience_s` the client retries until the daemon listens."""
    servers: list[Any] = []

    def later() -> None:
        time.sleep(0.2)
        server = fake_daemon(path, always(Answer(HEALTH)))
        server.__enter__()
        servers.append(server)

    thread = threading.Thread(target=later)
    thread.start()
    assert ask(path, "health", options={"start_patience_s": 60.0}).status == "ok"
    thread.join()
    servers[0].__exit__(None, None, None)


def test_waits_while_the_daemon_says_that_it_is_starting(ask: Ask, path: Path) -> None:
    """A client retries while the daemon answers `starting`, and raises Starting once `patience_s` is over."""
    answers = iter([envelope("starting", status=503), envelope("starting", status=503), Answer(HEALTH)])
    with fake_daemon(path, lambda _: next(answers)):
        assert ask(path, "health").status == "ok"
    with fake_daemon(path.with_name("2"), always(envelope("starting", status=503))), pytest.raises(errors.Starting):
        ask(path.with_name("2"), "health", options={"patience_s": 0.1})


@pytest.mark.parametrize("protocol", ["2", None])
def test_another_protocol_is_refused(ask: Ask, path: Path, protocol: str | None) -> None:
    """An answer with another protocol number, or without one, raises ProtocolMismatch."""
    with fake_daemon(path, always(Answer(HEALTH, protocol=protocol))), pytest.raises(errors.ProtocolMismatch) as caught:
        ask(path, "health")
    assert caught.value.hint is not None
    assert "reverie up" in caught.value.hint


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nReverie-Protocol: 1\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nReverie-Protocol: 1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nReverie-Protocol: 1\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
        b"HTTP/1.1 200 OK\r\nReverie-Protocol: 1\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\nReverie-Protocol: 1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
        b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops",
    ],
)
def test_what_is_not_an_answer_is_named_so(ask: Ask, path: Path, raw: bytes) -> None:
    """Malformed answers raise BadAnswer, and never hang or raise another exception."""
    with fake_daemon(path, always(Answer(raw=raw))), pytest.raises(BadAnswer):
        ask(path, "health")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nReverie-Protocol: 1\r\nContent-Length: 50\r\n\r\n{}",
    ],
)
def test_a_daemon_that_goes_away_in_the_middle(ask: Ask, path: Path, raw: bytes) -> None:
    """A connection that ends before the answer does raises DaemonNotRunning."""
    with fake_daemon(path, always(Answer(raw=raw))), pytest.raises(errors.DaemonNotRunning) as caught:
        ask(path, "health")
    assert "before it answered" in str(caught.value)


@pytest.mark.parametrize(
    "raw",
    [
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nReverie-Protocol: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"2\r\n# \r\n3;x=y\r\nhi\n\r\n0\r\n\r\n"
        ),
        b"HTTP/1.1 200 OK\r\nReverie-Protocol: 1\r\n\r\n# hi\n",
    ],
)
def test_other_ways_to_end_a_body(ask: Ask, path: Path, raw: bytes) -> None:
    """Chunked bodies, interim answers and bodies that end with the connection are read."""
    with fake_daemon(path, always(Answer(raw=raw))):
        assert ask(path, "metrics") == "# hi\n"


def test_no_answer_in_time(ask: Ask, path: Path) -> None:
    """A daemon that does not answer within the timeout raises Busy."""
    release = threading.Event()

    def silent(_: Request) -> Answer:
        release.wait(60)
        return Answer(HEALTH)

    with fake_daemon(path, silent):
        with pytest.raises(errors.Busy, match=r"within 0\.1 s$"):
            ask(path, "health", options={"timeout_s": 0.1})
        with pytest.raises(errors.Busy, match=r"within 0\.1 s; what was asked may still happen") as caught:
            ask(path, "remember", "once", options={"timeout_s": 0.1})
        assert "try again" in (caught.value.hint or "") or "before you ask again" in (caught.value.hint or "")
        release.set()


def test_a_refusal_before_the_body_is_read(ask: Ask, path: Path) -> None:
    """A request refused by its head raises the daemon's error, though sending its body fails."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)

    def serve() -> None:
        connection, _ = listener.accept()
        connection.recv(1000)
        connection.sendall(
            b"HTTP/1.1 413 No\r\nReverie-Protocol: 1\r\nContent-Length: 49\r\n\r\n"
            b'{"error":"too_large","message":"m","details":{}} '
        )
        time.sleep(0.3)
        connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    with pytest.raises(errors.TooLarge):
        ask(path, "send_chunk", "i", b"x" * 8_000_000, offset=0, first_line=1)
    thread.join()
    listener.close()


def test_a_full_queue_of_new_connections_is_waited_for(path: Path) -> None:
    """An AsyncClient's calls wait while the daemon's queue of new connections is full, and are all answered."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(0)

    async def calls() -> None:
        async with AsyncClient(path) as client:
            asked = [asyncio.create_task(client.health()) for _ in range(5)]
            await asyncio.sleep(0)  # now each has tried to connect
            await asyncio.gather(asyncio.to_thread(serve), *asked)

    def serve() -> None:
        for _ in range(5):
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(_raw_health())

    asyncio.run(calls())
    listener.close()


def test_one_connection_serves_many_calls(path: Path) -> None:
    """The connection is reused between calls, and opened again after the daemon closed it."""
    close = False

    def respond(_: Request) -> Answer:
        return Answer(HEALTH, headers={"Connection": "close"} if close else {})

    with fake_daemon(path, respond) as daemon, Client(path) as client:
        for _ in range(3):
            client.health()
        assert daemon.connections == 1
        close = True
        client.health()
        client.health()
        assert daemon.connections == 2


def test_a_connection_that_was_closed_while_idle(path: Path) -> None:
    """An idle connection that the daemon closed is replaced before the next call is sent."""
    with Client(path) as client, fake_daemon(path, always(Answer(raw=_raw_health()))):
        client.health()
        time.sleep(0.05)
        client.health()
    path.unlink()

    async def run() -> None:
        async with AsyncClient(path) as waiting:
            await waiting.health()
            await asyncio.sleep(0.05)
            await waiting.health()

    with fake_daemon(path, always(Answer(raw=_raw_health()))) as daemon:
        asyncio.run(run())
        assert daemon.connections == 2


@pytest.mark.parametrize("kind", ["blocking", "asyncio"])
def test_a_read_is_sent_again_when_a_kept_connection_breaks(path: Path, kind: str) -> None:
    """A read is repeated once if its reused connection breaks; a write without a key is not."""
    turns = iter([Answer(HEALTH), Answer(hang_up=True), Answer(HEALTH), Answer(hang_up=True)])
    with fake_daemon(path, lambda _: next(turns)) as daemon:
        if kind == "blocking":
            with Client(path) as client:
                client.health()
                assert client.health().status == "ok"
                with pytest.raises(errors.DaemonNotRunning):
                    client.undo("o")
        else:

            async def run() -> None:
                async with AsyncClient(path) as client:
                    await client.health()
                    assert (await client.health()).status == "ok"
                    with pytest.raises(errors.DaemonNotRunning):
                        await client.undo("o")

            asyncio.run(run())
        assert len(daemon.requests) == 4


def test_a_daemon_that_stops_while_it_is_asked(path: Path) -> None:
    """A call that was sent before the daemon went is not said to have found nobody: it may be done."""
    with Client(path) as client, fake_daemon(path, always(Answer(HEALTH))) as daemon:
        client.health()

        def stop(_: Request) -> Answer:
            path.unlink()
            return Answer(hang_up=True)

        daemon.respond = stop
        with pytest.raises(errors.DaemonNotRunning, match="closed the connection before it answered"):
            client.health()


def test_calls_side_by_side(path: Path) -> None:
    """Concurrent calls of one AsyncClient use one connection each, which are reused later."""
    both = threading.Barrier(2, timeout=60)

    def together(_: Request) -> Answer:
        both.wait()
        return Answer(HEALTH)

    async def run() -> None:
        async with AsyncClient(path) as client:
            for _ in range(2):
                await asyncio.gather(client.health(), client.health())

    with fake_daemon(path, together) as daemon:
        asyncio.run(run())
        assert daemon.connections == 2


def test_the_socket_is_found_by_the_environment(ask: Ask, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a path, the client uses the socket that the environment configures."""
    monkeypatch.setenv("REVERIE_SOCKET", str(path))
    with fake_daemon(path, always(Answer(HEALTH))):
        assert ask(None, "health").pid == 7


def test_importing_the_client_is_quick_and_light() -> None:
    """The blocking client loads no asyncio and no other heavy package, and of the types those of the nouns in use."""
    code = "import sys; from reverie.client import Client; Client('x').documents; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    for heavy in ("asyncio", "ssl", "http.client", "lmdb", "click", "rich", "tiktoken", "anthropic", "starlette"):
        assert heavy not in loaded
    types = {name for name in loaded if name.startswith("reverie.wire.")}
    assert types == {"reverie.wire.base", "reverie.wire.documents", "reverie.wire.spaces"}


def test_no_other_name() -> None:
    """A name that `reverie.client` does not have raises AttributeError."""
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        _ = client_package.Nobody


def _raw_health() -> bytes:
    body = b'{"status":"ok","version":"1","protocol":1,"pid":1,"uptimeSeconds":1}'
    return b"HTTP/1.1 200 OK\r\nReverie-Protocol: 1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
