"""A store filled with memories by consolidation itself, and candidates that meet them with mixed fates."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from reverie import wire
from reverie.consolidate import Decision
from reverie.models import Add, Candidate, Change, MemoryType, Tier
from reverie.store import Failed, Kind, MemoryRecord, Store, Write
from reverie.usecases import consolidation, screening
from reverie.usecases.consolidation import MemoryPlan
from reverie.usecases.review import Screened
from support.stores import AT, SPACE

WIDE_WINDOW: Final = 1_000_000_000  # tokens, beside which any number of memories is small
PROJECTS: Final = 10
_STEP: Final = 10_000  # memories of one commit
_TYPES: Final = (MemoryType.FACT, MemoryType.MISTAKE, MemoryType.PREFERENCE, MemoryType.PROCEDURE)
_LETTERS = random.Random(7)
_WORDS: Final = [
    "".join(_LETTERS.choices("abcdefghijklmnopqrstuvwxyz", k=_LETTERS.randrange(3, 10))) for _ in range(20_000)
]


def words(chance: random.Random, count: int = 14) -> str:
    """Return random words, some of them far more frequent than others, as in natural language."""
    return " ".join(_WORDS[int(len(_WORDS) ** chance.random()) - 1] for _ in range(count))


def candidate(chance: random.Random, project: int) -> Candidate:
    """Return a candidate of one of a few types that says something new of a project."""
    return Candidate(chance.choice(_TYPES), words(chance), project=f"project{project}", at=AT)


def fill(store: Store, count: int) -> None:
    """Add `count` memories to an empty store, in ten projects, by commits of consolidations."""
    chance = random.Random(count)
    for begin in range(0, count, _STEP):
        added = [candidate(chance, number % PROJECTS) for number in range(begin, min(count, begin + _STEP))]
        plan = plan_of_changes(store, [Add(index, one) for index, one in enumerate(added)], added)
        commit_plan(store, plan)


def plan_of_changes(store: Store, changes: Sequence[Change], added: Sequence[Candidate] = ()) -> MemoryPlan:
    """Return the plan of changes that were decided, made from the whole store; `added` are the candidates of ADDs."""
    with store.reader(SPACE) as reader:
        snapshot = consolidation.snapshot(reader, window=WIDE_WINDOW)
    return screening.plan_decision(
        snapshot,
        Screened(list(added), [], 0),
        Decision(tuple(changes)),
        tier=Tier.GENEROUS,
        at=AT,
        random=random.Random(snapshot.operation).randbytes(16),
    )


def commit_plan(store: Store, plan: MemoryPlan) -> wire.MemoryChanges:
    """Commit a plan as one operation, and return its answer."""
    write = Write(SPACE, "engine", "consolidate", lambda writer: consolidation.commit(writer, plan))
    (outcome,) = store.commit([write], at=AT)
    if isinstance(outcome, Failed):
        raise outcome.error
    answer: wire.MemoryChanges = outcome.value
    return answer


def mixed_candidates(store: Store, count: int, *, seed: int) -> list[Candidate]:
    """Return candidates that repeat a memory, say more than one, replace the value of one, or are new, in turn.

    What replaces a value needs a memory of this form, which is added to the store.
    """
    chance = random.Random(seed)
    with store.reader(SPACE) as reader:
        total = reader.count(Kind.MEMORY)
        places = set(chance.sample(range(total), count))
        records = [record for place, (_, record) in enumerate(reader.records(MemoryRecord)) if place in places]
    found, settings = [], []
    for number, record in enumerate(records):
        repeated = Candidate(record.type, record.content, project=record.project or "", at=AT)
        setting = Candidate(MemoryType.FACT, f"{words(chance, 3)}: {words(chance, 2)}", project="project1", at=AT)
        if number % 4 == 2:
            settings.append(setting)
        found.append(
            (
                repeated,
                replace(repeated, content=f"{record.content} {words(chance, 3)}"),
                replace(setting, content=f"{setting.content.partition(':')[0]}: {words(chance, 2)}"),
                candidate(chance, number % PROJECTS),
            )[number % 4]
        )
    commit_plan(store, plan_of_changes(store, [Add(index, one) for index, one in enumerate(settings)], settings))
    return found
