"""Conflict copies that a person moves: a copy is one file, wherever it is and whatever a crash forgot of it."""

from __future__ import annotations

import pytest

from support.sync_sides import BASE, PATH, Sides, agreed_sides

MOVED = "moved/"
COPY = "facts/user.sync-conflict-20261121-093000-0001.md"


def opened_conflict(*, dies: bool) -> Sides:
    """Return a folder and store with an open conflict; with `dies` as after a crash right after writing the copy."""
    sides = agreed_sides()
    sides.put(PATH, BASE.replace("German", "French"))
    sides.save(PATH, BASE.replace("German", "Danish"))
    plan = sides.plan()
    assert [copy.copy_path for copy in plan.copies] == [COPY]
    steps = sides.steps(plan)
    written = next(at for at, step in enumerate(steps) if COPY in sides.files or (step() and COPY in sides.files))
    for step in [] if dies else steps[written + 1 :]:
        step()
    return sides


def copies(sides: Sides) -> list[str]:
    """Return the paths of the conflict copies in the folder."""
    return sorted(path for path in sides.files if ".sync-conflict-" in path)


def move_folder(sides: Sides) -> None:
    """Let a person rename the folder of every file."""
    sides.files = {MOVED + path: data for path, data in sides.files.items()}


@pytest.mark.parametrize("dies", [False, True])
@pytest.mark.parametrize("edit", ["", "- and a person's own line\n"])
def test_a_moved_copy_is_there_once(*, dies: bool, edit: str) -> None:
    """The copy is where the person moved it, with what they wrote into it, and nowhere else."""
    sides = opened_conflict(dies=dies)
    move_folder(sides)
    sides.files[MOVED + COPY] += edit.encode()

    sides.settle()

    assert copies(sides) == [MOVED + COPY]
    assert sides.files[MOVED + COPY].decode() == sides.text(MOVED + COPY) == BASE.replace("German", "French") + edit
    assert sides.text(COPY) is None


def test_a_copy_of_a_copy_is_no_move() -> None:
    """A conflict copy that a person copies elsewhere stays, and the second one is a file of its own."""
    sides = opened_conflict(dies=False)
    sides.files[MOVED + COPY] = sides.files[COPY]

    sides.settle()

    assert copies(sides) == [COPY, MOVED + COPY]
