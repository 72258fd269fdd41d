"""Consolidation: candidates among growing numbers of memories, many changes in one commit, and what is forgotten.

`candidates` takes the size of the store: fifty candidates of mixed fate, by the memories near them, as learning does
it, beside a reading of all memories; the same in a full window, where a page of the store is shrunk too; and many
changes as one operation. What was read of texts is forgotten before each round, as where others were learnt meanwhile.
`forgotten` is what forgotten memories cost a context and the snapshot of a consolidation.
"""

from __future__ import annotations

import gc
import random
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.run import Work, in_turns, row, table, timed
from reverie.context.inputs import Limits
from reverie.models import Add, Candidate, Change, Delete, MemoryType, Tier, Update, WorkingState
from reverie.redact import Redactor
from reverie.store import (
    DigestRecord,
    ForgottenRecord,
    MemoryRecord,
    Reader,
    Store,
    ThreadRecord,
    Write,
    Writer,
)
from reverie.text_caches import clear_text_caches
from reverie.usecases import consolidation, contexts, screening
from reverie.usecases.consolidation import MemoryPlan, MemorySnapshot
from reverie.usecases.nearest import NearestMemories
from reverie.usecases.recall import Recall
from reveried.compute import GC_THRESHOLDS
from support.filled_store import WIDE_WINDOW, candidate, commit_plan, fill, mixed_candidates, plan_of_changes, words
from support.stores import AT, SPACE, opened, write


def plan_of_mixed_changes(store: Store, count: int, *, projects: int, seed: int) -> MemoryPlan:
    """Return the plan of `count` changes, each a third UPDATE, DELETE and ADD, in the first `projects` projects."""
    chance = random.Random(seed)
    within = {f"project{number}" for number in range(projects)}
    with store.reader(SPACE) as reader:
        records = [record for _, record in reader.records(MemoryRecord) if record.project in within]
    third = count // 3
    chosen = chance.sample(records, 2 * third)
    changes: list[Change] = [Update(one.id, f"{one.content} {words(chance, 3)}", one.tags) for one in chosen[:third]]
    changes += [Delete(one.id) for one in chosen[third:]]
    added = [candidate(chance, number % projects) for number in range(count - 2 * third)]
    return plan_of_changes(store, [*changes, *(Add(index, one) for index, one in enumerate(added))], added)


FEW, ROUNDS, SINGLE = 50, 5, 60  # candidates of one consolidation, rounds of a median, changes committed one by one
SMALL = 10_000  # memories, up to which all are read in each round
LINES, WORDS = 40, 3_000  # of the digest, and of the vocabulary
LIMITS = Limits(preserve_messages=4, preserve_tokens=400, trigger=0.75)


def candidates(size: str = "100000") -> None:
    """Print a consolidation of fifty candidates, and commits of many changes."""
    before = gc.get_threshold()
    gc.set_threshold(*GC_THRESHOLDS)  # as seldom as in the process that decides
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store", redactor=Redactor()) as store:
        fill(store, int(size))
        candidates_among(store, int(size))
        candidates_in_full_window(store, int(size))
        changes_among(store, int(size))
    gc.set_threshold(*before)


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

    first, _ = timed(find, time.process_time)
    row(f"{size:,} memories: the first search", first, "ms", note="it adds up the sizes of all memories")
    rows: list[tuple[float, float]] = []
    wholes: list[tuple[float, float]] = []
    for turn in range(ROUNDS):
        clear_text_caches()
        found_ms, found = timed(find, time.process_time)
        assert found is not None
        near_ms, by_near = timed(partial(planned, found, candidates), time.process_time)
        rows.append((found_ms, near_ms))
        if turn and size > SMALL:
            continue  # reading so many takes seconds: once is enough to compare
        whole_ms, whole = timed(read, time.process_time)
        all_ms, by_all = timed(partial(planned, whole, candidates), time.process_time)
        assert by_near.counts == by_all.counts
        assert by_near.documents == by_all.documents
        wholes.append((whole_ms, all_ms))
    found_ms, near_ms = (statistics.median(column) for column in zip(*rows, strict=True))
    whole_ms, all_ms = (statistics.median(column) for column in zip(*wholes, strict=True))
    row(f"{FEW} candidates: find the memories near them", found_ms, "ms")
    row(f"{FEW} candidates: decide by those", near_ms, "ms")
    times = (whole_ms + all_ms) / (found_ms + near_ms)
    row(f"{FEW} candidates: read and decide by all, to both", whole_ms + all_ms, "ms", times=times)


