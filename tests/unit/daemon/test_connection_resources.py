"""Resources of a connection and their release: timers, reading ahead, the end of a response, the drain of a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reveried.http.limits import Admission, Limits
from reveried.http.message import Request, Response
from reveried.server import Server, bind_unix
from support.daemon import request, scratch_home

SECONDS = 10.0  # for what must happen; far more than it takes
A_WHILE = 0.4  # in which what must not happen would have happened


class Gated:
    """A handler that answers `/now` at once, `/never` not at all, and other paths once its event is set."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.running = 0
        self.served: list[str] = []
        self.cancelled = 0

    async def __call__(self, request: Request, response: Response) -> None:
        self.running += 1
        try:
            if request.path == "/never":
                return
            if request.path != "/now":
                await self.opened.wait()
            self.served.append(request.path)
            await response.send(200, [(b"content-length", b"2")], b"ok")
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1


@asynccontextmanager
async def served(limits: Limits | None = None) -> AsyncIterator[tuple[Server, Gated, Path]]:
    """Yield a server on a Unix socket, its handler and the socket's path."""
    with scratch_home() as home:
        handler = Gated()
        server = Server(Admission(limits or Limits()), handler)
        server.listen(bind_unix(home / "s"))
        yield server, handler, home / "s"
        await server.drain(0.1)


def run(work: Callable[[Server, Gated, Path], Awaitable[None]], limits: Limits | None = None) -> None:
    async def main() -> None:
        async with served(limits) as parts:
            await asyncio.wait_for(work(*parts), 3 * SECONDS)

    asyncio.run(main())


async def until(condition: Callable[[], object]) -> None:
    """Wait until the condition is true; fail after some seconds."""
    async with asyncio.timeout(SECONDS):
        while not condition():  # noqa: ASYNC110 - the product has no event for it
            await asyncio.sleep(0.005)


async def sent_before_blocking(writer: asyncio.StreamWriter, data: bytes, most: int) -> int:
    """Send `data` again and again until the peer reads no more, or `most` bytes; return the bytes sent."""
    total = 0
    while total < most:
        writer.write(data)
        total += len(data)
        try:
            await asyncio.wait_for(writer.drain(), A_WHILE)
        except TimeoutError:
            break
    return total


async def answers(reader: asyncio.StreamReader, count: int) -> list[bytes]:
    """Read `count` answers with a body of two bytes; return their status lines."""
    found = []
    async with asyncio.timeout(SECONDS):
        for _ in range(count):
            head = await reader.readuntil(b"\r\n\r\n")
            assert await reader.readexactly(2) == b"ok"
            found.append(head.split(b"\r\n")[0])
    return found


def timers() -> list[Any]:
    """Return the timers that the running loop still has to call."""
    loop: Any = asyncio.get_running_loop()
    return [timer for timer in loop._scheduled if not timer.cancelled()]


def test_a_closed_connection_leaves_no_timer() -> None:
    """After a connection is closed, none of its timers is left, in whatever state its request was."""

    async def work(server: Server, _: Gated, path: Path) -> None:
        before = len(timers())
        for data in (
            b"",
            b"GET /no",
            request("POST", "/now", b"12345")[:-3],
            b"nonsense\r\n\r\n",
            request("GET", "/now"),
        ):
            _reader, writer = await asyncio.open_unix_connection(str(path))
            await until(lambda: server.admission.open_connections == 1)
            writer.write(data)
            await writer.drain()
            await asyncio.sleep(0.02)
            writer.transport.abort()
            await until(lambda: server.admission.open_connections == 0)
            assert len(timers()) == before, data

    run(work)


def test_a_request_that_runs_has_no_deadline_of_reading() -> None:
    """A handler may take longer than the deadlines for head and body; its answer still arrives."""

    async def work(_: Server, handler: Gated, path: Path) -> None:
        reader, writer = await asyncio.open_unix_connection(str(path))
        whole = request("POST", "/slow", b"12345")
        for piece in (whole[:20], whole[20:-3], whole[-3:]):
            writer.write(piece)
            await asyncio.sleep(0.03)
        await until(lambda: handler.running == 1)
        await asyncio.sleep(1.2)
        handler.opened.set()
        assert await answers(reader, 1) == [b"HTTP/1.1 200 OK"]
        writer.write(request("GET", "/now"))
        assert await answers(reader, 1) == [b"HTTP/1.1 200 OK"]
        writer.close()

    run(work, Limits(header_s=1.0, body_s=1.0, idle_s=1.0))


