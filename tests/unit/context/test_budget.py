"""Token ceilings of each tier at any budget, abilities of a model by its name, and tiers cut to their ceilings."""

from __future__ import annotations

import pytest

from reverie import tokenizer
from reverie.context import tiers
from reverie.context.edits import edits_on_server, takes_late_system
from reverie.context.inputs import SHARES, Limits, RecallLine, ceilings, hard_limit, target
from reverie.context.tiers import HEADING, pack_excerpts, total_tokens
from reverie.models import Dropped, Note, Passage


def test_the_ceilings_of_a_200k_window() -> None:
    """The ceilings equal the table of seed 001."""
    caps = ceilings(Limits())
    assert (caps.bootstrap, caps.index, caps.digest, caps.notes) == (7_000, 1_000, 500, 2_000)
    assert (caps.state, caps.recall, caps.summary, caps.tail) == (500, 1_500, 5_000, 12_000)


def test_ceilings_grow_and_shrink_with_the_budget() -> None:
    """Ceilings are interpolated between the table's rows, proportional beyond them, and never exceed the budget."""
    at = {budget: ceilings(Limits(max_tokens=budget)) for budget in (1, 500, 1_000, 2_500, 4_000, 70_000)}
    assert at[70_000].summary == 10_000
    assert at[2_500].summary == (SHARES[1_000][6] + SHARES[4_000][6]) // 2
    assert at[500].tail == SHARES[1_000][7] // 2
    for budget, row in SHARES.items():
        assert sum(row) <= budget


def test_the_window_bounds_the_target() -> None:
    """A window below 200K scales the 35,000 down; a larger one does not scale it up."""
    assert target(Limits(window=100_000)) == 17_500
    assert target(Limits(window=1_000_000)) == 35_000
    assert hard_limit(Limits(window=100_000)) == 90_000
    assert hard_limit(Limits(window=100_000, max_tokens=300_000)) == 100_000


@pytest.mark.parametrize(
    ("model", "late", "edits"),
    [
        (None, False, True),
        ("", False, False),
        ("gpt-5", False, False),
        ("claude-3-5-sonnet-20241022", False, False),
        ("claude-opus-4-20250514", False, True),
        ("claude-opus-4-7", False, True),
        ("claude-opus-4-8", True, True),
        ("claude-opus-4-8-20260528", True, True),
        ("us.anthropic.claude-opus-5", True, True),
        ("claude-haiku-4-5-20251001", False, True),
        ("claude-haiku-5-5", True, True),
        ("claude-sonnet-4-5", False, True),
        ("claude-sonnet-5-5", True, True),
        ("claude-fable-5-2", True, True),
        ("claude-unheard-9", False, False),
    ],
)
def test_model_families(model: str | None, late: bool, edits: bool) -> None:  # noqa: FBT001  # a table of verdicts
    """Models take late system messages since Opus 4.8 and family 5, and edit on the server since family 4."""
    assert takes_late_system(model) is late
    assert edits_on_server(model) is edits


def test_bootstrap_shortens_the_text_at_its_ceiling() -> None:
    """Bootstrap texts keep their order; the text at the ceiling is cut with a notice, and later ones are left out."""
    tier = tiers.bootstrap((("A.md", "short"), ("E.md", " "), ("B.md", "word " * 300), ("C.md", "word " * 30)), 100)
    assert tier.texts[0] == "short"
    assert "tokens trimmed …]" in tier.texts[1]
    assert tier.cost <= 100
    assert [item.path for item in tier.dropped] == ["B.md", "C.md"]


def test_the_newest_note_keeps_a_part() -> None:
    """The newest note is cut rather than left out; older ones are dropped first; further lines are indented."""
    notes = [
        Note("n3", "new\nlines", "task", ""),
        Note("n2", "word " * 90, "decision", ""),
        Note("n1", "old", "task", ""),
    ]
    assert tiers.notes(notes, 60).texts == (
        "## Notes (written by the agent, newest first)\n- [task] new\n  lines\n- [task] old",
    )
    assert [item.id for item in tiers.notes(notes, 60).dropped] == ["n2"]
    only = tiers.notes(notes[1:2], 48)
    assert only.texts[0].endswith(" […]")
    assert only.dropped[0].why == "shortened"
    assert only.cost <= 48
    assert tiers.notes([], 60).texts == ()


