"""What grows with the memories that are there: the time to remember one more, to learn a session, the bytes on disk.

Time is the processor time of the daemon and its processes, all work behind the answer included (files, lists, index).
"""

from __future__ import annotations

import random
import statistics
import subprocess
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from bench.run import children, program, row, table, tree_seconds
from support.daemon import Daemon, running_daemon
from support.story import generate

OUTSIDE = True
SAMPLE = 40  # calls of which a figure is the median
SETTLE_S = 3.0  # a store to which nothing was written for a moment is compacted
WORDS = (
    *("the", "buffer", "of", "a", "request", "is", "read", "twice", "when", "its", "retry", "comes", "late", "and"),
    *("parser", "cache", "router", "exporter", "clock", "ledger", "mailer", "index", "port", "timeout", "harbour"),
)
REMEMBERED = {
    "processor time of one call": ("ms", None),
    "store, for a byte of text": ("x", None),
    "store, after a moment without writes": ("MB", None),
}
LEARNT = {"processor time to learn one session": ("ms", None), "memories": ("", None)}


def remember(most: str = "10000") -> None:
    """Print what one more memory costs; the goal is an exponent of at most 0.2."""
    sizes = [size for size in (50, 400, 1_600, 10_000) if size <= int(most)]
    chance = random.Random(1)
    text_bytes = 0
    columns = []
    with tempfile.TemporaryDirectory() as scratch, running_daemon() as daemon:
        for begin, end in pairwise((0, *sizes)):
            times = []
            for number in range(begin, end):
                content = f"Fact {number}: " + " ".join(chance.choices(WORDS, k=14))
                text_bytes += len(content)
                before = threads_seconds(daemon.pid)
                assert daemon.ask("POST", "/v1/memories", {"content": content}).status < 300
                times.append(1000 * (threads_seconds(daemon.pid) - before))
            size = store_bytes(daemon)
            time.sleep(SETTLE_S if end > 400 else 0)  # smaller stores are not compacted by themselves
            columns.append(
                {
                    "processor time of one call": statistics.median(times[-SAMPLE:]),
                    "store, for a byte of text": size / text_bytes,
                    "store, after a moment without writes": store_bytes(daemon) / 1e6,
                }
            )
        table("memories", sizes, columns, REMEMBERED)
        copy = Path(scratch) / "copy"
        subprocess.run(program("backup", str(copy)), env=daemon.env, check=True, stdout=subprocess.DEVNULL)
        row("a backup", copy.stat().st_size / 1e6, "MB")


def learn(most: str = "245") -> None:
    """Print what one session after another costs, each about as much and new."""
    sizes = [size for size in (10, 40, 80, 160, 245) if size <= int(most)]
    columns = []
    with tempfile.TemporaryDirectory() as scratch, running_daemon() as daemon:
        times = []
        for number in range(1, sizes[-1] + 1):
            session = generate(number, tasks=4, noise=8)
            path = Path(scratch) / f"{session.name}.jsonl"
            path.write_bytes(session.data)
            command = program("import", "claude-code", str(path))
            before = tree_seconds(daemon.pid)
            subprocess.run(command, env=daemon.env, check=True, stdout=subprocess.DEVNULL)
            times.append(1000 * (tree_seconds(daemon.pid) - before))
            if number in sizes:
                memories = len(daemon.ask("GET", "/v1/memories?limit=1000").json()["items"])
                mean = statistics.mean(times[-10:])
                columns.append({"processor time to learn one session": mean, "memories": memories})
    table("sessions", sizes, columns, LEARNT)


def threads_seconds(pid: int) -> float:
    """Return the processor time of all threads of a process and its children, to the nanosecond."""
    total = 0
    for task in (task for one in (pid, *children(pid)) for task in Path(f"/proc/{one}/task").iterdir()):
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:  # a thread that has just ended
            continue
    return total / 1e9


def store_bytes(daemon: Daemon) -> int:
    """Return the bytes of the store's file on disk."""
    return next(daemon.home.rglob("data.mdb")).stat().st_blocks * 512


CASES = {"remember": remember, "learn": learn}
