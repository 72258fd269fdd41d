"""Which missing files count as split or joined at once, and which wait as any missing file does."""

from __future__ import annotations

import pytest

from reverie.sync.plan import Rules
from support.sync_sides import MINUTE, Sides

GONE, OTHER = "facts/gone.md", "facts/other.md"
LINES = "- The pier is made of oak\n- The lamp burns oil\n"
TEXT = f"# Gone\n\n{LINES}"
KEPT = "# Other\n\n- The crane is red\n- Its hook is not\n"


def settled(**files: str) -> Sides:
    """Return both sides with the two files, and more by their names, an hour later."""
    sides = Sides()
    for path, text in {GONE: TEXT, OTHER: KEPT, **{f"facts/{name}.md": text for name, text in files.items()}}.items():
        sides.save(path, text)
    sides.settle()
    sides.now_ms += 60 * MINUTE
    return sides


@pytest.mark.parametrize(
    ("taker", "is_at_once"),
    [
        (OTHER, True),
        ("facts/new.md", True),
        ("episodes/new.md", True),
        ("notes/new.md", False),
        ("facts/gone.sync-conflict-20261121-093000-x.md", False),
    ],
)
def test_only_files_with_memories_take_the_lines(taker: str, is_at_once: bool) -> None:  # noqa: FBT001 - a case
    """A note or a conflict copy with the lines keeps no memory of them: the file is missing, and waits."""
    sides = settled()
    sides.save(taker, f"{KEPT}{LINES}")
    del sides.files[GONE]
    plan = sides.sync()

    assert [delete.path for delete in plan.deletes] == ([GONE] if is_at_once else [])
    assert {join.new for join in plan.joins} == ({taker} if is_at_once else set())


def test_a_file_with_a_line_less_waits() -> None:
    """A heading counts as a line: it may be the title of an episode."""
    for left_out in ("- The lamp burns oil\n", "## The pier\n"):
        sides = settled(long=f"# Long\n\n## The pier\n{LINES}")
        sides.save(OTHER, KEPT + f"## The pier\n{LINES}".replace(left_out, ""))
        del sides.files["facts/long.md"]
        assert sides.sync().deletes == ()


def test_an_older_folder_is_still_stopped() -> None:
    """Lines that an agent moved on are in an earlier text of the file that had them: that was put back, not joined."""
    for others in ((), ("facts/third.md",)):
        sides = settled(third=KEPT)
        sides.put(OTHER, f"{KEPT}{LINES}")
        sides.settle()
        earlier = {path: sides.files[path] for path in (OTHER, *others)}
        sides.put(OTHER, f"{KEPT}- An agent wrote this here\n")
        for path in others:
            sides.put(path, f"{KEPT}- An agent wrote this there\n")
        sides.put("facts/moved.md", f"# Moved\n\n{LINES}")
        sides.settle()
        sides.now_ms += 60 * MINUTE
        for path, data in earlier.items():
            sides.save(path, data.decode())
        del sides.files["facts/moved.md"]
        assert sides.sync().deletes == ()
        assert sides.text("facts/moved.md") is not None


def test_many_missing_files_are_still_stopped() -> None:
    """A person is asked about them, though another file has all lines of one."""
    sides = settled(**{f"more{number}": f"# M\n\n- Line {number} of many\n" for number in range(6)})
    for number in range(6):
        del sides.files[f"facts/more{number}.md"]
    assert Rules().mass_min < 6
    sides.save(OTHER, f"{KEPT}- Line 0 of many\n")
    plan = sides.sync()

    assert plan.deletes == ()
    assert [stop.reason for stop in plan.stops] == ["mass_deletion"]


def test_a_stale_buffer_takes_no_lines() -> None:
    """What counts is what the store gets: a merge takes lines that an agent had moved out of the save again."""
    sides = settled()
    sides.put(OTHER, f"{KEPT}{LINES}")
    sides.settle()
    stale = sides.files[OTHER].decode()
    sides.put(OTHER, "# Other\n\n- The crane is red\n- Its hook is not\n- An agent wrote this last\n")
    sides.put("facts/moved.md", f"# Moved\n\n{LINES}")
    sides.settle()
    sides.save(OTHER, stale.replace("The crane is red", "The crane is green"))
    del sides.files["facts/moved.md"]
    sides.sync()

    for line in LINES.splitlines():
        assert any(line in (sides.text(path) or "") for path in (OTHER, "facts/moved.md"))
