"""The decision about each candidate, case by case and tier by tier."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reverie.consolidate import apply, capacity, decide
from reverie.models import Candidate, Memory, MemoryType, Tier

OLD = "2026-01-01T00:00:00.000Z"
NEW = "2026-02-01T00:00:00.000Z"
GENEROUS, SELECTIVE, HEAVY = Tier.GENEROUS, Tier.SELECTIVE, Tier.HEAVY_CUT


def memory(content: str, kind: str = "fact", **more: object) -> Memory:
    given: dict[str, object] = {
        "id": "m1",
        "type": MemoryType(kind),
        "content": content,
        "tags": ("old",),
        "document": "facts/project.md",
        "created_at": OLD,
        "updated_at": OLD,
    }
    return Memory(**(given | more))  # type: ignore[arg-type] # the table above has the types


def said(content: str, kind: str = "fact", at: str | None = NEW) -> Candidate:
    return Candidate(MemoryType(kind), content, ("new",), at=at)


def check(existing: list[Memory], candidate: Candidate, tier: Tier, expected: list[str]) -> None:
    """Assert the changes decided for one candidate, in short form such as `KEEP m1` or `ADD <content>`."""
    shown = []
    for change in decide([candidate], existing, tier).changes:
        match change.action:
            case "UPDATE":
                shown.append(f"UPDATE {change.id} {change.content}")
                assert set(change.tags) == {"old", "new"}
            case "ADD":
                shown.append(f"ADD {change.candidate.content}")
            case "SKIP":
                shown.append(f"SKIP {change.covered_by}")
            case _:
                shown.append(f"{change.action} {change.id}")
    assert shown == expected


@pytest.mark.parametrize(
    ("kind", "old", "new", "what"),
    [
        ("fact", "The API listens on port 8080", "the api listens on port 8080.", "SKIP"),
        ("fact", "The API listens on a Unix socket", "The API listens on Unix socket", "SKIP"),
        ("fact", "Tests run with pytest and coverage on every push", "Tests run with pytest", "SKIP"),
        ("fact", "Tests run with pytest", "Tests run with pytest and coverage on every push", "UPDATE"),
        ("fact", "Language: German", "Language: English", "UPDATE"),
        ("preference", "Prefer tabs over spaces", "Prefer spaces over tabs", "ADD"),
        ("procedure", "Always run the tests in parallel", "Never run the tests in parallel", "ADD"),
        ("fact", "The whole suite takes 12 minutes", "The whole suite takes 5 minutes", "UPDATE"),
        ("mistake", "The socket test hangs under load", "The socket test no longer hangs under load", "ADD"),
        ("fact", "tests/a.py fails often on CI", "tests/b.py fails often on CI", "ADD"),
        ("fact", "Alice reviews changes to billing", "Bob reviews changes to billing", "ADD"),
        ("mistake", "Error: disk full while writing", "Error: no such file", "ADD"),
        ("fact", "The build uses maturin", "Deployments go out on Thursdays", "ADD"),
        ("fact", "", "", "SKIP"),
    ],
)
def test_one_candidate_and_one_memory_in_generous(kind: str, old: str, new: str, what: str) -> None:
    """In GENEROUS a known candidate is skipped, one that extends or replaces a memory updates it, others are added."""
    expected = {
        "SKIP": ["KEEP m1", f"SKIP {'m1' if new else None}"],
        "UPDATE": [f"UPDATE m1 {new}", "SKIP m1"],
        "ADD": ["KEEP m1", f"ADD {new}"],
    }
    check([memory(old, kind)], said(new, kind), GENEROUS, expected[what])


def test_an_older_statement_does_not_replace_a_newer_one() -> None:
    """A candidate stated before the memory was does not replace its value; one stated later does."""
    check(
        [memory("Language: German", updated_at=NEW)],
        said("Language: English", at=OLD),
        GENEROUS,
        ["KEEP m1", "SKIP m1"],
    )
    imported = memory("Language: German", updated_at=NEW, provenance={"at": OLD})
    check(
        [imported],
        said("Language: English", at="2026-01-15T00:00:00.000Z"),
        GENEROUS,
        ["UPDATE m1 Language: English", "SKIP m1"],
    )


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("preference", "Always push to main", "Never push to main"),
        ("preference", "The user wants: “use npm”", "The user wants: “use pnpm, not npm”"),
        ("fact", "Asked “Which store?”, the user chose “LMDB”", "Asked “Which store?”, the user chose “SQLite”"),
    ],
)
@pytest.mark.parametrize("trust", ["engine", "person"])
def test_what_contradicts_a_memory_is_added_and_a_person_asked(kind: str, old: str, new: str, trust: str) -> None:
    """The newer words stand beside the older ones, whose deletion is proposed once, with where the newer were said."""
    held, later = memory(old, kind, trust=trust), replace(said(new, kind), provenance={"thread": "t2", "seqs": [4]})
    decision = decide([later], [held], GENEROUS)
    assert [change.action for change in decision.changes] == ["KEEP", "ADD"]
    (proposal,) = decision.proposals
    assert (proposal.change.action, proposal.reason) == ("DELETE", "contradiction")
    assert proposal.source == {"thread": "t2", "seqs": [4], "at": NEW}
    after = apply(decision.changes, [held], [later], at=NEW, new_ids=["m2"])
    assert decide([later], after, GENEROUS).proposals == ()
    check([memory(new, kind, updated_at=NEW)], said(old, kind, at=OLD), GENEROUS, ["KEEP m1", "SKIP m1"])


@pytest.mark.parametrize(
    ("tier", "new", "expected"),
    [
        (GENEROUS, "Check the release notes carefully", "ADD"),
        (SELECTIVE, "Check the release notes carefully", "SKIP"),
        (HEAVY, "Check the release notes carefully", "SKIP"),
        (SELECTIVE, "Release notes are kept in docs/CHANGES.md", "ADD"),
        (HEAVY, "Release notes are kept in docs/CHANGES.md", "ADD"),
    ],
)
def test_generic_statements_are_skipped_above_generous(tier: Tier, new: str, expected: str) -> None:
    """A short candidate that names nothing specific is skipped in every tier but GENEROUS."""
    check([], said(new, "skill"), tier, [f"ADD {new}" if expected == "ADD" else "SKIP None"])


def test_similar_statements_are_added_merged_or_skipped_by_tier() -> None:
    """Similar statements are added in GENEROUS and merged in HEAVY_CUT; the same words reordered are skipped."""
    old = "The importer reads Claude Code sessions line by line"
    new = "The importer reads Codex sessions line by line from ~/.codex"
    merged = f"{old}; {new}"
    check([memory(old)], said(new), GENEROUS, ["KEEP m1", f"ADD {new}"])
    check([memory(old)], said(new), HEAVY, [f"UPDATE m1 {merged}", "SKIP m1"])
    near = "Sessions: the importer reads line by line"
    check([memory(old)], said(near), SELECTIVE, ["KEEP m1", "SKIP m1"])


def test_changes_of_a_persons_memory_become_proposals() -> None:
    """A candidate that would change a person's memory becomes a proposal, and the memory is kept."""
    mine = memory("Language: German", trust="person")
    decision = decide([said("Language: English")], [mine], GENEROUS)
    assert [change.action for change in decision.changes] == ["KEEP", "SKIP"]
    (proposal,) = decision.proposals
    assert proposal.change.action == "UPDATE"
    assert proposal.change.content == "Language: English"
    assert proposal.why == "what was said since replaces it"


