"""Tests of consolidations that read only the memories near the candidates: they decide as with all memories."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from reverie.errors import Conflict
from reverie.models import Add, Candidate, Delete, MemoryType, Tier
from reverie.redact import Redactor
from reverie.store import Done, Kind, MemoryRecord, Store
from reverie.usecases import consolidation, documents, screening
from reverie.usecases.by import By
from reverie.usecases.capacity import EstimatedTokens
from reverie.usecases.consolidation import MemoryPlan, MemorySnapshot
from reverie.usecases.nearest import NearestMemories
from reverie.usecases.recall import Recall
from support.filled_store import WIDE_WINDOW, candidate, commit_plan, fill, mixed_candidates, plan_of_changes
from support.soak import count
from support.stores import AT, SPACE, after, opened

SMALL_WINDOW = 60_000  # tokens, of which the memories of `few` are less than 30 %


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Yield an empty store."""
    with opened(tmp_path / "store") as opened_store:
        yield opened_store


def whole(store: Store) -> MemorySnapshot:
    """Return the snapshot of all memories."""
    with store.reader(SPACE) as reader:
        return consolidation.snapshot(reader, window=WIDE_WINDOW)


def nearest(store: Store, candidates: Sequence[Candidate], window: int = WIDE_WINDOW) -> MemorySnapshot | None:
    """Return the snapshot of the memories near the candidates, by indexes that are new."""
    return NearestMemories(Recall(store)).snapshot(SPACE, candidates, window=window, at=after(1))


def planned(snapshot: MemorySnapshot | None, candidates: Sequence[Candidate], drawn: bytes = b"r") -> MemoryPlan:
    """Return the plan that the candidates lead to; new ids are made of `drawn`."""
    assert snapshot is not None
    return screening.decide(snapshot, candidates, redactor=Redactor([]), at=after(1), random=drawn)


def add(store: Store, candidates: Sequence[Candidate]) -> None:
    """Add candidates as memories, whatever is there."""
    commit_plan(store, plan_of_changes(store, [Add(index, one) for index, one in enumerate(candidates)], candidates))


def says(kind: MemoryType, content: str, project: str = "harbour", **more: object) -> Candidate:
    """Return a candidate that was said on the day of the store's writes."""
    more.setdefault("provenance", {"seqs": [1]})
    return Candidate(kind, content, project=project, at=more.pop("at", AT), **more)  # type: ignore[arg-type]  # fields


def test_plans_are_those_of_the_whole_store(store: Store) -> None:
    """Of a thousand memories those near the candidates lead to the same plan, document for document."""
    fill(store, 1_200)
    candidates = mixed_candidates(store, 12, seed=3)

    near = nearest(store, candidates)
    assert near is not None
    assert 0 < len(near.memories) < 200
    assert len(near.documents) < len(whole(store).documents) or not near.parts
    assert near.others == len(whole(store).memories) - len(near.memories)
    by_all, by_near = planned(whole(store), candidates), planned(near, candidates)

    assert by_near.counts == by_all.counts
    assert set(by_all.counts) >= {"ADD", "SKIP", "UPDATE", "KEEP"}
    assert by_near.documents == by_all.documents
    assert {one.id: one.content for one in by_near.put} == {one.id: one.content for one in by_all.put}
    assert commit_plan(store, by_near).counts == by_all.counts


def test_every_rule_finds_its_memory(store: Store) -> None:
    """A repeated wish, its opposite, another value, a known episode: all are found."""
    fields = (("Date", "2026-11-20"), ("Summary", "Moved the harbour cranes to the new scheduler"))
    add(
        store,
        [
            says(MemoryType.PREFERENCE, "Wants agents to always use tabs", project=""),
            says(MemoryType.FACT, "Port: 8080"),
            says(MemoryType.EPISODE, "", title="Cranes moved", fields=fields),
            says(MemoryType.PROCEDURE, "To run the tests of the project harbour: `make test`"),
        ],
    )
    fill(store, 600)
    later = after(1)
    candidates = [
        says(MemoryType.PREFERENCE, "Wants agents to always use tabs.", project="", at=later),
        says(MemoryType.PREFERENCE, "Wants agents to never use tabs", project="", at=later),
        says(MemoryType.FACT, "Port: 9090", at=later),
        says(MemoryType.EPISODE, "", title="Cranes moved", fields=fields, at=later),
        says(MemoryType.PROCEDURE, "To run the tests of the project harbour: `make check`", at=later),
    ]

    by_all, by_near = planned(whole(store), candidates), planned(nearest(store, candidates), candidates)

    assert by_near.counts == by_all.counts
    assert by_near.documents == by_all.documents
    assert by_near.deleted == by_all.deleted
    assert by_near.proposals == by_all.proposals
    assert len(by_near.proposals) == 1  # the opposite wish
    assert (by_near.counts["SKIP"], by_near.counts["UPDATE"]) == (3, 2)


