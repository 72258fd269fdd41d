"""Benchmark of learning: processor time of one session after another, each about as much and new.

    python tests/bench/bench_learning.py [SESSIONS]

Time is that of the daemon with its compute process, all work behind the answer included. The growth exponent is that of
the time of one session between the first and the last row: 0 is flat, 1 is linear in the memories that are there.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reverie.client import Client
from reveried.cli.send_sessions import import_file
from support.daemon import running_daemon
from support.session import session_file

SESSIONS = 245
SAMPLE = 10  # sessions of which a row is the mean
ROWS = (10, 40, 80, 160, 245)
TICKS = 100  # a second, of the kernel's counters


def main() -> None:
    """Print a row for each number of sessions, and the exponent by which the time of one session grows."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS
    rows = [row for row in ROWS if row <= most]
    means: dict[int, float] = {}
    print("sessions   memories   ms of CPU for one")
    with tempfile.TemporaryDirectory() as scratch, running_daemon() as daemon, Client(daemon.socket) as client:
        times: list[float] = []
        for number in range(1, rows[-1] + 1):
            thread = str(import_file(client, session_file(Path(scratch), number), program="claude-code").thread)
            before = cpu_seconds(daemon.pid)
            client.learn(thread)
            times.append(cpu_seconds(daemon.pid) - before)
            if number in rows:
                means[number] = 1000 * statistics.mean(times[-SAMPLE:])
                count = len(client.memories(limit=1000).items)
                print(f"{number:8}   {count:8}   {means[number]:17.1f}", flush=True)
    first, last = rows[0], rows[-1]
    if first != last:
        print(f"growth exponent: {math.log(means[last] / means[first]) / math.log(last / first):.2f} (1 is linear)")


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process and its children so far."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(_own_seconds(one) for one in [pid, *map(int, children)])


def _own_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    main()