def test_reading_ahead_is_bounded_and_goes_on() -> None:
    """While a request runs the server reads few of the bytes behind it; later every request is answered."""

    async def work(server: Server, handler: Gated, path: Path) -> None:
        body = b"x" * 65_536
        for name in ("GET", "POST"):
            handler.opened.clear()
            handler.served.clear()
            reader, writer = await asyncio.open_unix_connection(str(path))
            one = request(name, "/gate", body if name == "POST" else None, {"Filler": "y" * 4000})
            sent = await sent_before_blocking(writer, one, 16 << 20)
            assert sent < 4 << 20
            assert server.admission.reserved_bytes < 1 << 20
            handler.opened.set()
            count = sent // len(one)
            assert await answers(reader, count) == [b"HTTP/1.1 200 OK"] * count
            writer.close()

    run(work)


def test_too_many_requests_in_one_piece_are_refused_as_busy() -> None:
    """Requests beyond the limit on one connection get 503 `busy` with Retry-After; those before are answered."""

    async def work(_: Server, handler: Gated, path: Path) -> None:
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(request("GET", "/gate") + request("GET", "/now") * 100)
        await until(lambda: handler.running == 1)
        await asyncio.sleep(0.05)
        handler.opened.set()
        async with asyncio.timeout(SECONDS):
            everything = await reader.read()
        *fine, refusal = everything.split(b"HTTP/1.1 ")[1:]
        assert [answer[:3] for answer in fine] == [b"200"] * len(fine)
        assert len(fine) <= 21
        assert refusal.startswith(b"503 ")
        assert b"retry-after: 1\r\n" in refusal
        assert b'"error":"busy"' in refusal
        writer.close()

    run(work, Limits(pipelined=20))


def test_nothing_is_read_behind_what_was_refused() -> None:
    """After a malformed request the server reads no more bytes, and still answers the request before it."""

    async def work(_: Server, handler: Gated, path: Path) -> None:
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(request("GET", "/gate") + b"nonsense\r\n\r\n")
        await until(lambda: handler.running == 1)
        assert await sent_before_blocking(writer, b"z" * 65_536, 64 << 20) < 8 << 20
        handler.opened.set()
        async with asyncio.timeout(SECONDS):
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 OK")
        writer.transport.abort()

    run(work)


def test_a_handler_without_a_response_ends_the_connection() -> None:
    """If a handler sends no response, the server closes the connection."""

    async def work(_: Server, __: Gated, path: Path) -> None:
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(request("GET", "/never"))
        async with asyncio.timeout(SECONDS):
            assert await reader.read() == b""
        writer.close()

    run(work)


def test_draining_closes_idle_connections_first() -> None:
    """Draining closes idle connections at once, refuses new ones, and answers running requests before closing them."""

    async def work(server: Server, handler: Gated, path: Path) -> None:
        idle, idle_writer = await asyncio.open_unix_connection(str(path))
        busy, busy_writer = await asyncio.open_unix_connection(str(path))
        busy_writer.write(request("GET", "/gate"))
        await until(lambda: handler.running == 1)
        draining = asyncio.ensure_future(server.drain(SECONDS))
        async with asyncio.timeout(SECONDS / 2):
            assert await idle.read() == b""
        with pytest.raises(OSError, match="refused"):
            await asyncio.open_unix_connection(str(path))
        assert handler.running == 1
        handler.opened.set()
        async with asyncio.timeout(SECONDS):
            answer = await busy.read()
            assert await draining
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert b"connection: close" in answer
        idle_writer.close()
        busy_writer.close()

    run(work)


def test_draining_gives_up_what_takes_too_long() -> None:
    """A request that outlasts the time for draining is cancelled, and `drain` returns False."""

    async def work(server: Server, handler: Gated, path: Path) -> None:
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(request("GET", "/gate"))
        await until(lambda: handler.running == 1)
        async with asyncio.timeout(SECONDS / 2):
            assert not await server.drain(0.05)
            assert await reader.read() == b""
        assert handler.cancelled == 1
        writer.close()

    run(work)


def test_draining_closes_a_connection_in_the_middle_of_a_request() -> None:
    """Draining closes a connection whose request has not arrived whole, without waiting for the rest."""

    async def work(server: Server, _: Gated, path: Path) -> None:
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(request("POST", "/now", b"12345")[:-3])
        await until(lambda: server.admission.reserved_bytes == 5)
        async with asyncio.timeout(SECONDS / 2):
            assert await server.drain(SECONDS)
            assert await reader.read() == b""
        await until(lambda: server.admission.reserved_bytes == 0)
        writer.close()

    run(work)