@pytest.mark.parametrize("seed", range(count(2, 40)))
def test_plans_of_random_stores_are_equal(store: Store, seed: int) -> None:
    """Memories and candidates of few words, which repeat, extend and deny each other, are decided as with all read."""
    chance = random.Random(seed)
    verbs, things = (
        ("use", "run", "avoid", "check", "never use"),
        ("tabs", "spaces", "npm", "yarn", "make test", "ruff"),
    )
    kinds = (MemoryType.FACT, MemoryType.PREFERENCE, MemoryType.MISTAKE, MemoryType.PROCEDURE)

    def sentence() -> Candidate:
        words = f"{chance.choice(verbs)} {chance.choice(things)} for {candidate(chance, 0).content.split()[0]}"
        text = chance.choice(
            (
                f"Wants agents to {words}",
                f"{words.title()}: {chance.randrange(9)}",
                f"{words} no longer",
                f"{words} now, `make test` is gone",
            )
        )
        project = chance.choice(("harbour", "crane", ""))
        return says(chance.choice(kinds), text, project=project)

    add(store, [sentence() for _ in range(120)])
    said = [replace(sentence(), at=after(1)) for _ in range(12)]

    by_all, by_near = planned(whole(store), said), planned(nearest(store, said), said)

    assert by_near.counts == by_all.counts
    assert by_near.documents == by_all.documents
    assert by_near.deleted == by_all.deleted


def test_full_documents_get_parts(store: Store) -> None:
    """A new memory goes into the same part of a long document as with all documents read."""
    chance = random.Random(1)
    add(store, [says(MemoryType.FACT, candidate(chance, 0).content) for _ in range(700)])
    new = [says(MemoryType.FACT, candidate(chance, 0).content) for _ in range(150)]

    by_all, by_near = planned(whole(store), new), planned(nearest(store, new), new)

    assert "facts/harbour/project-7.md" in by_all.documents
    assert by_near.documents == by_all.documents
    commit_plan(store, by_near)


def test_a_document_is_written_as_a_person_spells_it(store: Store) -> None:
    """An engine adds to facts/Project.md, and makes no facts/project.md, which would not be read beside it."""
    by = By(SPACE, "ada", "person", lambda kind: f"{kind}_1")
    (done,) = store.commit([documents.put.write(by, "facts/Project.md", "# Project\n\n- The crane is red\n")], at=AT)
    assert isinstance(done, Done)
    candidates = [says(MemoryType.FACT, "The harbour opens at six", project="", subject="project")]

    for snapshot in (whole(store), nearest(store, candidates)):
        assert list(planned(snapshot, candidates).documents) == ["facts/Project.md"]
    commit_plan(store, planned(nearest(store, candidates), candidates))


def test_a_small_store_that_fills_its_window_is_read_whole(store: Store) -> None:
    """Where few memories are many for the window none are chosen; after enough of them are deleted they are again."""
    chance = random.Random(2)
    few = [candidate(chance, 1) for _ in range(60)]
    add(store, few)
    near = NearestMemories(Recall(store))

    def chosen() -> MemorySnapshot | None:
        return near.snapshot(SPACE, few[:2], window=SMALL_WINDOW, at=after(1))

    assert chosen() is not None
    add(store, [candidate(chance, 2) for _ in range(400)])
    assert chosen() is None
    assert nearest(store, few[:2], SMALL_WINDOW) is None
    with store.reader(SPACE) as reader:
        gone = [record.id for _, record in reader.records(MemoryRecord) if record.project == "project2"]
    for begin in range(0, len(gone), 20):
        commit_plan(store, plan_of_changes(store, [Delete(name) for name in gone[begin : begin + 20]]))
    assert chosen() is not None


def test_the_tier_is_that_of_the_exact_count(store: Store) -> None:
    """The estimate by steps of reading chooses the tier of the whole JSON, also after memories were added."""
    fill(store, 2_500)
    known = EstimatedTokens()

    def estimated(window: int) -> Tier:
        with store.reader(SPACE) as reader:
            tier = None
            while tier is None:
                tier = known.tier(reader, window)
        return tier

    def exact(window: int) -> Tier:
        existing = whole(store).memories
        return screening.tier_of(existing, window)

    windows = (100_000, 500_000, 700_000, 1_000_000, 2_000_000)
    assert [estimated(window) for window in windows] == [exact(window) for window in windows]
    assert len({exact(window) for window in windows}) == len(Tier)
    add(store, [candidate(random.Random(3), 1) for _ in range(300)])
    assert [estimated(window) for window in windows] == [exact(window) for window in windows]


def test_what_was_written_meanwhile_makes_it_stale(store: Store) -> None:
    """A plan of the near memories is refused after another memory was written, as one of all memories is."""
    fill(store, 50)
    new = [candidate(random.Random(9), 1)]
    plan = planned(nearest(store, new), new)
    add(store, [candidate(random.Random(10), 2)])

    with pytest.raises(Conflict, match="changed meanwhile"):
        commit_plan(store, plan)
    with store.reader(SPACE) as reader:
        assert reader.count(Kind.MEMORY) == 51
