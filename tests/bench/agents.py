"""Appends by 4 and 16 concurrent agents, alone and beside a bulk import, against bare LMDB commits.

Every agent sends its next message when the last is acknowledged. Rounds alone, beside an import, and of bare durable
commits take turns, so that a slow moment of the disk meets all three.
"""

from __future__ import annotations

import os
import selectors
import socket
import statistics
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import lmdb
import orjson

from bench.run import p99, program, row
from support.daemon import Daemon, request, running_daemon
from support.story import generate
from support.waiting import wait_until

OUTSIDE = True
ROUNDS, SECONDS = 4, 3.0  # of each
TEXT = "the tests pass now; next I will look at the exporter and its lock " * 4
FILES = 120  # more sessions than are imported in a round


@dataclass(slots=True)
class Figures:
    """Milliseconds of all appends, and the seconds in which they were."""

    times_ms: list[float] = field(default_factory=list)
    during_s: float = 0.0

    def show(self, name: str) -> None:
        cuts = statistics.quantiles(self.times_ms, n=1000)
        note = "p90, p99, p99.9: " + " ".join(f"{cuts[index]:.2f}" for index in (899, 989, 998))
        row(f"{name}, p50", cuts[499], "ms", note=f"{note}; {len(self.times_ms) / self.during_s:,.0f} per second")


def appends() -> None:
    """Print the times of appends by the number of agents."""
    sessions = [generate(number, tasks=150, noise=100).data for number in range(3)]
    with tempfile.TemporaryDirectory() as scratch, running_daemon() as daemon:
        for number in range(16):
            daemon.ask("POST", "/v1/threads", {"id": f"agent-{number}"})
        for agents in (4, 16):
            alone, beside, floor = Figures(), Figures(), Figures()
            commit(Path(scratch), 0.5, Figures())
            append(daemon, agents, 0.5, Figures())
            for _ in range(ROUNDS):
                commit(Path(scratch), SECONDS / 3, floor)
                append(daemon, agents, SECONDS, alone)
                with importing(daemon, sessions):
                    append(daemon, agents, SECONDS, beside)
            floor.show(f"{agents} agents: a bare LMDB commit")
            alone.show(f"{agents} agents: an append")
            beside.show(f"{agents} agents: beside a bulk import")
            times = p99(beside.times_ms) / p99(alone.times_ms)
            row(f"{agents} agents: p99 beside the import", p99(beside.times_ms), "ms", times=times, most=2)


def append(daemon: Daemon, agents: int, seconds: float, figures: Figures) -> None:
    """Let all agents append messages for some seconds, in one loop over their connections, and note each latency."""
    waiting = selectors.DefaultSelector()
    sent: dict[int, float] = {}
    peers = []
    body = orjson.dumps({"messages": [{"role": "user", "content": TEXT}]})
    for number in range(agents):
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(os.fspath(daemon.socket))
        said = request("POST", f"/v1/threads/agent-{number}/messages", body)
        waiting.register(peer, selectors.EVENT_READ, said)
        peers.append(peer)
        sent[peer.fileno()] = time.perf_counter()
        peer.sendall(said)
    began = time.perf_counter()
    while sent:
        for key, _ in waiting.select(timeout=30):
            assert isinstance(key.fileobj, socket.socket)
            answer = key.fileobj.recv(1 << 16)
            while not is_complete(answer):
                answer += key.fileobj.recv(1 << 16)
            now = time.perf_counter()
            assert answer.startswith(b"HTTP/1.1 200"), answer[:300]
            figures.times_ms.append(1000 * (now - sent.pop(key.fd)))
            if now < began + seconds:
                sent[key.fd] = now
                key.fileobj.sendall(key.data)
    figures.during_s += time.perf_counter() - began
    waiting.close()
    for peer in peers:
        peer.close()


def is_complete(answer: bytes) -> bool:
    """Return True if the head and all of the body have arrived."""
    head, _, body = answer.partition(b"\r\n\r\n")
    length = head.lower().partition(b"content-length: ")[2].split(b"\r", 1)[0]
    return length != b"" and len(body) >= int(length)


def commit(folder: Path, seconds: float, figures: Figures) -> None:
    """Time one small record per durable commit, by LMDB alone."""
    began = time.perf_counter()
    with lmdb.open(str(folder / "floor"), map_size=1 << 30) as env:
        while (now := time.perf_counter()) < began + seconds:
            with env.begin(write=True) as txn:
                txn.put(f"{now:.9f}".encode(), TEXT.encode())
            figures.times_ms.append(1000 * (time.perf_counter() - now))
    figures.during_s += time.perf_counter() - began


@contextmanager
def importing(daemon: Daemon, sessions: list[bytes]) -> Iterator[None]:
    """Import session after session during the block. Another file name is another session: all of it is new."""
    known = counted(daemon)
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(FILES):
            path = Path(scratch) / f"{uuid.uuid4()}.jsonl"
            first = Path(scratch) / f"session-{number % len(sessions)}"
            if not first.exists():
                first.write_bytes(sessions[number % len(sessions)])
            os.link(first, path)
        command = program("import", "claude-code", scratch)
        with subprocess.Popen(command, env=daemon.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            wait_until(lambda: counted(daemon) > known, "the first session")
            yield
            assert process.poll() is None, "the import ended before the round"
            process.terminate()


def counted(daemon: Daemon) -> int:
    """Return how many threads there are, of those that a page shows."""
    return len(daemon.ask("GET", "/v1/threads?limit=1000").json()["items"])


CASES = {"appends": appends}
