"""Benchmark of what forgotten memories cost those that come after: a context, and the snapshot of a consolidation.

    python tests/bench/bench_forgotten.py

The context is that of a thread with a digest of 40 lines, read and decided. Bytes are those that Python allocates at
most, and keeps in the snapshot. The growth exponent is that between the first and the last row: 1 is linear.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
import tempfile
import time
import tracemalloc
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable

from reverie.context.inputs import Limits
from reverie.models import MemoryType, WorkingState
from reverie.store import DigestRecord, ForgottenRecord, Reader, Store, ThreadRecord, Write, Writer
from reverie.usecases import consolidation, contexts
from support.stores import AT, SPACE, opened, write

ROWS = (250, 1_000, 4_000)
TIMES = 5
LINES = 40  # of the digest
WORDS = 3_000
LIMITS = Limits(window=200_000, preserve_messages=4, preserve_tokens=400, trigger=0.75)


def main() -> None:
    """Print a row for each number of forgotten memories, then the exponent of the context."""
    print("forgotten   ms of CPU: context   snapshot   bytes each: at most   kept")
    times: list[float] = []
    with tempfile.TemporaryDirectory() as scratch, opened(Path(scratch)) as store:
        chance = random.Random(1)
        vocabulary = [
            "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(4, 9))) for _ in range(WORDS)
        ]

        def sentence() -> str:
            return " ".join(chance.choices(vocabulary, k=12))

        write(store, partial(_plant_thread, lines=[sentence() for _ in range(LINES)]))
        there = 0
        for number in ROWS:
            forget(store, range(there, number), sentence)
            there = number
            context, snapshot = median_ms(store, decided_context), median_ms(store, consolidation_snapshot)
            times.append(context)
            most, kept = allocated(store)
            print(f"{number:9,} {context:20.1f} {snapshot:10.1f} {most / number:21.0f} {kept / number:6.0f}")
    print(f"growth exponent of the context: {math.log(times[-1] / times[0]) / math.log(ROWS[-1] / ROWS[0]):.2f}")


def _plant_thread(writer: Writer, lines: list[str]) -> None:
    writer.save(ThreadRecord(id="thread", created_at=AT, updated_at=AT), ("thread",))
    writer.save(DigestRecord(text="".join(f"- {line}\n" for line in lines)), ("thread",))


def forget(store: Store, numbers: range, sentence: Callable[[], str]) -> None:
    """Store the statement of a forgotten memory for each of the numbers, in an operation of its own."""

    def one(number: int, content: str) -> Write[bool]:
        key = f"{number:064x}"
        record = ForgottenRecord(
            sha256=key, memory=f"mem_{number}", content=content, type=MemoryType.FACT, by="person", at=AT
        )
        return Write(SPACE, "bench", "forget", lambda writer: writer.save(record, (key,)))

    store.commit([one(number, sentence()) for number in numbers], at=AT)


def decided_context(reader: Reader) -> None:
    """Read and decide a context of the thread."""
    contexts.decide(
        contexts.snapshot(
            reader,
            "thread",
            state=WorkingState(),
            recall=[],
            bootstrap=[],
            limits=LIMITS,
            placement=None,
        )
    )


def consolidation_snapshot(reader: Reader) -> consolidation.MemorySnapshot:
    """Return what a consolidation is decided from."""
    return consolidation.snapshot(reader, window=200_000)


def median_ms(store: Store, work: Callable[[Reader], object]) -> float:
    """Return the median of the processor times of some calls, in milliseconds."""
    times = []
    for _ in range(TIMES):
        with store.reader(SPACE) as reader:
            started = time.process_time()
            work(reader)
            times.append(1000 * (time.process_time() - started))
    return statistics.median(times)


def allocated(store: Store) -> tuple[int, int]:
    """Return the bytes that the snapshot of a consolidation allocates at most, and those that it keeps."""
    with store.reader(SPACE) as reader:
        tracemalloc.start()
        try:
            snapshot = consolidation_snapshot(reader)
            kept, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    del snapshot
    return most, kept


if __name__ == "__main__":
    main()
