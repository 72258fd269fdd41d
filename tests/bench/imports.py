"""Importing: megabytes per second of each step on one core, and through client, daemon and compute process.

A word is a folder of sessions; by default those recorded in `../shared`, else generated ones.
"""

from __future__ import annotations

import gzip
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from bench.run import DATA, children, row, timed
from reverie.client import Client
from reverie.importers.chunks import plan_chunk
from reverie.importers.entry import with_token_counts
from reverie.importers.find import CHUNK_BYTES, find_transcripts, read_chunks
from reverie.importers.join import main_line
from reverie.models import Entry
from reverie.redact import Redactor
from reverie.store.codec import seal
from reveried.cli.send_sessions import import_file
from support.daemon import cpu_seconds, running_daemon, status_bytes
from support.story import session_file

SESSIONS = DATA / "transcripts" / "claude-code"
GOAL_MB_PER_S = 20
ROUNDS = 3


@contextmanager
def sessions(folder: str) -> Iterator[tuple[list[Path], int]]:
    """Yield session files and their unpacked bytes."""
    with tempfile.TemporaryDirectory() as scratch:
        chosen = Path(folder) if folder else SESSIONS if SESSIONS.exists() else Path(scratch)
        if chosen == Path(scratch):
            for number in range(20):
                session_file(chosen, number, turns=100, noise=600)
        paths = find_transcripts([chosen])
        size = sum(len(unpacked(path)) for path in paths)
        print(f"{len(paths)} files, {size / 1e6:.1f} MB unpacked; best of {ROUNDS}")
        yield paths, size


def unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def steps(folder: str = "") -> None:
    """Print one row a step in processor time, each without the planning that it needs; the last one is all together."""

    def plan(piece: bytes) -> tuple[Entry, ...]:
        return plan_chunk(piece, first_line=1, final=True, tokens=False).entries

    def record(entry: Entry) -> dict[str, object]:
        return {name: value for name in entry.__struct_fields__ if (value := getattr(entry, name)) is not None}

    with sessions(folder) as (paths, size):
        reading = best(lambda: [plan.consumed for path in paths for plan in read_chunks(path, tokens=False)])
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row("read from disk, unpack and plan", size / 1000 / reading, "MB/s", note=f"peak memory {peak_mb:.0f} MB")
        pieces = [piece for path in paths for piece in cut(unpacked(path))]
    redactor = Redactor()
    works: dict[str, Callable[[tuple[Entry, ...]], object]] = {
        "plan, no tokens": lambda _: None,
        "token counts": with_token_counts,
        "redaction alone": lambda entries: [redactor.value([entry.content, entry.extra]) for entry in entries],
        "seal (redaction included)": lambda entries: [seal(record(entry), redactor) for entry in entries],
        "join": main_line,
    }
    taken = {name: best(lambda: [work(plan(piece)) for piece in pieces]) for name, work in works.items()}  # noqa: B023
    planning = taken["plan, no tokens"]
    for name, ms in taken.items():
        row(name, size / 1000 / (ms if ms == planning else max(ms - planning, 1e-9)), "MB/s")
    together = taken["token counts"] + taken["seal (redaction included)"] - planning
    row("plan + tokens + seal", size / 1000 / together, "MB/s", least=GOAL_MB_PER_S)


def best(work: Callable[[], object]) -> float:
    """Return the least processor milliseconds of a few rounds."""
    return min(timed(work, time.process_time)[0] for _ in range(ROUNDS))


def cut(data: bytes) -> Iterator[bytes]:
    """Yield chunks of whole lines."""
    while data:
        end = data.find(b"\n", CHUNK_BYTES) + 1 or len(data)
        yield data[:end]
        data = data[end:]


def served(folder: str = "") -> None:
    """Print importing, then learning, with all processes on one core and then on all cores, into an empty store."""
    cores = os.sched_getaffinity(0)
    with sessions(folder) as (paths, size):
        for chosen in ({min(cores)}, cores) if len(cores) > 1 else (cores,):
            os.sched_setaffinity(0, chosen)
            show(min((measured(paths) for _ in range(ROUNDS)), key=lambda one: one["import"][0]), size, len(chosen))
    os.sched_setaffinity(0, cores)


Stages = dict[str, tuple[float, dict[str, float], dict[str, float]]]  # seconds, and of each process: seconds, peak MB


def measured(paths: list[Path]) -> Stages:
    """Return one round against a new daemon whose compute process has started."""
    result: Stages = {}
    with running_daemon() as daemon:
        with Client(daemon.socket) as warming:
            import_file(warming, session_file(daemon.home, 0, 1), program="claude-code")
        ours, theirs = multiprocessing.Pipe()
        asking = multiprocessing.get_context("spawn").Process(target=client, args=(theirs, daemon.socket, paths))
        asking.start()
        ours.recv()
        for stage in ("import", "learn"):
            pids = {"client": asking.pid or 0, "daemon": daemon.pid}
            before = {name: cpu_seconds(pid) for name, pid in pids.items()}
            ours.send(stage)
            taken_ms, _ = timed(ours.recv)
            pids |= {f"compute {number}": pid for number, pid in enumerate(children(daemon.pid), 1)}
            spent = {name: cpu_seconds(pid) - before.get(name, 0.0) for name, pid in pids.items()}
            result[stage] = (
                taken_ms / 1000,
                spent,
                {name: status_bytes(pid, "VmHWM") / 1e6 for name, pid in pids.items()},
            )
        ours.send("end")
        asking.join()
    return result


def client(pipe: Connection, socket: Path, paths: list[Path]) -> None:
    """Run the client's process: it imports everything when told so, then learns."""
    with Client(socket) as opened:
        pipe.send("ready")
        pipe.recv()
        threads = [import_file(opened, path, program="claude-code").thread for path in paths]
        pipe.send("imported")
        pipe.recv()
        for thread in filter(None, threads):
            opened.learn(thread)
        pipe.send("learnt")
        pipe.recv()


def show(stages: Stages, size: int, cores: int) -> None:
    """Print rate, processor time and peak memory of each stage."""
    for stage, (seconds, spent, peaks) in stages.items():
        least = GOAL_MB_PER_S if stage == "import" else None
        row(f"{stage}, cores: {cores}", size / 1e6 / seconds, "MB/s", least=least)
        for name, used in spent.items():
            row(f"  {name}: processor time for a MB", 1e9 * used / size, "ms", note=f"peak {peaks[name]:.0f} MB")


CASES = {"steps": steps, "served": served}
