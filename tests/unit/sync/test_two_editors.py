"""Two editors of one file that never reload: each edits the text that it saved itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.sync.plan import Baseline, Save
from support.sync_sides import MINUTE, PATH, Sides, sides_after_writes, text_after_save

TRIP = "# Trip\n\n- train at eight tea\n- hotel by the lake\n- boat at noon sharp\n- bus not wanted tea\n## tea food\n"
SHOP = "# Shop\n\n- milk two pints\n"


def goes_on(sides: Sides, line: str) -> None:
    """Append a line as an agent, and sync until it is on disk."""
    sides.put(PATH, sides.files[PATH].decode() + line)
    sides.settle()
    sides.now_ms += 100


def test_an_editor_derives_from_its_own_save_although_another_saved_since() -> None:
    """An agent's lines are not lost when two editors that never reload save in turn."""
    sides = sides_after_writes("# T\n\n- one two three\n")
    trip = TRIP.replace("lake", "lake soon")
    text_after_save(sides, TRIP)
    goes_on(sides, "## weather tea\n")
    text_after_save(sides, trip)
    text_after_save(sides, SHOP + "- oats one\n")
    goes_on(sides, "- walk at dawn tea long\n")
    goes_on(sides, "- sauna by the lake\n")

    text = text_after_save(sides, trip.replace("# Trip\n\n", "# Trip\n") + "  seats twelve and fourteen ok\n")

    assert "## weather tea\n" in text
    assert "- walk at dawn tea long\n- sauna by the lake\n" in text


LIST = "# T\n\n- one 11 alpha\n- two 22 beta\n- three 33 gamma\n"
FIRST = "- a first line of the agent here\n"
BY_ONE = "- a line that one editor saved with words\n"
BY_OTHER = "- what the other saved is quite another thing\n"


def two_are_open(more: int) -> tuple[Sides, str]:
    """Return the state after one stale editor saved its line, and the text that the other editor has loaded."""
    sides = sides_after_writes(LIST)
    sides.now_ms += 60 * MINUTE
    sides.put(PATH, LIST.replace("- two", f"{FIRST}- two"))
    sides.settle()
    sides.now_ms += 100
    other = sides.files[PATH].decode()
    for number in range(more):
        goes_on(sides, f"- one more line of the agent, number {number}\n")
    text_after_save(sides, LIST.replace("- three", f"{BY_ONE}- three"))
    sides.now_ms += 100
    return sides, other


@pytest.mark.parametrize("more", [0, 1, 2, 3])
def test_the_other_editor_deletes_nothing_of_an_unseen_save(more: int) -> None:
    """A save of the other editor does not delete lines of the first editor's save, which it never loaded."""
    sides, other = two_are_open(more)

    text = text_after_save(sides, other.replace("- three", f"{BY_OTHER}- three"))

    assert {BY_ONE, BY_OTHER, FIRST} <= set(text.splitlines(keepends=True))
    assert len(text.splitlines()) == len(set(text.splitlines())) == 8 + more


@pytest.mark.parametrize("more", [0, 1, 2, 3])
@pytest.mark.parametrize("line", ["", BY_OTHER])
def test_the_author_of_the_last_save_may_delete_its_lines(more: int, line: str) -> None:
    """The author of the last save may delete its lines, whatever an agent wrote meanwhile."""
    sides, _ = two_are_open(more)
    sides.now_ms += 2_000

    text = text_after_save(sides, LIST.replace("- three", f"{line}- three"))

    assert BY_ONE not in text
    assert line in text
    assert text.count("of the agent") == 1 + more


def test_two_editors_save_their_old_buffers_in_turn() -> None:
    """When two editors save old buffers in turn, an agent's line stays in some file after every save."""
    one = "# Trip\n\n## train at eight sharp\n## tea from main station here\n- tea by the lake\n- boat at noon tea\n"
    two = one + "- hotel for two nights\n"
    sides = sides_after_writes(one)
    sides.now_ms += 60 * MINUTE
    goes_on(sides, "- tea\n")
    text_after_save(sides, SHOP)
    text_after_save(sides, one)
    goes_on(sides, "  oolong\n")

    for text in (one, two, SHOP, two):
        text_after_save(sides, text)
        sides.now_ms += 100
        assert b"  oolong\n" in b"".join(sides.files.values())


@pytest.mark.parametrize(("file", "kept"), [((7, 1), False), ((8, 1), True), ((7, 2), True), (None, False)])
def test_a_stale_save_is_no_move_of_a_deleted_copy(file: tuple[int, int] | None, kept: bool) -> None:  # noqa: FBT001
    """A stale save with the bytes of a deleted copy is a move only if it is the same inode."""
    sides = sides_after_writes("# T\n")
    text_after_save(sides, TRIP)
    text_after_save(sides, TRIP, "copy.md")
    goes_on(sides, "- Tea: green\n")
    sides.save(PATH, TRIP)
    del sides.files["copy.md"]

    cases = [
        replace(sides.state(PATH), file_id=file, baseline_file_id=(5, 1)),
        replace(sides.state("copy.md"), baseline_file_id=(7, 1)),
    ]
    for step in sides.steps(sides.plan_for(cases)):
        step()
    sides.settle()

    assert ("- Tea: green\n" in sides.files[PATH].decode()) is kept


def test_the_last_five_merged_saves_are_kept() -> None:
    """A baseline keeps at most five saves, newest first and each text once; an unmerged save has no text."""
    known = Baseline("a.md", "x", 1)
    for number in (1, 2, 3, 4, 5, 6, 7, 3):
        known = known.with_save(Save(number, f"text {number}"))
    known = known.with_save(Save(9))

    assert known.saved == Save(9)
    assert [each.text for each in known.earlier] == ["text 3", "text 7", "text 6", "text 5"]
    assert known.with_save(Save(10, "text 6")).earlier == tuple(each for each in known.earlier if each.text != "text 6")


def test_lines_that_a_merged_save_never_had_are_named_when_its_editor_rewrites_it() -> None:
    """An editor whose first save was merged with an agent's lines rewrites nearly all of its buffer: they are named."""
    sides = Sides()
    sides.put(PATH, "# T\n\n- w1 of agents\n- w2 of agents\n")
    sides.save(PATH, "# T\n\n- nine ten\n- more\n")
    sides.settle()
    sides.now_ms += 5_000

    text_after_save(sides, "# T\n\n- nine eleven\n- less of it\n")

    there = sides.text(PATH) or ""
    assert {"w1", "w2"} <= sides.named() | set(there.split())