def test_facts_about_user_and_project_have_two_scopes() -> None:
    """`Language` of the user and of the project are separate facts, but an equal text is known whatever its type."""
    mine = memory("Language: German", document="facts/user.md")
    check([mine], said("Language: Rust"), GENEROUS, ["KEEP m1", "ADD Language: Rust"])
    check([mine], said("Language: German", "preference"), GENEROUS, ["KEEP m1", "SKIP m1"])


def test_candidates_are_compared_with_each_other() -> None:
    """Of two candidates that say the same, the longer is added, once."""
    decision = decide(
        [said("Tests run with pytest"), said("Tests run with pytest and coverage"), said("Tests run with pytest")],
        [],
        GENEROUS,
    )
    assert [change.action for change in decision.changes] == ["SKIP", "ADD", "SKIP"]


def episode(title: str, summary: str, day: str) -> Candidate:
    return Candidate(
        MemoryType.EPISODE,
        summary,
        title=title,
        fields=(("Summary", summary), ("Date", day)),
        at=f"{day}T10:00:00.000Z",
    )


def test_episodes_are_added_once() -> None:
    """An episode of the same task on the same day, or with the same words on another day, is skipped."""
    told = memory(
        "Fixed the leak of the logger",
        "episode",
        title="Logger leak fix",
        document="episodes/2026-02.md",
        fields=(("Summary", "Fixed the leak of the logger"), ("Date", "2026-02-24")),
    )
    same = episode("Logger leak fix", "Fixed the leak of the stdout logger", "2026-02-24")
    other_day = episode("Logger leak fixed again", "Fixed the leak of the new logger sink", "2026-03-02")
    verbatim = episode("Logger leak fix", "Fixed the leak of the logger", "2026-03-02")
    for candidate, expected in ((same, "SKIP"), (other_day, "ADD"), (verbatim, "SKIP")):
        assert [change.action for change in decide([candidate], [told], HEAVY).changes] == ["KEEP", expected]


