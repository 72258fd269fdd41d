"""Benchmark of what grows: bytes on disk and processor time of one `remember` after another through a daemon.

    python tests/bench/bench_growth.py [MEMORIES]

Processor time is that of the daemon's threads, all work behind the answers included (the file, the lists, the search
index). The growth exponent is that of the time of one call between the first and the last row: 0 is flat, 1 is linear.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reverie import wire
from reverie.client import Client
from reverie.redact import Redactor
from reverie.store import Store
from reverie.store.backup import backup
from reveried.actions.compact import QUIET_S
from support.daemon import running_daemon

MEMORIES = 10_000
ROWS = (50, 400, 1_600, 10_000)
QUIET_FROM = 1_600  # memories; a smaller store is below the size that is compacted by itself
SAMPLE = 40  # calls of which a row is the median
WORDS = (
    *("the", "buffer", "of", "a", "request", "is", "read", "twice", "when", "its", "retry", "comes", "late", "and"),
    *("parser", "cache", "router", "exporter", "clock", "ledger", "mailer", "index", "port", "timeout", "harbour"),
)
NANOSECONDS = 1e9


def main() -> None:
    """Print a row for each number of memories, the sizes on disk, and the exponent by which the time grows."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else MEMORIES
    rows = [row for row in ROWS if row <= most]
    chance = random.Random(1)
    text_bytes = 0
    medians: dict[int, float] = {}
    print("memories   ms of CPU each   store     per byte of text   store once nothing was written for a moment")
    with tempfile.TemporaryDirectory() as scratch, running_daemon() as daemon:
        with Client(daemon.socket) as client:
            times: list[float] = []
            for number in range(1, most + 1):
                content = f"Fact {number}: " + " ".join(chance.choices(WORDS, k=14))
                text_bytes += len(content)
                before = cpu_seconds(daemon.pid)
                client.remember(wire.CreateMemory(content=content))
                times.append(cpu_seconds(daemon.pid) - before)
                if number in rows:
                    medians[number] = 1000 * statistics.median(times[-SAMPLE:])
                    size = store_file(daemon.home).stat().st_blocks * 512
                    after = settled_bytes(daemon.home) if number >= QUIET_FROM else size
                    print(
                        f"{number:8,}   {medians[number]:14.2f}   {size / 1e6:5.2f} MB   {size / text_bytes:6.2f} x   "
                        f"{after / 1e6:5.2f} MB",
                        flush=True,
                    )
        daemon.stop()
        with Store.open(store_file(daemon.home).parent, redactor=Redactor()) as store:
            copy = backup(store, Path(scratch) / "copy.mdb", draft_suffix="bench")
        print(f"  backup   {'':14}   {copy.path.stat().st_size / 1e6:5.2f} MB")
    first, last = min(medians), max(medians)
    if last > first:
        exponent = math.log(medians[last] / medians[first]) / math.log(last / first)
        print(f"growth exponent of a call, {first:,} to {last:,} memories: {exponent:.2f} (goal: at most 0.2)")


def cpu_seconds(pid: int) -> float:
    """Return the processor time of all threads of a process, to the nanosecond."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:  # a thread that has just ended
            continue
    return total / NANOSECONDS


def settled_bytes(home: Path) -> int:
    """Return the bytes of the store's file on disk, after the daemon had time to compact it."""
    time.sleep(3 * QUIET_S)
    return store_file(home).stat().st_blocks * 512


def store_file(home: Path) -> Path:
    """Return the file of the daemon's store."""
    return next(home.rglob("data.mdb"))


if __name__ == "__main__":
    main()
