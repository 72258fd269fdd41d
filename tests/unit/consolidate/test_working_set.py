"""The working set has only memories that candidates can affect; decisions are the same as over all memories."""

from __future__ import annotations

import random

import pytest

from reverie.consolidate import decide
from reverie.consolidate.statements import parse_statement
from reverie.consolidate.working_set import WorkingSet, scope_of
from reverie.models import Candidate, Memory, MemoryType, Tier

AT = "2026-03-05T09:00:00.000Z"
THINGS = ("cache", "clock", "harbour", "parser", "router", "ledger", "index", "mailer", "exporter", "queue")
SENTENCES = (
    "The {a} {b} test of the {c} is flaky on CI",
    "The {a} {b} test of the {c} is no longer flaky on CI",
    "{a} and {b} of the {c} were fixed in 2.1",
    "Wants agents to always use {a} over {b}",
    "Wants agents never to use {a}",
    "Wants agents never to push the {a} to {b}",
    "The {a} of the {b} takes 4 minutes",
    "The {a} of the {b} takes 9 minutes",
    "To run the tests of the project {a}: `make {b}`.",
)
KINDS = tuple(kind for kind in MemoryType if kind is not MemoryType.EPISODE)
PROJECTS = ("", "harbour", "app")


def sentence(chance: random.Random) -> str:
    a, b, c = chance.sample(THINGS, 3)
    return chance.choice(SENTENCES).format(a=a, b=b, c=c)


def memories(chance: random.Random, number: int) -> list[Memory]:
    return [
        Memory(
            id=f"mem_{index}",
            type=chance.choice(KINDS),
            content=sentence(chance),
            tags=(),
            document="facts/project.md",
            created_at=AT,
            updated_at=f"2026-03-0{chance.randrange(1, 9)}T09:00:00.000Z",
            trust=chance.choice(("engine", "engine", "person")),
            project=chance.choice(PROJECTS),
        )
        for index in range(number)
    ]


def candidates(chance: random.Random, number: int) -> list[Candidate]:
    return [
        Candidate(chance.choice(KINDS), sentence(chance), at=chance.choice((None, AT)), project=chance.choice(PROJECTS))
        for _ in range(number)
    ]


@pytest.mark.parametrize("seed", range(60))
def test_the_decision_is_that_over_all_memories(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tier decides the same where all memories are compared, and all words are indexed."""
    chance = random.Random(seed)
    existing, new = memories(chance, chance.randrange(80)), candidates(chance, chance.randrange(1, 9))
    found = [decide(new, existing, tier) for tier in Tier]

    whole = WorkingSet.of_memories
    monkeypatch.setattr(WorkingSet, "of_memories", lambda everything, *_: whole(everything))

    assert [decide(new, existing, tier) for tier in Tier] == found


def test_only_wanted_words_are_indexed() -> None:
    """A working set for a statement's words alone finds the same memories for it, and none for other words."""
    existing = memories(random.Random(1), 50)
    asked = parse_statement("The cache of the harbour takes 5 minutes")
    scope = scope_of(MemoryType.FACT, user=False, project="harbour")

    narrow = WorkingSet.of_memories(existing, [asked], ["harbour"])

    wide = WorkingSet.of_memories(existing)
    found = [wide.items[at].memory for at in wide.similar(asked, scope)]
    assert found
    assert [narrow.items[at].memory for at in narrow.similar(asked, scope)] == found
    assert not narrow.similar(parse_statement("Wants agents never to use mailer"), scope)
