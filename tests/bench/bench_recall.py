"""Benchmark of recall over the socket of a real daemon, at 10,000, 30,000 and 100,000 memories.

    python tests/bench/bench_recall.py [MEMORIES...]

Per size: the first recall after a restart (processor time of the daemon, and what the caller waits), a recall with
hits, the same with a filter, a list of one type, what the daemon has in memory, and the files of the index. A request
to `/v1/health` takes turns with each recall: it shows what the machine and the socket cost at that moment. The last
column is the growth exponent: the slope of the logarithm of a figure against that of the number of memories.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable

from reverie.git import Checkout
from reverie.models import MemoryType
from reverie.redact import Redactor
from reverie.store import Store, Write, Writer
from reverie.usecases import projects
from reverie.usecases.by import By
from reverie.usecases.put import NewText, put_texts
from support.daemon import Daemon, environment, request, scratch_home, status_bytes
from support.figure_table import print_table
from support.http_checks import cpu_seconds
from support.made_memories import FREQUENT, memories, queries
from support.waiting import wait_until

SIZES = (10_000, 30_000, 100_000)
BULLETS = 500  # in one document
PROJECTS = 10
CHARS = 120  # of a memory, about
RECALLS = 400
QUIET_S = 2.0
PATIENCE_S = 600.0  # the first index is built from 100,000 memories, on a machine with much else to do
AT = "2026-11-21T09:30:00.000Z"
GOALS = {
    "first recall after a restart, wall": ("ms", 300.0),
    "first recall after a restart, processor": ("ms", 300.0),
    "recall with hits, p50": ("ms", 1.0),
    "recall with hits, p99": ("ms", None),
    "recall of one type, p50": ("ms", 2.0),
    "recall of one tag, p50": ("ms", 2.0),
    "recall of one project and the person, p50": ("ms", 1.0),
    "recall from a folder of a project, p50": ("ms", 2.0),
    "list of a rare type, p50": ("ms", 2.0),
    "daemon's processor time of a recall": ("ms", 1.0),
    "health in between, p50": ("ms", None),
    "resident memory, anonymous": ("MB", 150.0),
    "resident memory, of files": ("MB", None),
    "files of the index": ("MB", None),
    "store": ("MB", None),
}


def main(sizes: tuple[int, ...]) -> None:
    """Print a table: a row for each figure, a column for each size, then exponent and goal."""
    columns = []
    for size in sizes:
        with scratch_home() as home:
            columns.append(measured(home, build(home, size)))
    print_table("memories", sizes, columns, GOALS)


def build(home: Path, size: int) -> list[str]:
    """Write a store with documents of 500 memories each; return queries for them.

    One document has mistakes; every second one is of one of the projects, the others are the person's.
    """
    records, words = memories(size, CHARS)
    ids = count()
    pick = random.Random(7)
    with Store.open(home / "data" / "store", redactor=Redactor(())) as store:
        for number in range(PROJECTS):
            checkout = Checkout("", (f"{home}/project{number}",), is_repository=False)
            store.commit([projects.register.write(By("default", "bench"), checkout)], at=AT)
        for number in range(0, size, BULLETS):
            part = records[number : number + BULLETS]
            name = f"project-{number}" if number else "mistakes"
            lines = (f"- {' '.join(record.text.split())} #tag{pick.randrange(200)}\n" for record in part)
            text = f"# {name}\n\n" + "".join(lines)
            turn = number // BULLETS
            path = f"facts/project{turn // 2 % PROJECTS}/{name}.md" if turn % 2 else f"facts/{name}.md"

            def body(writer: Writer, path: str = path, text: str = text) -> None:
                by = By("", "", "person", lambda kind: f"{kind}_{next(ids):026d}")
                put_texts(writer, {path: NewText(text)}, by)

            store.commit([Write("default", "bench", "build", body)], at=AT)
    frequent = {word.lower() for word in words[:FREQUENT]}
    return queries(records, frequent)[:RECALLS]


def measured(home: Path, texts: list[str]) -> dict[str, float]:
    """Return the figures of one size."""
    daemon = Daemon(home, environment(home)).start()
    try:
        wait_until(lambda: ask(daemon, "GET", "/v1/status")["sync"]["pending"] == 0, "the folder", PATIENCE_S)
        assert ask(daemon, "POST", "/v1/recall", {"query": texts[0]})["hits"]
        daemon.stop()
        daemon.start()
        wait_until(lambda: ask(daemon, "GET", "/v1/status")["sync"]["pending"] == 0, "the folder", PATIENCE_S)
        figures = first_recall(daemon, texts[0])
        settle(daemon)  # the folder is scanned after a start, which takes processor time and memory of its own
        figures |= warm_recalls(daemon, texts)
        figures["resident memory, anonymous"] = status_bytes(daemon.pid, "RssAnon") / 1e6
        figures["resident memory, of files"] = status_bytes(daemon.pid, "RssFile") / 1e6
        files = (path for path in (home / "data" / "search").rglob("*") if path.is_file())
        figures["files of the index"] = sum(path.stat().st_size for path in files) / 1e6
        figures["store"] = (home / "data" / "store" / "data.mdb").stat().st_size / 1e6
        daemon.stop()
    finally:
        if daemon.process is not None and daemon.process.poll() is None:
            daemon.kill()
    return figures


def ask(daemon: Daemon, method: str, path: str, body: Any = None) -> Any:
    return json.loads(daemon.ask(method, path, body, timeout=PATIENCE_S).body)


def settle(daemon: Daemon) -> None:
    """Wait until the daemon has used next to no processor time for two seconds."""

    def is_quiet() -> bool:
        before = cpu_seconds(daemon.pid)
        time.sleep(QUIET_S)
        return cpu_seconds(daemon.pid) - before < QUIET_S / 20

    wait_until(is_quiet, "the end of the work after a start", PATIENCE_S)


def first_recall(daemon: Daemon, query: str) -> dict[str, float]:
    """Restart the daemon, so that no index is open, and time the first recall."""
    daemon.stop()
    daemon.start()
    before, began = cpu_seconds(daemon.pid), time.perf_counter()
    assert ask(daemon, "POST", "/v1/recall", {"query": query})["hits"]
    wall = time.perf_counter() - began
    return {
        "first recall after a restart, wall": 1e3 * wall,
        "first recall after a restart, processor": 1e3 * (cpu_seconds(daemon.pid) - before),
    }


def warm_recalls(daemon: Daemon, texts: list[str]) -> dict[str, float]:
    """Time recalls on one connection, each after a request to health."""
    with daemon.wire() as wire:

        def timed(method: str, path: str, body: dict[str, Any] | None = None) -> float:
            data = None if body is None else json.dumps(body).encode()
            message = request(method, path, data)
            began = time.perf_counter()
            wire.send(message)
            answer = wire.answer()
            assert answer is not None
            assert answer.status == 200
            return time.perf_counter() - began

        def each(body_of: Callable[[str], dict[str, Any]]) -> list[float]:
            times = []
            for query in texts:
                health.append(timed("GET", "/v1/health"))
                times.append(timed("POST", "/v1/recall", body_of(query)))
            return sorted(times)

        health: list[float] = []
        each(lambda query: {"query": query})
        before = cpu_seconds(daemon.pid)
        plain = each(lambda query: {"query": query})
        busy = (cpu_seconds(daemon.pid) - before) / len(texts)
        of_type = each(lambda query: {"query": query, "types": [MemoryType.MISTAKE.value]})
        of_tag = each(lambda query: {"query": query, "tags": ["tag7"]})
        of_project = each(lambda query: {"query": query, "project": "project0"})
        of_folder = each(lambda query: {"query": query, "folder": f"{daemon.home}/project0/src"})
        rare = [timed("GET", "/v1/memories?type=skill&limit=20") for _ in range(50)]
        rare += [timed("GET", "/v1/memories?type=mistake&limit=20") for _ in range(50)]
    return {
        "recall with hits, p50": 1e3 * statistics.median(plain),
        "recall with hits, p99": 1e3 * plain[len(plain) * 99 // 100],
        "recall of one type, p50": 1e3 * statistics.median(of_type),
        "recall of one tag, p50": 1e3 * statistics.median(of_tag),
        "recall of one project and the person, p50": 1e3 * statistics.median(of_project),
        "recall from a folder of a project, p50": 1e3 * statistics.median(of_folder),
        "list of a rare type, p50": 1e3 * statistics.median(rare),
        "daemon's processor time of a recall": 1e3 * busy,
        "health in between, p50": 1e3 * statistics.median(health),
    }


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
