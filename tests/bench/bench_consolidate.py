"""Benchmark of consolidation: candidates among growing numbers of memories, and many changes in one commit.

    python tests/bench/bench_consolidate.py [MEMORIES] [--all]

MEMORIES (default 100,000) is the size of the store. The tables: fifty candidates of mixed fate, by the memories near
them, as learning does it, beside a reading of all memories; the same in a full window, where a page of the store is
shrunk too; and many changes as one operation, spread over ten projects and in one.
With `--all` also smaller stores, in which the same changes are made as one operation each too; a consolidation at each
capacity tier; and one that reads all memories of a document.
Times are of the processor, `wall` those of the clock; medians of several rounds, the sides in turns. What was read of
texts is forgotten before each round, as it is where others were learnt meanwhile.
"""

from __future__ import annotations

import gc
import hashlib
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable

from reverie.consolidate import decide
from reverie.models import Candidate, Memory, MemoryType, Tier
from reverie.redact import Redactor
from reverie.store import Store
from reverie.text_caches import clear_text_caches
from reverie.usecases import consolidation, screening
from reverie.usecases.consolidation import DocumentText, MemoryPlan, MemorySnapshot
from reverie.usecases.memories import record_of
from reverie.usecases.nearest import NearestMemories
from reverie.usecases.recall import Recall
from reveried.compute import GC_THRESHOLDS
from support.filled_store import WIDE_WINDOW, commit_plan, fill, mixed_candidates, plan_of_mixed_changes
from support.stores import SPACE

T = TypeVar("T")

AT = "2026-11-21T09:30:00.000Z"
MEMORIES, CANDIDATES = 10_000, 100
FEW, ROUNDS, SINGLE = 50, 5, 60  # candidates of one consolidation, rounds of a median, changes committed one by one


def sentence(chance: random.Random, words: list[str]) -> str:
    return " ".join(chance.choices(words, k=12)) + f" in src/module_{chance.randrange(3000)}.py"


