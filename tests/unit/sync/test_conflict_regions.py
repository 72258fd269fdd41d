"""Conflict regions keep their offsets when lines with secrets stay in the document."""

from __future__ import annotations

import pytest

from reverie.sync.merge_plan import relocated, three_way_merge
from reverie.sync.plan import ConflictRegion

TEXT = "# T\n\n- one\n- two\n\n- three\n"


@pytest.mark.parametrize(
    ("person", "before", "put", "found"),
    [
        ("", "- two\n", TEXT, "- two\n"),
        ("", "- two\n", "- kept\n" + TEXT, "- two\n"),
        ("", "- two\n", TEXT.replace("- two", "- kept\n- two"), "- two\n"),
        ("", "- two\n", TEXT.replace("- two", "- 2"), "- 2\n"),  # behind the line before
        ("", "", "- kept\n" + TEXT, ""),
        ("", "", TEXT + "- kept\n", "- kept\n"),
        ("", "- two\n", TEXT.replace("one", "1").replace("two", "2"), None),
        ("", "\n- three\n", TEXT.replace("two", "2"), None),  # an empty line may be any
        ("- two\n", "- two\n", "- kept\n" + TEXT, "- two\n"),
        ("- two\n", "- two\n", TEXT.replace("two", "2"), None),
        ("- one\n- two\n", "- one\n", TEXT.replace("- two", "- kept\n- two"), None),
    ],
)
def test_a_region_is_located_by_its_lines(person: str, before: str, put: str, found: str | None) -> None:
    """A region is found by its lines, or its offset is None; it is never guessed."""
    at = TEXT.index(before) if before else len(TEXT)

    [region] = relocated((ConflictRegion(person, "- else\n", at),), TEXT, put)

    assert (region.person, region.store) == (person, "- else\n")
    assert (None if region.at is None else put[region.at :][: len(found or "")]) == found
    assert region.at is None or region.at == 0 or put[region.at - 1] == "\n"


@pytest.mark.parametrize("rest", ["", "- Tea: green\n"])
def test_an_agents_line_in_a_block_that_is_cut_out_is_no_conflict(rest: str) -> None:
    """The agent only added a line: it stays behind what the person made of the block, and no copy is needed."""
    base = "# Me\n\n- One: first\n- Two: second\n"
    store = base.replace("- Two", "- Agent: between\n- Two").replace("# Me\n", "# Me\n\n> Summary: between\n")
    merged = three_way_merge(base, store, f"# Me\n\n{rest}")
    assert merged.regions == ()
    assert "- Agent: between\n" in merged.text
    assert ("- One" in merged.text, "- Two" in merged.text, rest in merged.text) == (False, False, True)
