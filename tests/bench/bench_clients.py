"""Benchmark of many clients at once: 200 that remember, and 500 that ask, beside a bare asyncio echo server.

    python tests/bench/bench_clients.py

Every client has a connection of its own and sends its next request when the last is answered. All clients are in this
process, so their own work is in every figure. Rounds of the daemon and of the echo server take turns.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import sys
import tempfile
import time
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable

from support.daemon import running_daemon

WRITERS, WRITES = 200, 10
READERS, READS = 500, 20
ROUNDS = 3
ECHOED = b"x" * 120  # bytes of a request and its answer, about what a health request has
GOAL_PER_S = 500
GOAL_P99_MS = 300
GOAL_RATIO = 3
MILLISECONDS = 1000.0


def main() -> None:
    """Print the rate of writing clients, then the times of reading clients, each against a new daemon."""
    with running_daemon() as daemon:
        writers(daemon.socket)
    with running_daemon() as daemon, tempfile.TemporaryDirectory() as scratch:
        readers(daemon.socket, Path(scratch) / "echo.sock")


def writers(path: Path) -> None:
    """Print the memories written per second by many clients, the median of several rounds."""
    rates = []
    for number in range(ROUNDS):
        began = time.perf_counter()
        asyncio.run(clients(path, WRITERS, WRITES, remember(number)))
        rates.append(WRITERS * WRITES / (time.perf_counter() - began))
    rate = statistics.median(rates)
    print(f"{WRITERS} clients remember: {rate:,.0f} per second, {rate / GOAL_PER_S:.2f} x the goal of {GOAL_PER_S}")


def readers(path: Path, echo: Path) -> None:
    """Print p50 and p99 of reading calls by many clients, and the ratio of each p99 to that of a bare echo server."""
    server = multiprocessing.get_context("spawn").Process(target=serve_echo, args=(echo,), daemon=True)
    server.start()
    wait_for(echo)
    asyncio.run(clients(path, WRITERS, 1, remember(0)))
    kinds: dict[str, tuple[Path, Callable[[int, int], bytes]]] = {
        "a bare echo": (echo, lambda *_: ECHOED),
        "health": (path, lambda *_: request("GET", "/v1/health")),
        "recall": (path, recall),
    }
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(ROUNDS):
        for name, (address, make) in kinds.items():
            times[name] += asyncio.run(clients(address, READERS, READS, make, is_http=address != echo))
    server.terminate()
    server.join()
    echo_p99 = p99(times["a bare echo"])
    print(f"\n{READERS} clients, {READS} calls each; goals: p99 {GOAL_P99_MS} ms, {GOAL_RATIO} x that of the echo")
    print(f"  {'milliseconds':36} {'p50':>9} {'p99':>8} {'x echo':>8}")
    for name, measured in times.items():
        print(f"  {name:36} {statistics.median(measured):9.1f} {p99(measured):8.1f} {p99(measured) / echo_p99:8.2f}")


def request(method: str, path: str, body: object = None) -> bytes:
    """Return the bytes of one HTTP request."""
    data = b"" if body is None else orjson.dumps(body)
    head = f"{method} {path} HTTP/1.1\r\nHost: reverie\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


def remember(round_number: int) -> Callable[[int, int], bytes]:
    """Return a function that makes the request by which a client stores its next memory."""
    return lambda client, call: request(
        "POST", "/v1/memories", {"content": f"In round {round_number} client {client} noted fact {call} of the harbour"}
    )


def recall(client: int, call: int) -> bytes:
    """Return a request that asks for a memory that exists."""
    return request("POST", "/v1/recall", {"query": f"what did client {client % WRITERS} note about the harbour {call}"})


async def clients(
    path: Path, count: int, calls: int, make: Callable[[int, int], bytes], *, is_http: bool = True
) -> list[float]:
    """Return the milliseconds of every call of `count` concurrent clients."""
    times: list[float] = []

    async def one(client: int) -> None:
        reader, writer = await asyncio.open_unix_connection(path)
        for call in range(calls):
            data = make(client, call)
            began = time.perf_counter()
            writer.write(data)
            await (answer(reader) if is_http else reader.readexactly(len(data)))
            times.append(MILLISECONDS * (time.perf_counter() - began))
        writer.close()

    await asyncio.gather(*(one(client) for client in range(count)))
    return times


async def answer(reader: asyncio.StreamReader) -> None:
    """Read one HTTP answer. Raises RuntimeError for a status of 400 and above."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    body = await reader.readexactly(int(length.split(b":")[1]))
    if head.split(b" ", 2)[1] >= b"400":
        raise RuntimeError(f"refused: {head!r} {body!r}")


def p99(times: list[float]) -> float:
    """Return the 99th percentile."""
    return statistics.quantiles(times, n=100)[98]


def serve_echo(path: Path) -> None:
    """Send back what comes, with asyncio's streams, until ended."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def serve() -> None:
        server = await asyncio.start_unix_server(handle, path, backlog=READERS)
        await server.serve_forever()

    asyncio.run(serve())


def wait_for(path: Path) -> None:
    """Wait until a socket exists."""
    while not path.exists():
        time.sleep(0.01)


if __name__ == "__main__":
    main()
