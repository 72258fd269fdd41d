"""How long it takes to bring a hundred candidates into ten thousand memories."""

from __future__ import annotations

import random
import time

from reverie.consolidate import decide
from reverie.models import Candidate, Memory, MemoryType, Tier

AT = "2026-11-21T09:30:00.000Z"
MEMORIES, CANDIDATES = 10_000, 100


def sentence(chance: random.Random, words: list[str]) -> str:
    return " ".join(chance.choices(words, k=12)) + f" in src/module_{chance.randrange(3000)}.py"


def main() -> None:
    """Processor time for every capacity tier."""
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


if __name__ == "__main__":
    main()