def sixty_memories() -> list[Memory]:
    """Return sixty memories: ten groups of five similar facts, and ten generic skills that were never recalled."""
    parts = [
        "parser",
        "scheduler",
        "importer",
        "renderer",
        "watcher",
        "exporter",
        "planner",
        "linker",
        "resolver",
        "packer",
    ]
    ways = ["in src/{0}.py", "with a {0} cache", "after the {0} warms up", "once per {0} run", "for every {0} input"]
    families = [
        memory(f"The {part} module works {ways[n].format(part)}", id=f"{part}{n}", access_count=3)
        for part in parts
        for n in range(5)
    ]
    general = [
        memory(f"{word} things carefully", "skill", id=word)
        for word in ("check", "read", "write", "plan", "test", "think", "name", "sort", "count", "watch")
    ]
    return [*families, *general]


@pytest.mark.parametrize(("tier", "least", "most"), [(GENEROUS, 0, 0), (SELECTIVE, 10, 12), (HEAVY, 6, 12)])
def test_a_full_memory_shrinks_by_a_tenth_to_a_fifth(tier: Tier, least: int, most: int) -> None:
    """A new candidate makes a full memory shrink within bounds; facts that are deleted were merged word for word."""
    old = sixty_memories()
    changes = decide([said("Backups are written to /srv/backups at 03:00")], old, tier).changes
    gone = [change.id for change in changes if change.action == "DELETE"]
    assert least <= len(gone) <= most
    assert sum(change.action == "ADD" for change in changes) == 1
    kept_text = " ".join(change.content for change in changes if change.action == "UPDATE") + " ".join(
        m.content for m in old if m.id not in gone
    )
    for lost in (m for m in old if m.id in gone and m.type is MemoryType.FACT):
        assert lost.content in kept_text  # merged word for word, not dropped


def related_pairs(number: int) -> list[Memory]:
    """Return two similar observations for each number; the second ones come after all first ones."""
    words = [[f"pair{at}{letter}" for letter in "abcdefg"] for at in range(number)]
    said = [*(" ".join(each[:5]) for each in words), *(" ".join((*each[:3], *each[5:])) for each in words)]
    return [memory(text, "observation", id=f"m{at:04}") for at, text in enumerate(said)]


def test_shrinking_is_bounded_and_continues_in_later_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run merges no more than its bound of memories; after many runs most pairs are merged."""
    monkeypatch.setattr(capacity, "COMPARED_MAX", 40)
    memories = related_pairs(100)
    for run in range(60):
        reduction_max = capacity.REDUCTION_MAX
        new = [said(" ".join(f"run{run}{letter}" for letter in "abcdef"), "observation")]
        changes = decide(new, memories, HEAVY).changes
        assert sum(change.action == "DELETE" for change in changes) <= 41 * reduction_max
        memories = list(apply(changes, memories, new, at=NEW, new_ids=[f"new{run:04}"]))
    left = [held.content for held in memories if held.content.startswith("pair")]
    assert len(left) < 110
    assert sum("; " in content for content in left) > 90


def test_a_small_memory_is_shrunk_in_one_run() -> None:
    """One run merges as many similar pairs as it may: 40 of 200 memories are deleted."""
    changes = decide(
        [said("a kettle boils tea water for breakfast guests", "observation")], related_pairs(100), HEAVY
    ).changes
    assert sum(change.action == "DELETE" for change in changes) == 40
