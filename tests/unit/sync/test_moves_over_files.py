"""Files moved over other files: equal bytes are matched before similar texts."""

from __future__ import annotations

from support.sync_sides import BASE, PATH, Sides

OTHER, THIRD = "facts/other.md", "facts/third.md"


def test_a_file_moved_over_a_moved_file_is_no_stale_save() -> None:
    """A file moved to the path of another moved copy is a move and no stale save.

    No stale save, though an agent changed one just before.
    """
    copy = BASE.replace("# User", "# The user")
    changed = BASE.replace("- Editor: vim\n", "- Editor: kate, and joe\n")
    sides = Sides()
    for path, text in ((PATH, BASE), (OTHER, copy)):
        sides.save(path, text)
        sides.settle()
    sides.put(PATH, changed)
    sides.settle()
    sides.files[THIRD] = sides.files.pop(PATH)
    sides.files[PATH] = sides.files.pop(OTHER)
    sides.settle()

    assert {path: data.decode() for path, data in sides.files.items()} == {PATH: copy, THIRD: changed}


def test_a_file_that_is_moved_over_another_one_takes_along_what_an_agent_wrote() -> None:
    """Its lines are in one file, with the agent's: the old file does not come back beside it."""
    sides = Sides()
    for path, text in ((PATH, BASE), (OTHER, "# Other\n\n- Own: line\n")):
        sides.save(path, text)
        sides.settle()
    sides.put(PATH, BASE + "- Agent: wrote\n")
    sides.files[OTHER] = sides.files.pop(PATH)
    sides.settle()

    assert {path: data.decode() for path, data in sides.files.items()} == {OTHER: BASE + "- Agent: wrote\n"}
    assert (sides.text(PATH), sides.text(OTHER)) == (None, BASE + "- Agent: wrote\n")
