"""Sync by a real daemon on a real folder: one save and one write, ten thousand files, a burst while it is paused."""

from __future__ import annotations

import statistics
import time
from functools import partial
from pathlib import Path

from bench.run import ms_of, row, share_of_core
from support.daemon import Daemon, environment, scratch_home
from support.waiting import suspended

OUTSIDE = True
FILE_BYTES = 2_000
BURST = 50_000
DEBOUNCE_MS = 100
PATIENCE_S = 600.0


def sync(files: str = "10000") -> None:
    """Print one row a figure; a durable commit is measured in the same run, by writes of notes."""
    with scratch_home() as home:
        daemon = Daemon(home, environment(home, REVERIE_SYNC_DEBOUNCE_MS=str(DEBOUNCE_MS))).start()
        root = home / "root" / "default"
        try:
            latencies(daemon, root)
            daemon.stop()
            (root / "notes").mkdir(parents=True)
            for number in range(int(files)):
                (root / "notes" / f"{number:05}.md").write_text(text(number))
            daemon.start()
            crowd(daemon, root, int(files))
        finally:
            if daemon.process is not None and daemon.process.poll() is None:
                daemon.kill()


def latencies(daemon: Daemon, root: Path) -> None:
    """Time one save, one agent's write and one commit."""
    put(daemon, "facts/user.md", "# User Facts\n\n- Name: Ada\n")
    synced(daemon)
    thread = daemon.ask("POST", "/v1/threads", {"title": "bench"}).json()["id"]
    commits, writes = [], []
    for number in range(200):
        note = {"content": f"note {number}", "category": "context"}
        commits.append(ms_of(partial(daemon.ask, "POST", f"/v1/threads/{thread}/notes", note)))
        writes.append(ms_of(partial(put, daemon, "facts/user.md", f"# User Facts\n\n- Number: {number}\n")))
    commit = statistics.median(commits)
    row("a durable commit (a note), p50", commit, "ms")
    row("an agent's write, on disk, p50", statistics.median(writes), "ms", most=round(commit + 5, 1))
    put(daemon, "facts/saved.md", "- Number: none\n")
    saves = [saved(daemon, root / "facts" / "saved.md", number) for number in range(40)]
    row("a save until it is seen, p50", 1000 * statistics.median(saves), "ms", most=DEBOUNCE_MS + 5)


def saved(daemon: Daemon, path: Path, number: int) -> float:
    """Return the seconds from saving a file until the API returns it."""
    line = f"- Number: {number}\n"
    time.sleep(0.3)
    path.write_text(line)
    began = time.perf_counter()
    while line not in content(daemon, "facts/saved.md"):  # a save soon after an agent's write is merged with it
        time.sleep(0.0005)
    return time.perf_counter() - began


def crowd(daemon: Daemon, root: Path, files: int) -> None:
    """Measure many files: the first scan, the next ones, a burst, idle cost."""
    row(f"first scan of {files:,} files", ms_of(partial(synced, daemon)) / 1000, "s", most=5)
    assert daemon.ask("GET", "/v1/sync").json()["documents"] >= files
    row("unchanged rescan", min(ms_of(partial(synced, daemon)) for _ in range(5)) / 1000, "s", most=0.2)
    row("deep rescan (every file read)", ms_of(partial(synced, daemon, deep=True)) / 1000, "s")
    row(f"{BURST:,} saves while stopped, until both sides agree", burst(daemon, root, files), "s", most=30)
    time.sleep(5)
    row(f"processor over 30 s of watching {files:,} files", share_of_core(daemon.pid, 30.0), "%", most=0.2)


def burst(daemon: Daemon, root: Path, files: int) -> float:
    """Return the seconds from SIGCONT until a scan finds no change and every text is in the store."""
    with suspended(daemon.pid):
        for number in range(BURST):
            path = root / "notes" / f"{number * 7919 % files:05}.md"
            draft = path if number % 3 else path.with_suffix(".tmp")
            draft.write_text(text(number))
            draft.replace(path)
    began = time.perf_counter()
    while (outcome := synced(daemon))["adopted"] or outcome["written"] or outcome["deleted"]:
        pass
    elapsed_s = time.perf_counter() - began
    for number in range(0, files, max(1, files // 50)):
        path = root / "notes" / f"{number:05}.md"
        assert content(daemon, f"notes/{number:05}.md") == path.read_text()
    return elapsed_s


def text(number: int) -> str:
    """Return a page of prose, different for each number."""
    line = f"Line of page {number}, about nothing in particular.\n"
    return f"# Page {number}\n\n" + line * (FILE_BYTES // len(line))


def put(daemon: Daemon, path: str, content: str) -> None:
    assert daemon.ask("PUT", f"/v1/documents/{path}", {"content": content}).status < 300


def content(daemon: Daemon, path: str) -> str:
    found: str = daemon.ask("GET", f"/v1/documents/{path}").json()["content"]
    return found


def synced(daemon: Daemon, *, deep: bool = False) -> dict[str, int]:
    """Let the daemon scan the folder now; return what it did."""
    done: dict[str, int] = daemon.ask("POST", "/v1/sync", {"deep": deep}, timeout=PATIENCE_S).json()
    return done


CASES = {"sync": sync}
