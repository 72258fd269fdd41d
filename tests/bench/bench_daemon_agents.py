"""Benchmark of appends by 4 and 16 concurrent agents, alone and beside a bulk import, against bare LMDB commits.

    python tests/bench/bench_daemon_agents.py

Every agent sends its next message when the last is acknowledged. Rounds alone, beside an import, and of bare durable
LMDB commits take turns, so that a slow moment of the disk meets all three.
"""

from __future__ import annotations

import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import lmdb

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reverie.client import Client
from reverie.store.env import lmdb_options
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, request, running_daemon
from support.session import session_file

AGENTS = (4, 16)
ROUNDS = 4
SECONDS = 3.0  # of each round
GOAL_RATIO = 2.0
TEXT = "the tests pass now; next I will look at the exporter and its lock " * 4
IMPORT_TURNS, IMPORT_NOISE = 150, 700


@dataclass(slots=True)
class Figures:
    """Latencies of all appends in seconds, and the duration of the run."""

    times_s: list[float] = field(default_factory=list)
    during_s: float = 0.0

    def row(self, name: str) -> str:
        """Return median, percentiles and rate."""
        cuts = statistics.quantiles(self.times_s, n=1000)
        shown = "  ".join(f"{1000 * cuts[index]:8.2f}" for index in (499, 899, 989, 998))
        return f"  {name:24s} {shown}  {len(self.times_s) / self.during_s:9.0f}"

    @property
    def p99_s(self) -> float:
        """Return the 99th percentile in seconds."""
        return statistics.quantiles(self.times_s, n=100)[98]


def main() -> None:
    """Print one table per number of agents."""
    with tempfile.TemporaryDirectory() as scratch, running_daemon() as daemon:
        with Client(daemon.socket) as client:
            for number in range(max(AGENTS)):
                client.create_thread(id=f"agent-{number}")
        for number in AGENTS:
            alone, beside, floor = Figures(), Figures(), Figures()
            commits(Path(scratch), 0.5, Figures())
            appends(daemon, number, 0.5, Figures())
            for round_ in range(ROUNDS):
                commits(Path(scratch), SECONDS / 3, floor)
                appends(daemon, number, SECONDS, alone)
                with Importing(daemon, Path(scratch), 100 * number + round_):
                    appends(daemon, number, SECONDS, beside)
            print(f"{number} agents, milliseconds     p50       p90       p99     p99.9   per second")
            print(floor.row("a bare LMDB commit"))
            print(alone.row("an append"))
            print(beside.row("beside a bulk import"))
            ratio = beside.p99_s / alone.p99_s
            print(f"  p99 beside the import: {ratio:.2f} x alone (goal: at most {GOAL_RATIO} x)\n")


def appends(daemon: Daemon, agents: int, seconds: float, figures: Figures) -> None:
    """Let all agents append messages for some seconds, in one loop over their connections, and note each latency."""
    waiting = selectors.DefaultSelector()
    sent: dict[int, float] = {}
    peers = []
    for number in range(agents):
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(os.fspath(daemon.socket))
        body = b'{"messages":[{"role":"user","content":"%b"}]}' % TEXT.encode()
        message = request("POST", f"/v1/threads/agent-{number}/messages", body)
        waiting.register(peer, selectors.EVENT_READ, message)
        peers.append(peer)
        sent[peer.fileno()] = time.perf_counter()
        peer.sendall(message)
    began = time.perf_counter()
    over = began + seconds
    while sent:
        for key, _ in waiting.select(timeout=30):
            assert isinstance(key.fileobj, socket.socket)
            answer = key.fileobj.recv(1 << 16)
            while not is_complete(answer):
                answer += key.fileobj.recv(1 << 16)
            now = time.perf_counter()
            assert answer.startswith(b"HTTP/1.1 200"), answer[:300]
            figures.times_s.append(now - sent.pop(key.fd))
            if now < over:
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


def commits(folder: Path, seconds: float, figures: Figures) -> None:
    """Time one small record per durable commit, by LMDB alone."""
    began = time.perf_counter()
    with lmdb.open(str(folder / "floor"), **lmdb_options(1 << 30)) as env:  # type: ignore[arg-type]
        while (now := time.perf_counter()) < began + seconds:
            with env.begin(write=True) as txn:
                txn.put(f"{now:.9f}".encode(), TEXT.encode())
            figures.times_s.append(time.perf_counter() - now)
    figures.during_s += time.perf_counter() - began


class Importing:
    """A process that imports generated sessions one after another until the block ends."""

    def __init__(self, daemon: Daemon, folder: Path, number: int) -> None:
        self._command = [sys.executable, __file__, "--import", str(daemon.socket), str(folder), str(number)]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> None:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.communicate()
        assert self._process.returncode == 0


def importing(socket_path: Path, folder: Path, number: int) -> None:
    """Run the importing process; it ends when its input does."""
    stop = threading.Event()

    def until_left() -> None:
        sys.stdin.read()
        stop.set()

    threading.Thread(target=until_left, daemon=True).start()
    paths = [session_file(folder, 1000 * number + index, IMPORT_TURNS, IMPORT_NOISE) for index in range(3)]
    with Client(socket_path) as client:
        print("importing", flush=True)
        while not stop.is_set():
            # Another name is another session: all of it is new each time.
            fresh = paths[0].rename(paths[0].with_name(f"{uuid.uuid4()}.jsonl"))
            import_file(client, fresh, program="claude-code")
            paths = [*paths[1:], fresh]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--import"]:
        importing(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
