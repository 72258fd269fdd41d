"""Properties of consolidation over random memories and candidates of a small vocabulary that collides often."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import example, given, settings
from hypothesis import strategies as st

from reverie.consolidate import Decision, apply, decide, document_of
from reverie.consolidate.working_set import WorkingSet
from reverie.models import Add, Candidate, Delete, Keep, Memory, MemoryType, Skip, Tier, Update
from support.soak import count

JANUARY, MARCH = "2026-01-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"

AT = "2026-11-21T09:30:00.000Z"
PROJECTS = ("", "", "harbour")
WORDS = (
    "run tests pytest never always use cache build main branch over tabs spaces 3.11 3.12 src/app.py slow fast"
    " resolved Language: not 5 minutes is no longer the a `make` Alice; deploy. gone now, from to"
)
KINDS = [kind for kind in MemoryType if kind is not MemoryType.EPISODE]

contents = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=9).map(" ".join) | st.text(max_size=20)
times = st.none() | st.sampled_from([JANUARY, MARCH])
tags = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True).map(tuple)
plain = st.builds(
    Candidate,
    type=st.sampled_from(KINDS),
    content=contents,
    tags=tags,
    at=times,
    subject=st.sampled_from(["user", "project"]),
    project=st.sampled_from(PROJECTS),
)
episodes = st.builds(
    Candidate,
    type=st.just(MemoryType.EPISODE),
    content=contents,
    title=contents,
    at=times,
    fields=st.just(()) | contents.map(lambda text: (("Summary", text),)),
)
candidates = st.lists(plain | episodes, max_size=8)
tiers = st.sampled_from(list(Tier))


@st.composite
def memories(draw: st.DrawFn) -> tuple[Memory, ...]:
    items = []
    for number, candidate in enumerate(draw(st.lists(plain | episodes, max_size=8))):
        items.append(
            Memory(
                id=f"mem_{number}",
                type=candidate.type,
                content=candidate.content,
                tags=candidate.tags,
                document=document_of(candidate, at=AT),
                created_at=f"2026-01-0{number + 1}T00:00:00.000Z",
                updated_at=candidate.at or "2026-01-15T00:00:00.000Z",
                access_count=draw(st.integers(0, 2)),
                trust=draw(st.sampled_from(["person", "agent", "engine"])),
                title=candidate.title,
                fields=candidate.fields,
                provenance=candidate.provenance,
                project=candidate.project,
            )
        )
    return tuple(items)


def ids(prefix: str) -> list[str]:
    return [f"{prefix}_{number}" for number in range(20)]


@settings(max_examples=count(100, 5000), deadline=None)
@given(candidates, memories(), tiers)
def test_everything_has_exactly_one_change(new: list[Candidate], old: tuple[Memory, ...], tier: Tier) -> None:
    """Each memory is kept, updated or deleted once, each candidate added or skipped once, in order."""
    changes = decide(new, old, tier).changes
    assert [change.id for change in changes if isinstance(change, Keep | Update | Delete)] == [m.id for m in old]
    assert [c.candidate_index for c in changes if isinstance(c, Add | Skip)] == list(range(len(new)))
    assert len(changes) == len(old) + len(new)


@settings(max_examples=count(100, 5000), deadline=None)
@given(candidates, memories(), tiers)
def test_memories_of_a_person_and_episodes_are_never_changed(
    new: list[Candidate], old: tuple[Memory, ...], tier: Tier
) -> None:
    """A memory last written by a user never changes; a proposal is about such a memory, or about a contradiction."""
    decision = decide(new, old, tier)
    untouchable = {m.id for m in old if m.trust == "person" or m.type is MemoryType.EPISODE}
    changed = {change.id for change in decision.changes if isinstance(change, Update | Delete)}
    assert not untouchable & changed
    proposed = {proposal.change.id for proposal in decision.proposals if proposal.reason != "contradiction"}
    assert proposed <= {m.id for m in old if m.trust == "person"}
    after = {m.id: m for m in apply(decision.changes, old, new, at=AT, new_ids=ids("new"))}
    assert all(after[m.id] == m for m in old if m.id in untouchable)


@settings(max_examples=count(100, 5000), deadline=None)
@given(candidates, memories())
def test_memories_of_other_words_and_projects_change_no_decision(new: list[Candidate], old: tuple[Memory, ...]) -> None:
    """Deciding with the words and projects of the candidates alone equals deciding with all."""
    assert decide(new, old, Tier.GENEROUS) == _decided_beside_all(new, old)


def _decided_beside_all(new: list[Candidate], old: tuple[Memory, ...]) -> Decision:
    """Return the decision with every memory and word in the working set."""
    whole = WorkingSet.of_memories
    with patch.object(WorkingSet, "of_memories", lambda existing, *_: whole(existing)):
        return decide(new, old, Tier.GENEROUS)


def proposed(kind: MemoryType, *contents: str, at: str | None = None) -> list[Candidate]:
    """Return candidates of one type about the user."""
    return [Candidate(type=kind, content=content, at=at, subject="user") for content in contents]


# One word in a statement that it is merged to.
@example(proposed(MemoryType.SKILL, "run", "run tests 3.11"), (), Tier.HEAVY_CUT)
@example(
    proposed(
        MemoryType.MISTAKE,
        "Language: longer `make`",
        "`make` tabs tests Alice; resolved pytest minutes",
        "tabs Language: longer Alice;",
    ),
    (),
    Tier.HEAVY_CUT,
)
@example(proposed(MemoryType.MISTAKE, "resolved fast build 3.12", "build 3.11", "fast 3.11 no no"), (), Tier.HEAVY_CUT)
@example(
    proposed(MemoryType.MISTAKE, "5 spaces src/app.py cache", "src/app.py cache over spaces", "resolved 5 spaces over"),
    (),
    Tier.SELECTIVE,
)
# Words of a known time meet words of an unknown one.
@example(
    proposed(MemoryType.OBSERVATION, "over 3.11 5 branch 5", at=JANUARY)
    + proposed(MemoryType.OBSERVATION, "5 5", "5 3.11 over branch"),
    (),
    Tier.SELECTIVE,
)
@example(
    proposed(MemoryType.FACT, "no no no build run", at=MARCH)
    + proposed(MemoryType.FACT, "build run no no build", at=JANUARY)
    + proposed(MemoryType.FACT, "run no no build"),
    (),
    Tier.HEAVY_CUT,
)
# Statements that replace each other in turn.
@example(
    proposed(MemoryType.MISTAKE, "slow no", "no 3.12 slow slow", "slow 3.12 slow", "slow 3.12 no no", "no 3.12 slow"),
    (),
    Tier.GENEROUS,
)
@settings(max_examples=count(100, 5000), deadline=None)
@given(candidates, memories(), tiers)
def test_the_same_candidates_again_change_nothing(new: list[Candidate], old: tuple[Memory, ...], tier: Tier) -> None:
    """Repeating a consolidation only skips and keeps, in every tier."""
    once = apply(decide(new, old, tier).changes, old, new, at=AT, new_ids=ids("new"))
    again = decide(new, once, tier)
    assert {type(change) for change in again.changes} <= {Keep, Skip}, again.changes
    assert apply(again.changes, once, new, at=AT, new_ids=()) == once


@settings(max_examples=count(60, 2000), deadline=None)
@given(memories(), tiers)
def test_without_candidates_nothing_changes(old: tuple[Memory, ...], tier: Tier) -> None:
    """No memory is removed because time passed."""
    assert decide((), old, tier).changes == tuple(Keep(memory.id) for memory in old)


@settings(max_examples=count(60, 2000), deadline=None)
@given(candidates, memories())
def test_generous_deletes_nothing(new: list[Candidate], old: tuple[Memory, ...]) -> None:
    """In GENEROUS nothing is deleted by rule; what contradicts a memory is a proposal."""
    assert not [change for change in decide(new, old, Tier.GENEROUS).changes if isinstance(change, Delete)]


# Sentences that exclude each other, of the person and of two projects, said in the sessions of these.
SENTENCES = (
    "Wants agents to always use tabs.",
    "Wants agents to always use tabs for indentation in the project harbour.",
    "Wants agents to use spaces, not tabs.",
    "Prefers tabs over spaces.",
    "Wants agents never to use tabs in Makefiles.",
    "Dislikes tabs.",
    "Run the tests with `just test`",
    "Run the tests with `make test` now, `just test` is gone.",
    "Run the tests with `just test` now, `make test` is gone.",
    "Run the tests with `just test`, they need Docker",
    "The tests run with `make test` since we switched from `just test` to `make test`.",
)
excluding = st.builds(
    Candidate,
    type=st.sampled_from([MemoryType.PREFERENCE, MemoryType.PREFERENCE, MemoryType.FACT, MemoryType.PROCEDURE]),
    content=st.sampled_from(SENTENCES),
    at=times,
    project=st.sampled_from(["", "harbour", "quay"]),
)


@st.composite
def excluding_memories(draw: st.DrawFn) -> tuple[Memory, ...]:
    return tuple(
        Memory(
            id=f"mem_{number}",
            type=candidate.type,
            content=candidate.content,
            tags=(),
            document=document_of(candidate, at=AT),
            created_at=JANUARY,
            updated_at=candidate.at or "2026-01-15T00:00:00.000Z",
            trust=draw(st.sampled_from(["person", "engine", "engine"])),
            provenance=candidate.provenance,
            project=candidate.project,
        )
        for number, candidate in enumerate(draw(st.lists(excluding, max_size=4)))
    )


@settings(max_examples=count(100, 3000), deadline=None)
@given(st.lists(excluding, max_size=5), excluding_memories())
def test_what_excludes_each_other_ends_in_one_state(new: list[Candidate], old: tuple[Memory, ...]) -> None:
    """Opposite wishes and values of several projects, repeated, change nothing again, and never what a person wrote."""
    decision = decide(new, old, Tier.GENEROUS)
    once = apply(decision.changes, old, new, at=AT, new_ids=ids("new"))
    again = decide(new, once, Tier.GENEROUS)
    assert {type(change) for change in again.changes} <= {Keep, Skip}, again.changes
    assert all(memory in once for memory in old if memory.trust == "person")
    assert decision == _decided_beside_all(new, old)
