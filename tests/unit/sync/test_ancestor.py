"""Which earlier text a save was made from."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.sync.merge_base import Candidate, edit_distance, nearest_ancestor
from support.edits import history
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
def test_what_an_edit_costs(old: str, new: str, expected: int) -> None:
    """Pairs of neighbouring words and of neighbouring lines that only one side has."""
    assert edit_distance(old, new) == edit_distance(new, old) == expected


TEXTS = st.lists(st.sampled_from(["- a b c", "- a b d", "- a", "x", ""]), max_size=6).map("\n".join)


@settings(max_examples=count(200, 10_000), deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_the_cost_is_a_distance(one: str, two: str, three: str) -> None:
    """No detour is shorter."""
    assert edit_distance(one, three) <= edit_distance(one, two) + edit_distance(two, three)


def found(new: str, *olds: str, lately: bool = False) -> int:
    """The index of the text that `new` was made from; all but the first were replaced lately, or none was."""
    return nearest_ancestor(new, [Candidate(old, replaced_recently=lately and at > 0) for at, old in enumerate(olds)])


def test_the_least_costly_is_the_parent() -> None:
    """The newest on a tie."""
    newer = BASE + "- four of them\n"

    assert found(BASE.replace("two", "2"), newer, BASE) == 1
    assert found(newer.replace("two", "2"), newer, BASE) == 0
    assert found("- something else\n", BASE, BASE) == 0


def test_an_edit_inside_a_new_line_is_no_old_text() -> None:
    """A line that shares most of its words is the same line, edited."""
    newer = BASE + "- four of them, and all of them are green\n"

    assert found(newer.replace("green", "blue"), newer, BASE) == 0


def test_lately_a_text_that_shows_nothing_of_the_newer_one_is_older() -> None:
    """Without the line that the newer one changed, a text may be of either; with half of its words, of the newer."""
    newer = BASE.replace("two of them", "2")
    without = BASE.replace("- two of them\n", "")

    assert found(without, newer, BASE) == 0
    assert found(without, newer, BASE, lately=True) == 1
    assert found(newer + "- more\n", newer, BASE, lately=True) == 0
    assert found(without, without + "- x y z\n", without, BASE, lately=True) == 1


def test_lately_what_only_deleted_is_newer() -> None:
    """Nothing came that could have been overlooked."""
    newer = BASE.replace("- two of them\n", "")

    assert found(newer + "- x\n", newer, BASE, lately=True) == 0


def test_the_parent_of_random_saves_is_found() -> None:
    """Of texts that grew one from another, the one that was edited."""
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
