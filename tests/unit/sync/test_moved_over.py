"""Files that take the places of others: what is where is read from their bytes, before likenesses are."""

from __future__ import annotations

from support.sides import BASE, PATH, Sides

OTHER, THIRD = "facts/other.md", "facts/third.md"


def test_a_file_that_took_the_place_of_one_that_moved_on_is_no_stale_save_of_it() -> None:
    """An agent has changed one of two copies a moment ago; that one moves on, and the other takes its place."""
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
