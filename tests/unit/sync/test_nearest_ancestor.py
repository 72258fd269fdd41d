"""The search for the earlier text that a save derives from (its nearest ancestor)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.sync.merge_base import Candidate, edit_distance, nearest_ancestor
from support.edit_history import history
from support.soak import count

BASE = "# T\n\n- one of them\n- two of them\n- three of them\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (BASE, BASE, 0),
        (BASE, BASE.replace("\n", "\r\n"), 0),
        (BASE, "\ufeff" + BASE, 0),
        ("- a b\n", "- a c\n", 4 + 2),  # two pairs of words for two, and one pair of lines for one
        ("- a b\n", "- a b\n- c\n", 3 + 3),  # three pairs of words, and two pairs of lines where there was one
        ("- a b\n- c\n", "- c\n- a b\n", 4),  # no words, but the order
        ("喜欢茶", "喜欢水", 4 + 0),  # characters are words where nothing parts them
    ],
)
def test_edit_distances(old: str, new: str, expected: int) -> None:
    """The distance counts the word pairs and line pairs that only one text has."""
    assert edit_distance(old, new) == edit_distance(new, old) == expected


TEXTS = st.lists(st.sampled_from(["- a b c", "- a b d", "- a", "x", ""]), max_size=6).map("\n".join)


@settings(max_examples=count(200, 10_000), deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_edit_distance_is_a_metric(one: str, two: str, three: str) -> None:
    """`edit_distance` satisfies the triangle inequality."""
    assert edit_distance(one, three) <= edit_distance(one, two) + edit_distance(two, three)


def found(new: str, *olds: str, lately: bool = False) -> int:
    """Return the index of the ancestor of `new`; all candidates but the first were replaced recently, or none was."""
    return nearest_ancestor(new, [Candidate(old, replaced_recently=lately and at > 0) for at, old in enumerate(olds)])


def test_the_nearest_candidate_is_the_ancestor() -> None:
    """The candidate of least distance wins, the newest one on a tie."""
    newer = BASE + "- four of them\n"

    assert found(BASE.replace("two", "2"), newer, BASE) == 1
    assert found(newer.replace("two", "2"), newer, BASE) == 0
    assert found("- something else\n", BASE, BASE) == 0


def test_an_edited_new_line_derives_from_the_newer_text() -> None:
    """A line that shares most of its words with a new line counts as that line, edited."""
    newer = BASE + "- four of them, and all of them are green\n"

    assert found(newer.replace("green", "blue"), newer, BASE) == 0


def test_a_text_without_the_recent_additions_derives_from_the_older_one() -> None:
    """Without the newer line the save derives from the older text; with half of its words, from the newer."""
    newer = BASE.replace("two of them", "2")
    without = BASE.replace("- two of them\n", "")

    assert found(without, newer, BASE) == 0
    assert found(without, newer, BASE, lately=True) == 1
    assert found(newer + "- more\n", newer, BASE, lately=True) == 0
    assert found(without, without + "- x y z\n", without, BASE, lately=True) == 1


def test_a_recent_deletion_cannot_be_missed() -> None:
    """If a newer text only deleted lines, there was nothing that an editor could have missed."""
    newer = BASE.replace("- two of them\n", "")

    assert found(newer + "- x\n", newer, BASE, lately=True) == 0


def test_the_ancestor_of_random_saves_is_found() -> None:
    """Of texts that were edited one from another, the one that a random edit derives from is found."""
    right = wrong = 0
    for seed in range(count(60, 600)):
        versions = ["".join(piece.text for piece in edited) for _, edited in history(seed, saves=6)]
        pick = random.Random(seed)
        at = pick.randrange(5)
        lines = versions[at].splitlines(keepends=True)
        lines.insert(pick.randrange(len(lines) + 1), "- something that nobody has said before\n")
        guess = 5 - nearest_ancestor("".join(lines), [Candidate(text) for text in reversed(versions)])
        right += versions[guess] == versions[at]
        wrong += versions[guess] != versions[at]
    assert wrong <= right // 50, (right, wrong)
