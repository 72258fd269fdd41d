"""Benchmark of consolidation: a hundred candidates into ten thousand memories, and growing numbers of memories.

The second table is the whole of what learning or a distillation decides: the memories read, the changes, and the edits
of the document that holds them. Its last column stays level where the cost is linear.
"""

from __future__ import annotations

import gc
import hashlib
import random
import time

from reverie.consolidate import decide
from reverie.models import Candidate, Memory, MemoryType, Tier
from reverie.redact import Redactor
from reverie.usecases import consolidation_plan
from reverie.usecases.consolidation_commit import DocumentText, MemorySnapshot
from reverie.usecases.memory_changes import record_of
from reveried.compute_process import GC_THRESHOLDS

AT = "2026-11-21T09:30:00.000Z"
MEMORIES, CANDIDATES = 10_000, 100


def sentence(chance: random.Random, words: list[str]) -> str:
    return " ".join(chance.choices(words, k=12)) + f" in src/module_{chance.randrange(3000)}.py"


def main() -> None:
    """Print processor times for every capacity tier, and for growing numbers of memories."""
    tiers()
    growth()


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
    """Print the seconds of consolidations at growing numbers of memories, in a small and in a large window.

    Garbage is looked for as seldom as in the process that decides.
    """
    gc.set_threshold(*GC_THRESHOLDS)
    print("learn beside memories     window     seconds   ms per memory   updated   deleted")
    for number in (10_000, 30_000, 100_000):
        for window in (1_000_000, 1_000_000_000):
            snapshot, candidates = snapshot_of(number, window)
            started = time.process_time()
            plan = consolidation_plan.decide(snapshot, candidates, redactor=Redactor(), at=AT, random=bytes(16))
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


if __name__ == "__main__":
    main()
