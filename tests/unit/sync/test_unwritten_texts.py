"""Texts that were never on disk, because our writes failed or a crash cut one off, as candidates for a merge base."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.sync.plan import Baseline, Rules, sha256
from support.sync_sides import BASE, PATH, Sides, agreed_sides, settled_text

MANY = Rules().versions_max + 5


def unwritten(sides: Sides, *texts: str, failed: bool = True) -> None:
    """Store texts whose writes to the folder fail, or, unless `failed`, are cut off by a crash before they are made."""
    for text in texts:
        sides.put(PATH, text)
        commit = sides.steps(sides.plan([PATH]))[0]
        assert commit()
        if failed:
            sides.baselines[PATH] = replace(sides.baselines[PATH], intended=frozenset())


def texts_of(lines: int) -> list[str]:
    """Return the texts of an agent that appends a line at a time."""
    added = [f"- Agent: fact {number} of the many\n" for number in range(lines)]
    return [BASE + "".join(added[: number + 1]) for number in range(lines)]


@pytest.mark.parametrize("failed", [True, False])
@pytest.mark.parametrize("lines", [1, 5, MANY])
def test_lines_that_were_never_on_disk_are_not_deleted(lines: int, failed: bool) -> None:  # noqa: FBT001
    """A save of the text that is on disk, with an edit, keeps every line that never got there."""
    sides = agreed_sides()
    texts = texts_of(lines)
    unwritten(sides, *texts, failed=failed)

    sides.save(PATH, BASE.replace("- Editor: vim\n", "").replace("Ana", "Anna"))

    expected = texts[-1].replace("- Editor: vim\n", "").replace("Ana", "Anna")
    assert settled_text(sides) == expected


def test_a_save_like_an_unwritten_text_is_merged_with_what_was_shown() -> None:
    """A save equal to an early text that never reached the disk keeps the agent's later lines, and repeats none."""
    sides = agreed_sides()
    texts = texts_of(4)
    unwritten(sides, *texts)

    sides.save(PATH, texts[2])

    assert settled_text(sides) == texts[3]


def test_a_second_save_keeps_what_is_still_not_on_disk() -> None:
    """With the merge of the first save unwritten too, the editor that saves that text again deletes nothing."""
    sides = agreed_sides()
    texts = texts_of(MANY)
    unwritten(sides, *texts)
    first = BASE + "- City: Oslo\n"
    sides.save(PATH, first)
    assert sides.steps(sides.plan([PATH]))[0]()
    sides.baselines[PATH] = replace(sides.baselines[PATH], intended=frozenset())

    sides.now_ms += 120_000
    sides.save(PATH, first.replace("- City: Oslo\n", "- City: Bergen\n- Dog: Rex\n"))

    after = settled_text(sides)
    assert set(texts[-1].splitlines()) < set(after.splitlines())
    assert "- City: Bergen\n- Dog: Rex\n" in after


def test_a_write_that_a_crash_cut_off_may_have_been_seen() -> None:
    """After a crash the text of the write under way may have been on disk: a line of it can have been deleted."""
    sides = agreed_sides()
    texts = texts_of(2)
    unwritten(sides, texts[0], failed=False)
    sides.files[PATH] = texts[0].encode()  # the write was made, and not recorded
    sides.put(PATH, texts[1])
    sides.now_ms += 600_000

    sides.save(PATH, texts[0].replace("- Role: developer\n", "") + "- Tea: green\n")

    after = settled_text(sides)
    assert "- Role: developer\n" not in after
    assert set(texts[1].splitlines()) - {"- Role: developer"} < set(after.splitlines())


def test_the_versions_since_an_unknown_text_are_all_candidates() -> None:
    """In a folder that was accepted anew nothing is known of what the disk showed, so any version may have been."""
    sides = agreed_sides()
    texts = texts_of(3)
    for text in texts:
        sides.put(PATH, text)
    sides.baselines[PATH] = Baseline(PATH, "", 0, intended=frozenset({sha256(texts[-1].encode())}))

    sides.save(PATH, texts[0] + "- Tea: green\n")

    assert sorted(settled_text(sides).splitlines()) == sorted((texts[-1] + "- Tea: green\n").splitlines())
