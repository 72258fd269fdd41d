"""Benchmark of the search in what was said over the socket of a real daemon, at 10,000 to 1,000,000 messages.

    python tests/bench/bench_search_speed.py [MESSAGES...]

Messages of generated words, 500 in a thread. Per size: how long the daemon builds the index of a store without one, the
first search after a restart, warm searches, the daemon's memory, the files. SQLite's FTS5 and, where it is installed,
tantivy answer the same queries in turns with ours, over the same texts, in this process: they rank single messages and
return their ids, while ours ranks each with its surroundings and returns passages and neighbours over a socket. So the
same index of ours is asked in this process too. The last column is the growth exponent: the slope of the logarithm of a
figure against that of the number of messages.
"""

from __future__ import annotations

import json
import random
import sqlite3
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable

from reverie.models import Entry, EntryKind
from reverie.redact import Redactor
from reverie.store import Kind, Store, ThreadRecord, Write, Writer, seal
from reverie.usecases import threads
from reverie.usecases.entries import entry_record
from reverie.usecases.message_search import MessageSearch, within
from support.daemon import Daemon, environment, request, scratch_home, status_bytes
from support.figure_table import print_table
from support.http_checks import cpu_seconds
from support.made_memories import FREQUENT, memories, queries
from support.waiting import wait_until

SIZES = (10_000, 100_000, 1_000_000)
IN_THREAD = 500
CHARS = 200  # of a message, about
QUERIES = 300
AT = "2026-11-21T09:30:00.000Z"
PATIENCE_S = 3600.0
QUIET_S = 8.0  # longer than the pause of the work behind the requests
GOALS = {
    "build of the index, wall": ("s", None),
    "first search after a restart, wall": ("ms", 1000.0),
    "search over the socket, p50": ("ms", 2.0),
    "search over the socket, p99": ("ms", 15.0),
    "search of one agent, p50": ("ms", 2.0),
    "health in between, p50": ("ms", None),
    "resident memory of the daemon": ("MB", 400.0),
    "mapped file, beside that": ("MB", None),
    "processor time of a repeated search": ("ms", None),
    "files of the index": ("MB", None),
    "in this process: ours, p50": ("ms", 2.0),
    "in this process: ours, p99": ("ms", 15.0),
    "in this process: FTS5 porter, p50": ("ms", None),
    "in this process: FTS5 porter, p99": ("ms", None),
    "in this process: tantivy, p50": ("ms", None),
    "in this process: tantivy, p99": ("ms", None),
}


def main(sizes: tuple[int, ...]) -> None:
    """Print a table: a row for each figure, a column for each size, then exponent and goal."""
    columns = []
    for size in sizes:
        with scratch_home() as home:
            texts, asked = build(home, size)
            columns.append(served(home, asked) | beside(home, texts, asked))
    print_table("messages", sizes, columns, GOALS)


def build(home: Path, size: int) -> tuple[list[str], list[str]]:
    """Write a store of threads with messages; return their texts, and queries for them."""
    records, words = memories(size, CHARS)
    texts = [record.text.strip() or "nothing" for record in records]
    asked = [f"{query}?" for query in queries(records, {word.lower() for word in words[:FREQUENT]})[:QUERIES]]
    redactor = Redactor(())
    with Store.open(home / "data" / "store", redactor=redactor) as store:
        for number in range(0, size, IN_THREAD):
            said = texts[number : number + IN_THREAD]
            entries = [Entry(EntryKind.SPEECH, role="user", content=text, at=AT, tokens=40) for text in said]
            sealed = [seal(entry_record(entry), redactor) for entry in entries]

            def body(writer: Writer, number: int = number, entries: Any = entries, sealed: Any = sealed) -> None:
                thread = f"thr_{number:026d}"
                _, last = writer.append_many(Kind.ENTRY, (thread,), sealed)
                agent = f"agent{number // IN_THREAD % 10}"
                record = ThreadRecord(id=thread, agent=agent, created_at=AT, updated_at=AT)
                writer.save(threads.after_append(record, entries, last, AT), (thread,))

            store.commit([Write("default", "bench", "build", body)], at=AT)
    return texts, asked


def served(home: Path, asked: list[str]) -> dict[str, float]:
    """Return a daemon's times to build the index and to search, and its memory."""
    daemon = Daemon(home, environment(home)).start()
    try:
        began = time.perf_counter()
        while not ask(daemon, asked[0])["complete"]:
            pass  # each call waits some seconds for the index
        figures = {"build of the index, wall": time.perf_counter() - began}
        settle(daemon)  # until the segments of the build are merged
        daemon.stop()
        daemon.start()
        began = time.perf_counter()
        assert ask(daemon, asked[0])["hits"]
        figures["first search after a restart, wall"] = 1e3 * (time.perf_counter() - began)
        figures |= warm(daemon, asked)
        figures["resident memory of the daemon"] = daemon.anonymous_rss() / 1e6
        figures["mapped file, beside that"] = status_bytes(daemon.pid, "RssFile") / 1e6
        files = (path for path in (home / "data" / "search").rglob("*") if path.is_file())
        figures["files of the index"] = sum(path.stat().st_size for path in files) / 1e6
        daemon.stop()
    finally:
        if daemon.process is not None and daemon.process.poll() is None:
            daemon.kill()
    return figures


