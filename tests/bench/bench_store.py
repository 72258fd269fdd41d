"""Measure the store beside bare LMDB in the same run: commits, group commit, appends, reads, verification, check.

    python tests/bench/bench_store.py [FOLDER]

The folder (default: here) decides which disk is measured. Ratios are of medians taken in turns, so that a noisy
disk weighs on both sides alike.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import lmdb
import msgspec
import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable

from reverie.models import MemoryType
from reverie.redact import Redactor
from reverie.store import Kind, MemoryRecord, Sealed, Store, Write, Writer, seal
from reverie.store.check import check
from reverie.store.env import lmdb_options
from support.stores import AT

ROUNDS = 60
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


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def agent_write(agent: int, turn: int) -> Write[None]:
    """Return the write of one append: an entry, the thread, its state, an event."""

    def body(w: Writer) -> None:
        thread = (f"thread_{agent}",)
        w.append(Kind.ENTRY, thread, {**ENTRY, "turn": turn})
        w.put(Kind.THREAD, thread, {"turn": turn})
        w.put(Kind.STATE, thread, {"currentTask": f"task {turn}"})
        w.event("thread.appended", {"thread": thread[0]})

    return Write("default", f"agent_{agent}", "append", body)


def commits(folder: Path, store: Store) -> None:
    """Measure one write, sixteen in one commit and sixteen one by one, beside bare durable puts of LMDB."""
    value = orjson.dumps(ENTRY)
    times: dict[str, list[float]] = {"bare": [], "same": [], "one": [], "group": [], "single": []}
    (folder / "bare").mkdir()
    with lmdb.open(str(folder / "bare"), **lmdb_options(1 << 30)) as env:  # type: ignore[arg-type] # a mapping of options

        def bare(turn: int, records: int) -> None:
            with env.begin(write=True) as txn:
                for index in range(records):
                    txn.put(b"%02d%08d" % (index, turn), value if index == 0 else value[:200])

        for turn in range(ROUNDS):
            times["bare"].append(seconds(lambda: bare(turn, 1)))  # noqa: B023 - called at once
            times["same"].append(seconds(lambda: bare(turn, RECORDS)))  # noqa: B023
            times["one"].append(seconds(lambda: store.commit([agent_write(0, turn)], at=AT)))  # noqa: B023
            everyone = [agent_write(agent, turn) for agent in range(AGENTS)]
            times["group"].append(seconds(lambda: store.commit(everyone, at=AT)))  # noqa: B023
            if turn % 6 == 0:
                times["single"].append(seconds(lambda: [store.commit([write], at=AT) for write in everyone]))  # noqa: B023
    median = {name: statistics.median(values) * 1000 for name, values in times.items()}
    print(f"one bare record, durable  {median['bare']:8.2f} ms")
    print(
        f"{RECORDS} records, durable      {median['same']:8.2f} ms   {median['same'] / median['bare']:.2f}x one record"
    )
    print(
        f"one write of an agent     {median['one']:8.2f} ms   {median['one'] / median['bare']:.2f}x one bare record, "
        f"{median['one'] / median['same']:.2f}x as many bare records"
    )
    print(
        f"{AGENTS} agents in one commit   {median['group']:8.2f} ms   {median['single'] / median['group']:.1f}x faster"
    )


def appends(store: Store) -> None:
    """Measure committing 4 MiB of entries that were sealed elsewhere: the writing process's time before the flush."""
    values = [{**ENTRY, "n": n} for n in range(2900)]
    sealing = seconds(lambda: [seal(value, REDACTOR) for value in values])
    sealed: list[Sealed] = [seal(value, REDACTOR) for value in values]
    size = sum(len(orjson.dumps(value)) for value in values)
    inside, total = [], []
    for turn in range(5):

        def body(w: Writer) -> None:
            inside.append(seconds(lambda: w.append_many(Kind.ENTRY, (f"import_{turn}",), sealed)))  # noqa: B023

        total.append(seconds(lambda: store.commit([Write("default", "import", "import", body)], at=AT)))
    print(f"seal {size / 1e6:.1f} MB               {sealing * 1000:8.1f} ms   {size / sealing / 1e6:.0f} MB/s")
    print(
        f"append them               {min(inside) * 1000:8.1f} ms   {size / min(inside) / 1e6:.0f} MB/s before the flush"
    )
    print(f"the whole commit          {min(total) * 1000:8.1f} ms")


def bare_reads(folder: Path, keys: list[tuple[str]], store: Store) -> float:
    """Return the seconds that plain LMDB and orjson take to read the same records, stored as JSON without a seal."""
    with (
        store.reader("default") as reader,
        lmdb.open(str(folder / "bare"), **lmdb_options(1 << 30)) as env,  # type: ignore[arg-type] # a mapping of options
    ):
        names = [name.encode() for (name,) in keys]
        with env.begin(write=True) as txn:
            for name, key in zip(names, keys, strict=True):
                txn.put(name, orjson.dumps(reader.get(Kind.MEMORY, key)))
        with env.begin() as txn:
            return min(seconds(lambda: [orjson.loads(txn.get(name) or b"") for name in names]) for _ in range(3))


def reads(store: Store, path: Path) -> None:
    """Measure reads of records beside bare LMDB gets with orjson, and the first use of a collection."""
    keys = [(f"memory_{n:06}",) for n in range(MEMORIES)]

    def body(w: Writer) -> None:
        for key in keys:
            w.save(msgspec.structs.replace(MEMORY, id=key[0]), key)

    store.commit([Write("default", "bench", "fill", body)], at=AT)
    bare = bare_reads(path.parent, keys, store)
    with store.reader("default") as reader:
        sealed = min(seconds(lambda: [reader.get(Kind.MEMORY, key) for key in keys]) for _ in range(3))
        typed = min(seconds(lambda: [reader.load(MemoryRecord, key) for key in keys]) for _ in range(3))
        entries = reader.count(Kind.ENTRY, ("import_0",))
        scanned = min(seconds(lambda: list(reader.scan(Kind.ENTRY, ("import_0",)))) for _ in range(3))
    print(f"get                       {MEMORIES / sealed:8.0f} /s   {sealed / bare:.1f}x a bare get with orjson")
    print(f"load of typed records     {MEMORIES / typed:8.0f} /s   {typed / bare:.1f}x a bare get with orjson")
    print(f"scan of entries           {entries / scanned:8.0f} /s")
    store.close()
    with Store.open(path, redactor=REDACTOR) as again, again.reader("default") as reader:
        first = seconds(lambda: reader.get(Kind.MEMORY, ("nothing",)))
    print(f"first use of {MEMORIES} records {first * 1000:7.1f} ms   (verified once after opening)")


def main() -> None:
    """Print every figure, measured on the disk of the folder given."""
    where = sys.argv[1] if len(sys.argv) > 1 else "."
    with tempfile.TemporaryDirectory(prefix=".bench-store-", dir=where) as folder:
        path = Path(folder) / "store"
        store = Store.open(path, redactor=REDACTOR)
        commits(Path(folder), store)
        appends(store)
        reads(store, path)
        size = (path / "data.mdb").stat().st_size
        checked = seconds(lambda: check(path, offline=True))
        print(f"check                     {size / checked / 1e6:8.0f} MB/s")


if __name__ == "__main__":
    main()
