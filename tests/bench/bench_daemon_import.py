"""Benchmark of importing: megabytes of transcript per second through client, daemon and compute process.

    python tests/bench/bench_daemon_import.py [FOLDER]

Importing first, then learning from what came in, which `reverie import` does after it. First with all processes on one
core, then on all cores. Over the real sessions where they are, else over made-up ones. Processor time is told for each
process (the client's with its start); memory is each one's peak.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reverie.client import Client
from reverie.importers.find import find_transcripts
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon

SESSIONS = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "transcripts" / "claude-code"
GOAL_MB_PER_S = 20
GOAL_RSS_MB = 300
ROUNDS = 3
MADE_FILES, MADE_TURNS, MADE_NOISE = 20, 100, 600


@dataclass(slots=True)
class Stage:
    """Importing or learning: wall time, and processor time of each process."""

    name: str
    seconds: float
    processor_s: dict[str, float]


@dataclass(slots=True)
class Round:
    """One import of all sessions into an empty store, then learning from them."""

    stages: list[Stage] = field(default_factory=list)
    peak_mb: dict[str, float] = field(default_factory=dict)


def main() -> None:
    """Print one table per number of cores."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = (
            Path(sys.argv[1])
            if len(sys.argv) > 1
            else SESSIONS
            if SESSIONS.exists()
            else generated_folder(Path(scratch))
        )
        paths = find_transcripts([folder])
        mb = sum(len(unpacked(path)) for path in paths) / 1e6
        print(f"{len(paths)} files, {mb:.1f} MB unpacked, into an empty store; best of {ROUNDS}")
        cores = os.sched_getaffinity(0)
        for chosen in ({min(cores)}, cores) if len(cores) > 1 else (cores,):
            os.sched_setaffinity(0, chosen)
            rounds = [measured(folder) for _ in range(ROUNDS)]
            print_stages(min(rounds, key=lambda one: one.stages[0].seconds), mb, len(chosen))


def client(socket: Path, folder: Path) -> None:
    """Run the client's process: print a line when everything is imported, and when learning has ended."""
    with Client(socket) as opened:
        print("ready", flush=True)
        threads = [import_file(opened, path, program="claude-code").thread for path in find_transcripts([folder])]
        print("imported", flush=True)
        sys.stdin.readline()
        for thread in threads:
            if thread is not None:
                opened.learn(thread)
        print("learnt", flush=True)
        sys.stdin.readline()


def measured(folder: Path) -> Round:
    """Return one round against a new daemon whose compute process has started."""
    # Not at the top: the client's process runs this file too, and its start is measured.
    from support.daemon import running_daemon, status_bytes
    from support.session import session_file

    result = Round()
    with running_daemon() as daemon:
        with Client(daemon.socket) as warming:
            import_file(warming, session_file(daemon.home, 0, 1), program="claude-code")
        command = [sys.executable, __file__, "--client", str(daemon.socket), str(folder)]
        asking = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert asking.stdin is not None
        assert asking.stdout is not None
        asking.stdout.readline()
        for name in ("import", "learn"):
            if result.stages:
                asking.stdin.write(b"go on\n")
                asking.stdin.flush()
            result.stages.append(stage(name, daemon, asking))
        peaks = processes(daemon, asking.pid)
        result.peak_mb = {name: status_bytes(pid, "VmHWM") / 1e6 for name, pid in peaks.items()}
        asking.communicate(b"go on\n")
    return result


def stage(name: str, daemon: Daemon, asking: subprocess.Popen[bytes]) -> Stage:
    """Measure one stage, until the client reports its end."""
    assert asking.stdout is not None
    # The client has begun already when the first stage is: its start counts to it.
    before = {process: processor_s(pid) for process, pid in processes(daemon, asking.pid).items()}
    if name == "import":
        before["client"] = 0.0
    began = time.perf_counter()
    asking.stdout.readline()
    seconds = time.perf_counter() - began
    after = {process: processor_s(pid) for process, pid in processes(daemon, asking.pid).items()}
    return Stage(name, seconds, {process: after[process] - before.get(process, 0.0) for process in after})


def processes(daemon: Daemon, client_pid: int | None = None) -> dict[str, int]:
    """Return the daemon, its children and the client, by name."""
    children = Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text("ascii").split()
    named = {f"compute {number}": int(pid) for number, pid in enumerate(children, 1)}
    return ({} if client_pid is None else {"client": client_pid}) | {"daemon": daemon.pid} | named


def processor_s(pid: int) -> float:
    """Return user and system seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def print_stages(best: Round, mb: float, cores: int) -> None:
    """Print one table per stage."""
    for stage in best.stages:
        total_s = sum(stage.processor_s.values())
        rate = mb / stage.seconds
        goal = f", {rate / GOAL_MB_PER_S:.2f} x the goal of {GOAL_MB_PER_S} MB/s on one core"
        print(f"\n{stage.name} on {cores} core{'s' if cores > 1 else ''}: {rate:.1f} MB/s", end="")
        print(goal if stage.name == "import" else "")
        for name, spent_s in stage.processor_s.items():
            line = f"{spent_s:6.2f} s of processor {1000 * spent_s / mb:6.1f} ms per MB"
            print(f"  {name:12s} {line} {spent_s / total_s:5.0%}")
        print(f"  {'together':12s} {total_s:6.2f} s of processor {1000 * total_s / mb:6.1f} ms per MB")
    peaks = ", ".join(f"{name} {peak:.0f} MB" for name, peak in best.peak_mb.items())
    print(f"  peaks: {peaks}; the goal is below {GOAL_RSS_MB} MB")


def unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def generated_folder(folder: Path) -> Path:
    """Write generated sessions into a folder, for machines without recorded ones; return the folder."""
    from support.session import session_file

    for number in range(MADE_FILES):
        session_file(folder, number, MADE_TURNS, MADE_NOISE)
    return folder


if __name__ == "__main__":
    if sys.argv[1:2] == ["--client"]:
        client(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        main()
