"""Application of changes: the memories after each change, their documents, and the capacity tiers."""

from __future__ import annotations

import pytest

from reverie.consolidate import apply, document_of, tier
from reverie.errors import Conflict
from reverie.models import Add, Candidate, Change, Delete, Keep, Memory, MemoryType, Skip, Tier, Update

THEN, NOW = "2026-01-01T00:00:00.000Z", "2026-11-21T09:30:00.000Z"
ONE = Memory("m1", MemoryType.FACT, "one", ("a",), "facts/project.md", THEN, THEN, order=4, provenance={"thread": "t1"})
TWO = Memory("m2", MemoryType.FACT, "two", (), "facts/project.md", THEN, THEN, trust="person")
NEW = Candidate(MemoryType.FACT, "new", ("b",), at="2026-02-02T00:00:00.000Z", provenance={"thread": "t2", "seqs": [3]})


def test_each_change() -> None:
    """KEEP and SKIP change nothing, UPDATE sets content, tags, time and source, ADD comes last in its document."""
    changes: list[Change] = [Update("m1", "better", ("a", "b"), 0), Keep("m2"), Skip(0), Add(0, NEW)]
    first, second, third = apply(changes, [ONE, TWO], [NEW], at=NOW, new_ids=["m3"])
    assert (first.content, first.tags, first.updated_at, first.created_at) == ("better", ("a", "b"), NOW, THEN)
    source = {"thread": "t2", "seqs": [3], "at": "2026-02-02T00:00:00.000Z"}
    assert first.provenance == {"thread": "t1", "updates": [source], "at": source["at"]}
    assert second == TWO
    assert third == Memory(
        "m3", MemoryType.FACT, "new", ("b",), "facts/project.md", NOW, NOW, provenance=source, order=5, project=""
    )


def test_a_deleted_memory_is_gone() -> None:
    """DELETE removes the memory; an UPDATE without a candidate has no source to name."""
    assert apply([Delete("m1")], [ONE, TWO], at=NOW, new_ids=()) == (TWO,)
    (updated, _) = apply([Update("m1", "x", ())], [ONE, TWO], at=NOW, new_ids=())
    assert updated.provenance == ONE.provenance


@pytest.mark.parametrize("change", [Delete("m9"), Update("m9", "x", ()), Delete("m2"), Update("m2", "x", ())])
def test_changes_of_unknown_or_personal_memories_are_refused(change: Delete | Update) -> None:
    """A change of an unknown id, or of a memory that a person wrote, raises Conflict."""
    with pytest.raises(Conflict):
        apply([change], [ONE, TWO], at=NOW, new_ids=())


@pytest.mark.parametrize(
    ("kind", "subject", "document"),
    [
        ("fact", "user", "facts/user.md"),
        ("fact", "project", "facts/project.md"),
        ("preference", "user", "facts/preferences.md"),
        ("skill", "user", "facts/skills.md"),
        ("procedure", "project", "facts/procedures.md"),
        ("observation", "project", "facts/observations.md"),
        ("mistake", "project", "facts/mistakes.md"),
        ("episode", "project", "episodes/2026-11.md"),
    ],
)
def test_each_type_has_its_document(kind: str, subject: str, document: str) -> None:
    """`document_of` gives the expected document for each type of memory, and for facts by subject."""
    candidate = Candidate(MemoryType(kind), "x", subject=subject)  # type: ignore[arg-type] # one of the two words
    assert document_of(candidate, at=NOW) == document


def test_an_episode_belongs_to_the_month_it_happened() -> None:
    """An episode's document is that of the month of its Date field, else of the time it was stated, else of now."""
    dated = Candidate(MemoryType.EPISODE, "x", fields=(("Date", "2026-02-24"),), at="2026-03-01T00:00:00.000Z")
    odd = Candidate(MemoryType.EPISODE, "x", fields=(("Date", "yesterday"),), at="2026-03-01T00:00:00.000Z")
    assert document_of(dated, at=NOW) == "episodes/2026-02.md"
    assert document_of(odd, at=NOW) == "episodes/2026-03.md"
    assert document_of(Candidate(MemoryType.EPISODE, "x"), at="?") == "episodes/1970-01.md"


@pytest.mark.parametrize(
    ("tokens", "window", "expected"),
    [
        (0, 1_000_000, Tier.GENEROUS),
        (299_999, 1_000_000, Tier.GENEROUS),
        (300_000, 1_000_000, Tier.SELECTIVE),
        (499_999, 1_000_000, Tier.SELECTIVE),
        (500_000, 1_000_000, Tier.HEAVY_CUT),
        (5_000_000, 1_000_000, Tier.HEAVY_CUT),
        (None, 1_000_000, Tier.GENEROUS),
        (5, None, Tier.GENEROUS),
        (5, 0, Tier.GENEROUS),
        (-1, 10, Tier.GENEROUS),
    ],
)
def test_tiers(tokens: int | None, window: int | None, expected: Tier) -> None:
    """The capacity tier follows the share of the window as in seed 003; with an unknown share it is GENEROUS."""
    assert tier(tokens, window) is expected
