"""Recall of memories and search in what was said, over the socket of a real daemon, at growing sizes of the store.

Words are the sizes. A request to `/v1/health` takes turns with each call: it shows what the machine and the socket cost
at that moment. SQLite's FTS5 and, where it is installed, tantivy answer the same searches in turns with ours, over the
same texts, in this process: they rank single messages and return their ids, while ours ranks each with its surroundings
and returns passages and neighbours over a socket. So the same index of ours is asked in this process too.
"""

from __future__ import annotations

import json
import random
import sqlite3
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from bench.made_memories import FREQUENT, memories, queries
from bench.run import ms_of, p99, settle, table
from reverie.git import Checkout
from reverie.models import Entry, EntryKind, MemoryType
from reverie.redact import Redactor
from reverie.store import Kind, Store, ThreadRecord, Write, Writer, seal
from reverie.usecases import projects, threads
from reverie.usecases.by import By
from reverie.usecases.entries import entry_record
from reverie.usecases.message_search import MessageSearch, within
from reverie.usecases.put import NewText, put_texts
from support.daemon import Daemon, cpu_seconds, environment, request, scratch_home, status_bytes
from support.waiting import wait_until

BULLETS = 500  # in one document
PROJECTS = 10
CHARS = 120  # of a memory, about
RECALLS = 400
PATIENCE_S = 3600.0  # the first index of a large store is built, on a machine with much else to do
AT = "2026-11-21T09:30:00.000Z"
MEMORIES = {
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
MESSAGES = {
    "build of the index, wall": ("s", None),
    "first search after a restart, wall": ("ms", 1000.0),
    "search over the socket, p50": ("ms", 2.0),
    "search over the socket, p99": ("ms", 15.0),
    "search of one agent, p50": ("ms", 2.0),
    "health in between, p50": ("ms", None),
    "resident memory, anonymous": ("MB", 400.0),
    "resident memory, of files": ("MB", None),
    "processor time of a repeated search": ("ms", None),
    "files of the index": ("MB", None),
    "in this process: ours, p50": ("ms", 2.0),
    "in this process: ours, p99": ("ms", 15.0),
    "in this process: FTS5 porter, p50": ("ms", None),
    "in this process: FTS5 porter, p99": ("ms", None),
    "in this process: tantivy, p50": ("ms", None),
    "in this process: tantivy, p99": ("ms", None),
}
Timed = Callable[..., float]


def recalls(*sizes: str) -> None:
    """Print a table of recalls: the first one after a restart, warm ones, filtered ones, memory and files."""
    chosen = [int(size) for size in sizes] or [10_000, 30_000, 100_000]
    columns = []
    for size in chosen:
        with scratch_home() as home:
            asked = build(home, size)
            with restarted(home, partial(synced, asked[0])) as daemon:
                wait_until(lambda: ask(daemon, "GET", "/v1/status")["sync"]["pending"] == 0, "the folder", PATIENCE_S)
                before = cpu_seconds(daemon.pid)
                first = ms_of(partial(ask, daemon, "POST", "/v1/recall", {"query": asked[0]}))
                used = cpu_seconds(daemon.pid) - before
                settle(daemon, 2.0)  # the folder is scanned after a start, which takes time and memory of its own
                figures = {
                    "first recall after a restart, wall": first,
                    "first recall after a restart, processor": 1000 * used,
                }
                columns.append(figures | warm_recalls(daemon, asked) | sizes_of(daemon))
    table("memories", chosen, columns, MEMORIES)


def searches(*sizes: str) -> None:
    """Print a table of searches among messages of generated words, 500 in a thread."""
    chosen = [int(size) for size in sizes] or [10_000, 100_000, 1_000_000]
    columns = []
    for size in chosen:
        with scratch_home() as home:
            texts, asked = build_messages(home, size)
            figures: dict[str, float] = {}

            def built(daemon: Daemon, query: str = asked[0], figures: dict[str, float] = figures) -> None:
                def whole() -> None:
                    while not ask(daemon, "POST", "/v1/search", {"query": query})["complete"]:
                        pass  # each call waits some seconds for the index

                figures["build of the index, wall"] = ms_of(whole) / 1000
                settle(daemon, 8.0, PATIENCE_S)  # until the segments of the build are merged

            with restarted(home, built) as daemon:
                first = ms_of(partial(ask, daemon, "POST", "/v1/search", {"query": asked[0]}))
                figures["first search after a restart, wall"] = first
                figures |= warm_searches(daemon, asked) | sizes_of(daemon)
            columns.append(figures | in_this_process(home, texts, asked))
    table("messages", chosen, columns, MESSAGES)


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


def build_messages(home: Path, size: int) -> tuple[list[str], list[str]]:
    """Write a store of threads with messages; return their texts, and queries for them."""
    records, words = memories(size, 200)
    texts = [record.text.strip() or "nothing" for record in records]
    asked = [f"{query}?" for query in queries(records, {word.lower() for word in words[:FREQUENT]})[:300]]
    redactor = Redactor(())
    with Store.open(home / "data" / "store", redactor=redactor) as store:
        for number in range(0, size, 500):
            said = texts[number : number + 500]
            entries = [Entry(EntryKind.SPEECH, role="user", content=text, at=AT, tokens=40) for text in said]
            sealed = [seal(entry_record(entry), redactor) for entry in entries]

            def body(writer: Writer, number: int = number, entries: Any = entries, sealed: Any = sealed) -> None:
                thread = f"thr_{number:026d}"
                _, last = writer.append_many(Kind.ENTRY, (thread,), sealed)
                agent = f"agent{number // 500 % 10}"
                record = ThreadRecord(id=thread, agent=agent, created_at=AT, updated_at=AT)
                writer.save(threads.after_append(record, entries, last, AT), (thread,))

            store.commit([Write("default", "bench", "build", body)], at=AT)
    return texts, asked


@contextmanager
def restarted(home: Path, prepare: Callable[[Daemon], None]) -> Iterator[Daemon]:
    """Yield a daemon that was started, prepared, stopped and started again."""
    daemon = Daemon(home, environment(home)).start()
    try:
        prepare(daemon)
        daemon.stop()
        daemon.start()
        yield daemon
        daemon.stop()
    finally:
        if daemon.process is not None and daemon.process.poll() is None:
            daemon.kill()


def synced(query: str, daemon: Daemon) -> None:
    """Wait until the folder is written and the index finds something."""
    wait_until(lambda: ask(daemon, "GET", "/v1/status")["sync"]["pending"] == 0, "the folder", PATIENCE_S)
    assert ask(daemon, "POST", "/v1/recall", {"query": query})["hits"]


def ask(daemon: Daemon, method: str, path: str, body: Any = None) -> Any:
    return json.loads(daemon.ask(method, path, body, timeout=PATIENCE_S).body)


def sizes_of(daemon: Daemon) -> dict[str, float]:
    """Return megabytes of a daemon's memory and files."""
    data = daemon.home / "data"
    return {
        "resident memory, anonymous": status_bytes(daemon.pid, "RssAnon") / 1e6,
        "resident memory, of files": status_bytes(daemon.pid, "RssFile") / 1e6,
        "files of the index": sum(path.stat().st_size for path in (data / "search").rglob("*") if path.is_file()) / 1e6,
        "store": (data / "store" / "data.mdb").stat().st_size / 1e6,
    }


def quantiles(name: str, times: list[float]) -> dict[str, float]:
    return {f"{name}, p50": statistics.median(times), f"{name}, p99": p99(times)}


@contextmanager
def connection(daemon: Daemon) -> Iterator[Timed]:
    """Yield a function that makes a request on one connection and returns its milliseconds."""
    with daemon.wire() as wire:

        def exchanged(message: bytes) -> None:
            wire.send(message)
            answer = wire.answer()
            assert answer is not None
            assert answer.status == 200

        def timed(method: str, path: str, body: dict[str, Any] | None = None) -> float:
            return ms_of(partial(exchanged, request(method, path, None if body is None else json.dumps(body).encode())))

        yield timed


def warm_recalls(daemon: Daemon, texts: list[str]) -> dict[str, float]:
    """Time recalls, each after a request to health."""
    health: list[float] = []
    with connection(daemon) as timed:

        def each(**more: Any) -> list[float]:
            times = []
            for query in texts:
                health.append(timed("GET", "/v1/health"))
                times.append(timed("POST", "/v1/recall", {"query": query, **more}))
            return times

        each()
        before = cpu_seconds(daemon.pid)
        figures = quantiles("recall with hits", each())
        figures["daemon's processor time of a recall"] = 1000 * (cpu_seconds(daemon.pid) - before) / len(texts)
        filters: dict[str, dict[str, Any]] = {
            "recall of one type": {"types": [MemoryType.MISTAKE.value]},
            "recall of one tag": {"tags": ["tag7"]},
            "recall of one project and the person": {"project": "project0"},
            "recall from a folder of a project": {"folder": f"{daemon.home}/project0/src"},
        }
        for name, more in filters.items():
            figures |= quantiles(name, each(**more))
        rare = [timed("GET", f"/v1/memories?type={kind}&limit=20") for _ in range(50) for kind in ("skill", "mistake")]
    return figures | quantiles("list of a rare type", rare) | quantiles("health in between", health)


def warm_searches(daemon: Daemon, asked: list[str]) -> dict[str, float]:
    """Time searches of all messages and of one agent's, each after a request to health."""
    health, plain, of_agent = [], [], []
    with connection(daemon) as timed:
        for query in (*asked[:20], *asked):
            health.append(timed("GET", "/v1/health"))
            plain.append(timed("POST", "/v1/search", {"query": query}))
            of_agent.append(timed("POST", "/v1/search", {"query": query, "agent": "agent3"}))
        used = cpu_seconds(daemon.pid)
        for query in asked:
            timed("POST", "/v1/search", {"query": query})
        used = cpu_seconds(daemon.pid) - used
    figures = quantiles("search over the socket", plain[20:]) | quantiles("search of one agent", of_agent[20:])
    figures["processor time of a repeated search"] = 1000 * used / len(asked)
    return figures | quantiles("health in between", health)


def in_this_process(home: Path, texts: list[str], asked: list[str]) -> dict[str, float]:
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
                times[name].append(ms_of(partial(side, query)))
    figures: dict[str, float] = {}
    for name, taken in times.items():
        figures |= quantiles(f"in this process: {name}", taken[20:])
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


CASES = {"recalls": recalls, "searches": searches}
