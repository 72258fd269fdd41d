"""Benchmark of an idle daemon: start time, memory and processor use, on an empty store and on a used one.

    python tests/bench/bench_daemon_idle.py [SECONDS]

Start is from launching the process to its first answer; memory is anonymous (LMDB's map is not counted), after the
daemon was used and its compute processes have left; processor time is over SECONDS of silence, 20 by default.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reverie.client import Client
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, environment, scratch_home
from support.http_checks import cpu_seconds
from support.session import session_file
from support.shared import real_sessions

STARTS = 7
QUIET_S = 20.0
COMPUTE_IDLE_S = "2"
GOALS = {"start s": 0.6, "restart s": 1.0, "memory MB": 60.0, "processor %": 0.1}
HEAVY = ("anthropic", "mcp", "tiktoken", "pydantic", "apscheduler", "watchdog", "click", "rich", "numpy", "httpx")
LISTED = "import sys; import reveried.app, reveried.__main__; print(*sorted(sys.modules))"


def main() -> None:
    """Print one table, each figure beside its goal."""
    quiet_s = float(sys.argv[1]) if len(sys.argv) > 1 else QUIET_S
    with scratch_home() as home:
        daemon = Daemon(home, environment(home, REVERIE_DAEMON_COMPUTE_IDLE_SECONDS=COMPUTE_IDLE_S))
        try:
            row("start to first answer, empty store", "start s", starts(daemon))
            daemon.start()
            row("anonymous memory, never used", "memory MB", settled_mb(daemon))
            records = use(daemon)
            daemon.stop()
            row(f"start to first answer, {records} things kept", "start s", starts(daemon))
            row(f"after a kill (checks first), {records} things kept", "restart s", starts(daemon, killed=True))
            daemon.start()
            use(daemon)
            row("anonymous memory, used and idle", "memory MB", settled_mb(daemon))
            row(f"processor over {quiet_s:g} s of silence", "processor %", quiet(daemon, quiet_s))
            print(f"heavy modules loaded: {', '.join(heavy(daemon)) or 'none'}")
        finally:
            if daemon.process is not None and daemon.process.poll() is None:
                daemon.kill()


def row(name: str, unit: str, value: float) -> None:
    """Print a figure and its goal."""
    goal = GOALS[unit]
    print(f"{name:46s} {value:9.3f} {unit.split()[1]:3s} goal < {goal:g}   {value / goal:5.2f} of it")


def starts(daemon: Daemon, *, killed: bool = False) -> float:
    """Return the median seconds from launch to the first answer; with `killed`, after SIGKILL each time."""
    times = []
    for _ in range(STARTS):
        began = time.perf_counter()
        daemon.start()
        times.append(time.perf_counter() - began)
        daemon.kill() if killed else daemon.stop()
    if killed:  # leave it as an orderly stop does
        daemon.start().stop()
    return statistics.median(times[1:])


def use(daemon: Daemon) -> int:
    """Import, distill and read sessions; return the number of records in the store."""
    with tempfile.TemporaryDirectory() as scratch, Client(daemon.socket) as client:
        for path in chosen(Path(scratch)):
            thread = str(import_file(client, path, program="claude-code").thread)
            if client.thread(thread).distillations == 0:
                client.distill(thread)
            client.context(thread)
            client.messages(thread, limit=1000)
        client.recall("what did we decide?")
        return sum(client.status().counts.values())


def chosen(folder: Path) -> list[Path]:
    """Return a few recorded sessions, or generated ones."""
    generated = (session_file(folder, number, turns=40, noise=300) for number in range(10))
    return real_sessions()[:10] or list(generated)


def settled_mb(daemon: Daemon) -> float:
    """Return megabytes of anonymous memory once the compute processes have exited."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and children(daemon):
        time.sleep(0.2)
    time.sleep(1.0)
    return daemon.anonymous_rss() / 1e6


def children(daemon: Daemon) -> list[str]:
    return Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text("ascii").split()


def quiet(daemon: Daemon, seconds: float) -> float:
    """Return the percentage of one core that the idle daemon uses."""
    before = cpu_seconds(daemon.pid)
    time.sleep(seconds)
    return 100 * (cpu_seconds(daemon.pid) - before) / seconds


def heavy(daemon: Daemon) -> list[str]:
    """Return heavy modules that the daemon has mapped as native code, or imports at its start."""
    mapped = Path(f"/proc/{daemon.pid}/maps").read_text("utf-8", "replace")
    listed = subprocess.run([sys.executable, "-c", LISTED], capture_output=True, text=True, check=True).stdout.split()
    return [name for name in HEAVY if f"/{name}" in mapped or name in listed]


if __name__ == "__main__":
    main()
