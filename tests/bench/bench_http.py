"""Benchmark of the daemon as a process: start time, idle cost, trivial requests against a bare echo server.

    python tests/bench/bench_http.py

Prints ratios to a floor measured in the same run; the floor is asyncio with uvloop that answers a fixed line.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.daemon import Daemon, environment, request, running_daemon, scratch_home
from support.http_checks import HEALTH, cpu_seconds

ROUNDS = 2000
CRAWLERS = 100
REPEATS = 5


def start_to_first_answer() -> float:
    """Return the seconds from spawning the process to its first 200."""
    with scratch_home() as home:
        daemon = Daemon(home, environment(home))
        began = time.perf_counter()
        daemon.start()
        elapsed_s = time.perf_counter() - began
        daemon.stop()
    return elapsed_s


def round_trips(path: str, message: bytes, rounds: int = ROUNDS) -> list[float]:
    """Return the seconds of each request on one connection, sorted."""
    times = []
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(path)
        for _ in range(rounds):
            began = time.perf_counter()
            peer.sendall(message)
            answer = peer.recv(65536)
            while len(answer) < answer_length(answer):
                answer += peer.recv(65536)
            times.append(time.perf_counter() - began)
    return sorted(times)


def answer_length(answer: bytes) -> int:
    """Return the total bytes of an answer, from its Content-Length; an echo has 75."""
    head, _, _ = answer.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    return len(head) + 4 + int(length[1]) if length else 75


def echo(path: str) -> None:
    """Run the lower bound: uvloop and a protocol that answers each chunk with the same bytes."""
    import asyncio

    import uvloop

    class Echo(asyncio.Protocol):
        transport: asyncio.WriteTransport

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = transport  # type: ignore[assignment] # a stream's transport can be written to

        def data_received(self, data: bytes) -> None:
            self.transport.write(data)

    async def main() -> None:
        server = await asyncio.get_running_loop().create_unix_server(Echo, path)
        await server.serve_forever()

    uvloop.run(main())


def beside_crawlers(daemon: Daemon) -> None:
    """Return the 99th percentile of health alone, and beside clients that never finish their request line."""
    alone = round_trips(str(daemon.socket), HEALTH)[-ROUNDS // 100]
    wires = []
    for _ in range(CRAWLERS):
        wires.append(daemon.wire())
        wires[-1].send(b"G")
    slow = round_trips(str(daemon.socket), HEALTH)[-ROUNDS // 100]
    for wire in wires:
        wire.socket.close()
    print(f"health beside {CRAWLERS} crawlers: p99 {slow * 1e6:.0f} us, {slow / alone:.2f} x alone (goal: at most 2 x)")


def main() -> None:
    """Print every figure."""
    python = min(_timed([sys.executable, "-c", "pass"]) for _ in range(REPEATS))
    starts = sorted(start_to_first_answer() for _ in range(REPEATS))
    print(f"start to first answer: best {starts[0]:.3f} s, median {statistics.median(starts):.3f} s")
    print(f"  ({starts[0] / python:.1f} x a bare interpreter, {python:.3f} s)")
    with running_daemon() as daemon:
        before, began = cpu_seconds(daemon.pid), time.monotonic()
        time.sleep(20)
        share = (cpu_seconds(daemon.pid) - before) / (time.monotonic() - began)
        print(f"idle: {daemon.anonymous_rss() / 1e6:.1f} MB anonymous, {share:.3%} of a CPU over 20 s")
        with scratch_home() as home:
            floor = multiprocessing.get_context("spawn").Process(target=echo, args=(str(home / "s"),))
            floor.start()
            while not (home / "s").exists():
                time.sleep(0.01)
            base = 0.0
            for name, path, message in (
                ("echo", str(home / "s"), b"x" * 75),
                ("health", str(daemon.socket), HEALTH),
                ("unknown path", str(daemon.socket), request("GET", "/v1/nothing")),
                ("thread that is not", str(daemon.socket), request("GET", "/v1/threads/th_x")),
            ):
                times = min((round_trips(path, message) for _ in range(REPEATS)), key=statistics.median)
                median = statistics.median(times)
                base = base or median
                print(
                    f"{name}: p50 {median * 1e6:.0f} us, p99 {times[-ROUNDS // 100] * 1e6:.0f} us, "
                    f"{median / base:.2f} x echo"
                )
            floor.terminate()
            floor.join()
        beside_crawlers(daemon)


def _timed(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, env=os.environ)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
