"""The store beside bare LMDB in the same run: commits, group commit, appends, reads, verification, check.

A word is the folder whose disk is measured, by default this one.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import lmdb
import msgspec
import orjson

from bench.run import in_turns, ms_of, row
from reverie.models import MemoryType
from reverie.redact import Redactor
from reverie.store import Kind, MemoryRecord, Sealed, Store, Write, Writer, seal
from reverie.store.check import check
from reverie.store.env import lmdb_options
from support.stores import AT

AGENTS = 16
RECORDS = 15  # that one write of an agent puts: what it says, its version, operation and event, and their tallies
MEMORIES = 20_000
ENTRY = {"kind": "speech", "role": "assistant", "content": [{"type": "text", "text": "word " * 280}], "at": AT}
MEMORY = MemoryRecord(
    id="",
    type=MemoryType.FACT,
    content="something worth knowing " * 8,
    tags=("a", "b"),
    document="facts/project.md",
    created_at=AT,
    updated_at=AT,
)
REDACTOR = Redactor()


@contextmanager
def bare_lmdb(folder: Path) -> Iterator[lmdb.Environment]:
    """Yield an LMDB environment as the store opens its own."""
    with lmdb.open(str(folder / "bare"), **lmdb_options(1 << 30)) as env:  # type: ignore[arg-type] # a mapping of options
        yield env


def agent_write(agent: int, turn: int) -> Write[None]:
    """Return the write of one append: an entry, the thread, its state, an event."""

    def body(w: Writer) -> None:
        thread = (f"thread_{agent}",)
        w.append(Kind.ENTRY, thread, {**ENTRY, "turn": turn})
        w.put(Kind.THREAD, thread, {"turn": turn})
        w.put(Kind.STATE, thread, {"currentTask": f"task {turn}"})
        w.event("thread.appended", {"thread": thread[0]})

    return Write("default", f"agent_{agent}", "append", body)


def commits(folder: str = ".") -> None:
    """Print one write, sixteen in one commit and sixteen one by one, beside bare durable puts of LMDB."""
    value = orjson.dumps(ENTRY)
    with new_store(folder) as (path, store), bare_lmdb(path) as env:
        turns = iter(range(1_000_000))

        def bare(records: int) -> None:
            with env.begin(write=True) as txn:
                turn = next(turns)
                for index in range(records):
                    txn.put(b"%02d%08d" % (index, turn), value if index == 0 else value[:200])

        def writes(agents: int) -> list[Write[None]]:
            turn = next(turns)
            return [agent_write(agent, turn) for agent in range(agents)]

        def one_by_one() -> None:
            for write in writes(AGENTS):
                store.commit([write], at=AT)

        sides = {
            "one bare record, durable": lambda: bare(1),
            f"{RECORDS} bare records, durable": lambda: bare(RECORDS),
            "one write of an agent": lambda: store.commit(writes(1), at=AT),
            f"{AGENTS} agents in one commit": lambda: store.commit(writes(AGENTS), at=AT),
            f"{AGENTS} agents one by one": one_by_one,
        }
        times = in_turns(sides, 30, clock=time.perf_counter)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    bare_ms = medians["one bare record, durable"]
    for name, median in medians.items():
        row(f"{name}, to one bare record", median, "ms", times=median / bare_ms)


def appends(folder: str = ".") -> None:
    """Print the commit of 4 MiB of entries that were sealed elsewhere, before the flush, and the check of them."""
    values = [{**ENTRY, "n": n} for n in range(2900)]
    sealed: list[Sealed] = [seal(value, REDACTOR) for value in values]
    kb = sum(len(orjson.dumps(value)) for value in values) / 1000
    row("seal", kb / ms_of(lambda: [seal(value, REDACTOR) for value in values]), "MB/s")
    inside, total = [], []
    with new_store(folder) as (path, store):
        for turn in range(5):

            def body(w: Writer, turn: int = turn) -> None:
                inside.append(ms_of(lambda: w.append_many(Kind.ENTRY, (f"import_{turn}",), sealed)))

            total.append(ms_of(partial(store.commit, [Write("default", "import", "import", body)], at=AT)))
        store.close()
        checked(path, "entries")
    row("append them, before the flush", kb / min(inside), "MB/s")
    row("the whole commit", min(total), "ms")


def reads(folder: str = ".") -> None:
    """Print reads of records beside bare LMDB gets with orjson, the first use of a collection, and the check."""
    keys = [(f"memory_{n:06}",) for n in range(MEMORIES)]

    def fill(w: Writer) -> None:
        for key in keys:
            w.save(msgspec.structs.replace(MEMORY, id=key[0]), key)

    with new_store(folder) as (path, store), bare_lmdb(path) as env:
        store.commit([Write("default", "bench", "fill", fill)], at=AT)
        names = [name.encode() for (name,) in keys]
        with store.reader("default") as reader, env.begin(write=True) as txn:
            for name, key in zip(names, keys, strict=True):
                txn.put(name, orjson.dumps(reader.get(Kind.MEMORY, key)))
        with store.reader("default") as reader, env.begin() as txn:
            sides = {
                "bare get with orjson": lambda: [orjson.loads(txn.get(name) or b"") for name in names],
                "get": lambda: [reader.get(Kind.MEMORY, key) for key in keys],
                "load of typed records": lambda: [reader.load(MemoryRecord, key) for key in keys],
                "scan": lambda: list(reader.scan(Kind.MEMORY)),
            }
            times = in_turns(sides, 3, clock=time.perf_counter)
        bare = min(times["bare get with orjson"])
        for title, taken in times.items():
            row(f"{title}, each; to a bare get", 1000 * min(taken) / MEMORIES, "us", times=min(taken) / bare)
        store.close()
        with Store.open(path / "store", redactor=REDACTOR) as again, again.reader("default") as reader:
            row(f"first use of {MEMORIES:,} records", ms_of(lambda: reader.get(Kind.MEMORY, ("nothing",))), "ms")
        checked(path, "memories")


def checked(path: Path, what: str) -> None:
    """Print the check of a store by the size of its file, and by its records."""
    size = (path / "store" / "data.mdb").stat().st_size
    ms = ms_of(lambda: check(path / "store", offline=True))
    count = sum(check(path / "store", offline=True).counts.values())
    row(f"check of {what}", size / 1000 / ms, "MB/s", note=f"{1000 * ms / count:.1f} us each of {count:,} records")


@contextmanager
def new_store(folder: str) -> Iterator[tuple[Path, Store]]:
    """Yield a scratch folder on a disk, with a store in it."""
    scratch = tempfile.TemporaryDirectory(prefix=".bench-store-", dir=folder)
    with scratch as name, Store.open(Path(name) / "store", redactor=REDACTOR) as store:
        yield Path(name), store


CASES = {"commits": commits, "appends": appends, "reads": reads}