def settle(daemon: Daemon) -> None:
    """Wait until the daemon has used next to no processor time for some seconds."""

    def is_quiet() -> bool:
        before = cpu_seconds(daemon.pid)
        time.sleep(QUIET_S)
        return cpu_seconds(daemon.pid) - before < QUIET_S / 20

    wait_until(is_quiet, "the end of the work after a build", PATIENCE_S)


def ask(daemon: Daemon, query: str) -> Any:
    return daemon.ask("POST", "/v1/search", {"query": query}, timeout=PATIENCE_S).json()


def warm(daemon: Daemon, asked: list[str]) -> dict[str, float]:
    """Return times of searches over one connection, of all messages and of one agent's, each after a health call."""
    with daemon.wire() as wire:

        def timed(method: str, path: str, body: dict[str, Any] | None = None) -> float:
            message = request(method, path, None if body is None else json.dumps(body).encode())
            began = time.perf_counter()
            wire.send(message)
            answer = wire.answer()
            assert answer is not None
            assert answer.status == 200
            return time.perf_counter() - began

        health, plain, of_agent = [], [], []
        for query in (*asked[:20], *asked):
            health.append(timed("GET", "/v1/health"))
            plain.append(timed("POST", "/v1/search", {"query": query}))
            of_agent.append(timed("POST", "/v1/search", {"query": query, "agent": "agent3"}))
        used = cpu_seconds(daemon.pid)
        for query in asked:
            timed("POST", "/v1/search", {"query": query})
        used = cpu_seconds(daemon.pid) - used
    return {
        "search over the socket, p50": 1e3 * statistics.median(plain[20:]),
        "search over the socket, p99": 1e3 * percentile(plain[20:]),
        "processor time of a repeated search": 1e3 * used / len(asked),
        "search of one agent, p50": 1e3 * statistics.median(of_agent[20:]),
        "health in between, p50": 1e3 * statistics.median(health),
    }


def percentile(times: list[float]) -> float:
    return sorted(times)[len(times) * 99 // 100]


def beside(home: Path, texts: list[str], asked: list[str]) -> dict[str, float]:
    """Return the times of searches in this process, of our index, FTS5 and tantivy, in random turns."""
    sides: dict[str, Callable[[str], object]] = {"FTS5 porter": fts5(home / "fts5", texts)}
    if (theirs := tantivy_index(texts)) is not None:
        sides["tantivy"] = theirs
    with Store.open(home / "data" / "store", redactor=Redactor(())) as store:
        ours = MessageSearch(store, home / "data" / "search")
        assert ours.catch_up("default", PATIENCE_S)
        everything = within(kind="message")
        sides["ours"] = lambda query: ours.messages("default", query, 10, everything)
        times: dict[str, list[float]] = {name: [] for name in sides}
        for query in (*asked[:20], *asked):
            for name, side in random.sample(list(sides.items()), len(sides)):
                began = time.perf_counter()
                side(query)
                times[name].append(time.perf_counter() - began)
    figures: dict[str, float] = {}
    for name, taken in times.items():
        figures[f"in this process: {name}, p50"] = 1e3 * statistics.median(taken[20:])
        figures[f"in this process: {name}, p99"] = 1e3 * percentile(taken[20:])
    return figures


def fts5(path: Path, texts: list[str]) -> Callable[[str], object]:
    """Return a function that asks an FTS5 table of the texts, with any of the words."""
    table = sqlite3.connect(path)
    table.execute("CREATE VIRTUAL TABLE said USING fts5(text, content='', tokenize='porter unicode61')")
    table.executemany("INSERT INTO said(rowid, text) VALUES (?, ?)", enumerate(texts, 1))
    table.commit()

    def best(query: str) -> object:
        words = " OR ".join(f'"{word}"' for word in query.rstrip("?").split())
        return table.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT 10", (words,)).fetchall()

    return best


def tantivy_index(texts: list[str]) -> Callable[[str], object] | None:
    """Return a function that searches a tantivy index of the texts; None if tantivy is not installed."""
    try:
        import tantivy
    except ImportError:
        return None
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("id", stored=True)
    builder.add_text_field("text", stored=False, tokenizer_name="en_stem", index_option="freq")
    index = tantivy.Index(builder.build())
    writer = index.writer(heap_size=500_000_000, num_threads=1)
    for number, text in enumerate(texts):
        writer.add_document(tantivy.Document(id=number, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def best(query: str) -> object:
        hits = searcher.search(index.parse_query(query.rstrip("?"), ["text"]), 10).hits
        return [searcher.doc(address)["id"][0] for _, address in hits]

    return best


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