def main() -> None:
    """Print every table."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--all"]
    most = int(arguments[0]) if arguments else 100_000
    gc.set_threshold(*GC_THRESHOLDS)  # as seldom as in the process that decides
    sizes = [most]
    if "--all" in sys.argv:
        tiers()
        growth()
        sizes = [*(size for size in (1_000, 10_000) if size < most), most]
    print(f"{FEW} candidates, ms     near: find   decide    wall    all: read   decide   ratio   first")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store", redactor=Redactor()) as store:
            fill(store, size)
            candidates_among(store, size)
            candidates_in_full_window(store, size)
            changes_among(store, size)


def tiers() -> None:
    """Print the seconds of one consolidation, and the number of its changes, at every capacity tier."""
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randrange(3, 9))) for _ in range(4000)]
    kinds = [kind for kind in MemoryType if kind is not MemoryType.EPISODE]
    existing = [
        Memory(f"m{n}", chance.choice(kinds), sentence(chance, words), (), "facts/project.md", AT, AT)
        for n in range(MEMORIES)
    ]
    candidates = [Candidate(chance.choice(kinds), sentence(chance, words)) for _ in range(CANDIDATES - 20)]
    candidates += [Candidate(m.type, m.content + " and more") for m in existing[:20]]
    for tier in Tier:
        started = time.process_time()
        changes = decide(candidates, existing, tier).changes
        seconds = time.process_time() - started
        counts = {action: sum(c.action == action for c in changes) for action in ("ADD", "SKIP", "UPDATE", "DELETE")}
        print(f"consolidate {tier.value}: {MEMORIES} memories x {CANDIDATES} candidates in {seconds:.2f} s {counts}")


def growth() -> None:
    """Print the seconds of consolidations at growing numbers of memories, in a small and in a large window."""
    print("learn beside memories     window     seconds   ms per memory   updated   deleted")
    for number in (10_000, 30_000, 100_000):
        for window in (1_000_000, 1_000_000_000):
            snapshot, candidates = snapshot_of(number, window)
            started = time.process_time()
            plan = screening.decide(snapshot, candidates, redactor=Redactor(), at=AT, random=bytes(16))
            seconds = time.process_time() - started
            changed = f"{plan.counts.get('UPDATE', 0):9,} {plan.counts.get('DELETE', 0):9,}"
            print(f"  {number:9,}    {window:16,}   {seconds:7.2f}   {1_000 * seconds / number:13.3f} {changed}")


def snapshot_of(number: int, window: int) -> tuple[MemorySnapshot, list[Candidate]]:
    """Return memories in one document and twenty candidates, with word frequencies as in natural language."""
    chance = random.Random(7)

    def words() -> str:
        return " ".join(f"word{int(20_000 ** chance.random())}" for _ in range(14))

    path = "facts/project.md"
    memories = [
        Memory(f"mem_{index:08}", MemoryType.FACT, words(), (), path, AT, AT, order=index) for index in range(number)
    ]
    text = "# Project\n\n" + "".join(f"- {memory.content}\n" for memory in memories)
    stored = DocumentText(text, [memory.id for memory in memories], hashlib.sha256(text.encode()).hexdigest())
    candidates = [Candidate(MemoryType.FACT, words()) for _ in range(20)]
    return MemorySnapshot(1, [record_of(memory) for memory in memories], {path: stored}, window), candidates


def candidates_among(store: Store, size: int) -> None:
    """Print the times of a consolidation of fifty candidates, by the memories near them and by all.

    `first` is that of the first search of a store whose index is up to date: it adds up the sizes of all memories.
    """
    candidates = mixed_candidates(store, FEW, seed=size)
    recall = Recall(store)
    recall.catch_up(SPACE)
    near = NearestMemories(recall)

    def find() -> MemorySnapshot | None:
        return near.snapshot(SPACE, candidates, window=WIDE_WINDOW, at=AT)

    def read() -> MemorySnapshot:
        with store.reader(SPACE) as reader:
            return consolidation.snapshot(reader, window=WIDE_WINDOW)

    _, first, _ = timed(find)
    rows: list[tuple[float, ...]] = []
    wholes: list[tuple[float, float]] = []
    for turn in range(ROUNDS):
        clear_text_caches()
        found, found_ms, found_wall = timed(find)
        assert found is not None
        by_near, near_ms, near_wall = timed(lambda: planned(found, candidates))  # noqa: B023 - called at once
        rows.append((found_ms, near_ms, found_wall + near_wall))
        if turn and size > MEMORIES:
            continue  # reading so many takes seconds: once is enough to compare
        whole, whole_ms, _ = timed(read)
        by_all, all_ms, _ = timed(lambda: planned(whole, candidates))  # noqa: B023
        assert by_near.counts == by_all.counts
        assert by_near.documents == by_all.documents
        wholes.append((whole_ms, all_ms))
    found_ms, near_ms, wall = (statistics.median(column) for column in zip(*rows, strict=True))
    whole_ms, all_ms = (statistics.median(column) for column in zip(*wholes, strict=True))
    ratio = (whole_ms + all_ms) / (found_ms + near_ms)
    print(f"  {size:9,} memories {found_ms:11.1f} {near_ms:8.1f} {wall:7.1f}", end="")
    print(f" {whole_ms:12.1f} {all_ms:8.1f} {ratio:6.1f}x {first:7.0f}")


def candidates_in_full_window(store: Store, size: int) -> None:
    """Print the times of a consolidation of fifty candidates where all memories are more than half of the window."""
    candidates = mixed_candidates(store, FEW, seed=size + 1)
    recall = Recall(store)
    recall.catch_up(SPACE)
    near = NearestMemories(recall)
    rows: list[tuple[float, float, int]] = []
    for turn in range(ROUNDS + 1):
        clear_text_caches()
        found, found_ms, _ = timed(lambda: near.snapshot(SPACE, candidates, window=20 * size, at=AT))
        if found is None:
            return  # so few that all are read
        plan, near_ms, _ = timed(lambda: planned(found, candidates))  # noqa: B023 - called at once
        assert plan.tier == Tier.HEAVY_CUT.value
        if turn:  # the first one adds up the sizes of all memories
            rows.append((found_ms, near_ms, len(found.memories)))
    found_ms, near_ms, read = (statistics.median(column) for column in zip(*rows, strict=True))
    print(
        f"  {size:9,} memories {found_ms:11.1f} {near_ms:8.1f}   in a full window, of which {read:,} memories are read"
    )


def planned(snapshot: MemorySnapshot, candidates: list[Candidate]) -> MemoryPlan:
    return screening.decide(snapshot, candidates, redactor=Redactor(), at=AT, random=bytes(16))


def changes_among(store: Store, size: int) -> None:
    """Print the times of commits of changes, all in one operation and, in smaller stores, one operation each."""
    for count, projects in ((size // 10, 10), (size // 10, 1)) if size >= MEMORIES else ((size // 10, 10),):
        one: list[tuple[float, float]] = []
        single: list[float] = []
        documents = 0
        for turn in range(3):
            plan = plan_of_mixed_changes(store, count, projects=projects, seed=turn)
            documents = len(plan.documents)
            _, ms, wall = timed(lambda: commit_plan(store, plan))  # noqa: B023 - called at once
            one.append((ms, wall))
            for number in range(SINGLE // 10 if size <= MEMORIES else 0):
                alone = plan_of_mixed_changes(store, 3, projects=projects, seed=1_000 * turn + number)
                single.append(timed(lambda: commit_plan(store, alone))[1] / 3)  # noqa: B023
        ms, wall = (statistics.median(column) for column in zip(*one, strict=True))
        print(f"  {size:9,} memories: {count:,} changes in {documents} documents, one commit: {ms:.0f} ms,", end=" ")
        print(f"wall {wall:.0f} ms, {1000 * ms / count:.0f} µs each", end="")
        print(f"; three in a commit: {1000 * statistics.median(single):.0f} µs each" if single else "", flush=True)


def timed(work: Callable[[], T]) -> tuple[T, float, float]:
    """Return what `work` returns, its milliseconds of processor time, and those of the clock."""
    began, wall = time.process_time(), time.perf_counter()
    value = work()
    return value, 1000 * (time.process_time() - began), 1000 * (time.perf_counter() - wall)


if __name__ == "__main__":
    main()