def candidates_in_full_window(store: Store, size: int) -> None:
    """Print the times of a consolidation of fifty candidates where all memories are more than half of the window."""
    candidates = mixed_candidates(store, FEW, seed=size + 1)
    recall = Recall(store)
    recall.catch_up(SPACE)
    near = NearestMemories(recall)
    taken = []
    for turn in range(ROUNDS + 1):
        clear_text_caches()
        search = partial(near.snapshot, SPACE, candidates, window=20 * size, at=AT)
        found_ms, found = timed(search, time.process_time)
        if found is None:
            return  # so few that all are read
        near_ms, plan = timed(partial(planned, found, candidates), time.process_time)
        assert plan.tier == Tier.HEAVY_CUT.value
        if turn:  # the first one adds up the sizes of all memories
            taken.append((found_ms + near_ms, len(found.memories)))
    ms, read = (statistics.median(column) for column in zip(*taken, strict=True))
    row(f"{FEW} candidates in a full window", ms, "ms", note=f"{read:,.0f} memories are read")


def planned(snapshot: MemorySnapshot, candidates: list[Candidate]) -> MemoryPlan:
    return screening.decide(snapshot, candidates, redactor=Redactor(), at=AT, random=bytes(16))


def changes_among(store: Store, size: int) -> None:
    """Print the times of commits of changes, all in one operation and, in smaller stores, one operation each."""
    for count, projects in ((size // 10, 10), (size // 10, 1)) if size >= SMALL else ((size // 10, 10),):
        one, single = [], []
        documents = 0
        for turn in range(3):
            plan = plan_of_mixed_changes(store, count, projects=projects, seed=turn)
            documents = len(plan.documents)
            one.append(timed(partial(commit_plan, store, plan), time.process_time)[0])
            for number in range(SINGLE // 10 if size <= SMALL else 0):
                alone = plan_of_mixed_changes(store, 3, projects=projects, seed=1_000 * turn + number)
                single.append(timed(partial(commit_plan, store, alone), time.process_time)[0] / 3)
        ms = statistics.median(one)
        note = f"three in a commit: {1000 * statistics.median(single):.0f}" if single else ""
        row(f"{count:,} changes in {documents} documents, one commit, each", 1000 * ms / count, "us", note=note)


def forgotten() -> None:
    """Print a context and a snapshot by the number of forgotten memories; bytes are those that Python allocates."""
    sizes = [250, 1_000, 4_000]
    columns = []
    with tempfile.TemporaryDirectory() as scratch, opened(Path(scratch)) as store:
        chance = random.Random(1)
        letters = "abcdefghijklmnopqrstuvwxyz"
        vocabulary = ["".join(chance.choices(letters, k=chance.randint(4, 9))) for _ in range(WORDS)]

        def sentence() -> str:
            return " ".join(chance.choices(vocabulary, k=12))

        write(store, partial(_plant_thread, lines=[sentence() for _ in range(LINES)]))
        there = 0
        for number in sizes:
            forget(store, range(there, number), sentence)
            there = number
            with store.reader(SPACE) as reader:
                sides: dict[str, Work] = {
                    "context": partial(decided_context, reader),
                    "snapshot": partial(snapshot_of, reader),
                }
                figures = {name: statistics.median(taken) for name, taken in in_turns(sides, 5).items()}
                tracemalloc.start()
                snapshot = snapshot_of(reader)
                kept, most = tracemalloc.get_traced_memory()
                tracemalloc.stop()
                del snapshot
            columns.append(figures | {"bytes each, at most": most / number, "bytes each, kept": kept / number})
    goals: dict[str, tuple[str, float | None]] = {"context": ("ms", None), "snapshot": ("ms", None)}
    table("forgotten", sizes, columns, goals | {"bytes each, at most": ("", None), "bytes each, kept": ("", None)})


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


def snapshot_of(reader: Reader) -> consolidation.MemorySnapshot:
    """Return what a consolidation is decided from."""
    return consolidation.snapshot(reader, window=200_000)


CASES = {"candidates": candidates, "forgotten": forgotten}
