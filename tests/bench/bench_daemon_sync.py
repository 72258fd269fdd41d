"""Benchmark of sync: latency of one save and one write, ten thousand files, and a burst while the daemon is paused.

    python tests/bench/bench_daemon_sync.py [FILES]

Every figure is of a real daemon on a real folder. A durable commit is measured in the same run, by writes of notes.
"""

from __future__ import annotations

import os
import signal
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable

from reverie.client import Client
from support.daemon import Daemon, environment, scratch_home
from support.http_checks import cpu_seconds

FILES = 10_000
FILE_BYTES = 2_000
SAVES = 40
WRITES = 200
BURST = 50_000
QUIET_S = 30.0
DEBOUNCE_MS = 100


def main() -> None:
    """Print one line a figure, each beside its goal."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    with scratch_home() as home:
        daemon = Daemon(home, environment(home, REVERIE_SYNC_DEBOUNCE_MS=str(DEBOUNCE_MS))).start()
        try:
            with Client(daemon.socket, timeout_s=600) as client:
                latencies(client, home / "root" / "default")
            daemon.stop()
            fill(home / "root" / "default" / "notes", files)
            daemon.start()
            with Client(daemon.socket, timeout_s=600) as client:
                crowd(client, daemon, home / "root" / "default", files)
        finally:
            if daemon.process is not None and daemon.process.poll() is None:
                daemon.kill()


def latencies(client: Client, root: Path) -> None:
    """Time one save, one API write and one commit."""
    client.put_document("facts/user.md", "# User Facts\n\n- Name: Ada\n")
    client.sync_now()
    thread = client.create_thread(title="bench").id
    commits, writes = [], []
    for number in range(WRITES):
        commits.append(timed(partial(client.add_note, thread, f"note {number}", "context")))
        text_ = f"# User Facts\n\n- Number: {number}\n"
        writes.append(timed(partial(client.put_document, "facts/user.md", text_)))
    commit, write = statistics.median(commits), statistics.median(writes)
    row("a durable commit (a note), p50 ms", 1000 * commit)
    row("an agent's write, on disk, p50 ms", 1000 * write, 1000 * commit + 5)
    client.put_document("facts/saved.md", "- Number: none\n")
    saves = [saved(client, root / "facts" / "saved.md", number) for number in range(SAVES)]
    row("a save until it is seen, p50 ms", 1000 * statistics.median(saves), DEBOUNCE_MS + 5)


def saved(client: Client, path: Path, number: int) -> float:
    """Return the seconds from saving a file until the API returns it."""
    text = f"- Number: {number}\n"
    time.sleep(0.3)
    path.write_text(text)
    began = time.perf_counter()
    while client.document("facts/saved.md").content != text:
        time.sleep(0.0005)
    return time.perf_counter() - began


def crowd(client: Client, daemon: Daemon, root: Path, files: int) -> None:
    """Measure ten thousand files: the first scan, the second one, a burst, idle cost."""
    began = time.perf_counter()
    client.sync_now()
    first = time.perf_counter() - began
    counted = client.sync_status().documents
    assert counted >= files, counted
    row(f"first scan of {files:,} files, s", first, 5)
    row("unchanged rescan, s", min(timed(client.sync_now) for _ in range(5)), 0.2)
    row("deep rescan (every file read), s", timed(lambda: client.sync_now(deep=True)))
    row(f"{BURST:,} operations while stopped, until store and tree agree, s", burst(client, daemon, root, files), 30)
    time.sleep(5)
    before, began = cpu_seconds(daemon.pid), time.monotonic()
    time.sleep(QUIET_S)
    row(
        f"processor over {QUIET_S:g} s of watching {files:,} files, %",
        100 * (cpu_seconds(daemon.pid) - before) / (time.monotonic() - began),
        0.2,
    )


def burst(client: Client, daemon: Daemon, root: Path, files: int) -> float:
    """Return the seconds from SIGCONT until a scan finds no change and every text is in the store."""
    os.kill(daemon.pid, signal.SIGSTOP)
    for number in range(BURST):
        path = root / "notes" / f"{number * 7919 % files:05}.md"
        if number % 3:
            path.write_text(text(number))
        else:
            temporary = path.with_suffix(".tmp")
            temporary.write_text(text(number))
            temporary.replace(path)
    os.kill(daemon.pid, signal.SIGCONT)
    began = time.perf_counter()
    while True:
        outcome = client.sync_now()
        if not (outcome.adopted or outcome.written or outcome.deleted):
            break
    elapsed_s = time.perf_counter() - began
    for number in range(0, files, max(1, files // 50)):
        path = root / "notes" / f"{number:05}.md"
        assert client.document(f"notes/{number:05}.md").content == path.read_text()
    return elapsed_s


def fill(folder: Path, files: int) -> None:
    """Write files of two kilobytes."""
    folder.mkdir(parents=True)
    for number in range(files):
        (folder / f"{number:05}.md").write_text(text(number))


def text(number: int) -> str:
    """Return a page of prose, different for each number."""
    line = f"Line of page {number}, about nothing in particular.\n"
    return f"# Page {number}\n\n" + line * (FILE_BYTES // len(line))


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds of a call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def row(name: str, value: float, goal: float | None = None) -> None:
    """Print a figure and its goal."""
    print(f"{name:70} {value:9.3f}" + (f"   goal <= {goal:.3f}" if goal is not None else ""), flush=True)


if __name__ == "__main__":
    main()