def test_the_state_keeps_its_task() -> None:
    """The state's last lines are dropped first; heading and task stay, a long task is cut."""
    state = "## Working State (auto-maintained)\nCurrent task: " + "port it " * 40 + "\nNext: test\nBlockers: none"
    tier = tiers.state(state, 48)
    assert tier.texts[0].startswith("## Working State (auto-maintained)\nCurrent task: port it")
    assert tier.cost <= 48
    assert (tier.dropped[0].tokens or 0) > 0
    assert tiers.state("", 48).texts == ()
    assert tiers.state(state, 3).texts == ()


def test_the_summary_drops_lines_of_its_longest_section() -> None:
    """A summary over its ceiling loses lines of its longest section; each section keeps its first line."""
    sections = {"Task Context": 2, "Completed Work": 40, "Open Threads": 3}
    body = "# Conversation Summary (Distillation #1)\n\n" + "\n\n".join(
        f"## {name}\n" + "\n".join(f"- {name} item {number}" for number in range(items))
        for name, items in sections.items()
    )
    tier = tiers.summary(body, 150)
    for name in sections:
        assert f"## {name}\n- {name} item 0" in tier.texts[0]
    assert "Completed Work item 39" not in tier.texts[0]
    assert tier.cost <= 150
    assert tier.dropped == [Dropped("summary", tokens=tier.dropped[0].tokens)]
    assert tiers.summary(body, 2).texts == ()
    assert tiers.summary(" ", 100).dropped == []
    assert tiers.summary("- one line " * 500, 100).cost <= 100
    assert tiers.summary("word " * 500, 60).cost <= 60


def test_the_summary_drops_lines_of_the_working_state_first() -> None:
    """A short summary does not repeat the working state; a summary within its ceiling is unchanged."""
    state = "Current task: mend the pier\nNext: paint the railing of the upper pier"
    reasons = [f"- plank {number} is of oak, since oak is at hand" for number in range(20)]
    text = "\n".join(["# S", "", "## Open Threads", "- To do: paint the railing", "", "## Decisions", *reasons])
    uncut = tiers.summary(text, 1_000, state)
    assert uncut.texts[0].endswith(text)
    thinned = tiers.summary(text, uncut.cost - 30, state).texts[0]
    assert "railing" not in thinned
    assert "plank 15" in thinned
    assert "railing" in tiers.summary(text, uncut.cost - 30).texts[0]


def test_digest_and_recall_fit_their_ceilings() -> None:
    """The digest is cut or left out with its frame; recall drops whole lines, and smaller ones may follow."""
    assert tiers.digest("word " * 900, 100).texts[0].endswith(" […]")
    assert tiers.digest("word " * 900, 100).cost <= 100
    assert tiers.digest("who", 3 + tokenizer.count(tiers.FRAME)).texts == (tiers.FRAME,)
    assert tiers.digest("who", 10).texts == ()
    lines = [
        RecallLine("- big " + "word " * 50, "m1", "a"),
        RecallLine("- small", "m2", "b"),
        RecallLine(" ", "m3", "c"),
    ]
    tier = tiers.recall(lines, 30)
    assert tier.texts[0].split("\n")[1:] == ["- small"]
    assert [item.id for item in tier.dropped] == ["m1"]


def passage(text: str, seq: int, rank: int) -> Passage:
    return Passage(text, seq, rank, tokenizer.count(text + "\n"))


def test_excerpts_are_chosen_by_rank_and_put_in_thread_order() -> None:
    """The best ranks that fit are taken, a too large one is skipped for smaller ones; neighbours are adjacent."""
    passages = [passage("last", 9, 0), passage("word " * 200, 5, 1), passage("second", 3, 3), passage("first", 2, 2)]
    tier = pack_excerpts(passages, 40)
    assert tier.texts == (f"{HEADING}\nfirst\nsecond\n\nlast",)
    assert tier.dropped == [Dropped("excerpts", count=1, tokens=passages[1].tokens)]
    assert pack_excerpts(passages, total_tokens(passages)).dropped == []
    assert pack_excerpts(passages, 5).texts == ()
    assert pack_excerpts([], 100).texts == ()
    assert total_tokens([]) == 0


def test_excerpts_that_understate_their_tokens_do_not_exceed_the_ceiling() -> None:
    """An excerpt whose exact count exceeds its stated tokens is left out if it no longer fits."""
    tier = pack_excerpts([Passage("word " * 100, number, number, 2) for number in range(5)], 250)
    assert 100 < tier.cost <= 250
