"""Exact-text patches are all applied or all refused."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.errors import ValidationError
from reverie.patch import patch


def problems(text: str, patches: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """What the refusal says about the patches."""
    with pytest.raises(ValidationError) as refused:
        patch(text, patches)

    assert refused.value.hint
    named: list[dict[str, Any]] = refused.value.details["patches"]
    assert refused.value.details["reason"] == named[0]["reason"]
    return named


def test_every_patch_is_found_in_the_original() -> None:
    """Patches do not see what others wrote; those that touch are apart; what is replaced is no pattern."""
    assert patch("a b c", [("a", "b"), ("b", "c"), ("c", "a")]) == ("b c a", 3)
    assert patch("ab", [("a", "1"), ("b", "2")]) == ("12", 2)
    assert patch(r"x.*\1$ y", [(r".*\1$", r"\g<0>")]) == (r"x\g<0> y", 1)
    assert patch("a\r\nb\r\n", [("a\r\n", "")]) == ("b\r\n", 1)
    assert patch("é\U0001f600", [("\U0001f600", "")]) == ("é", 1)
    assert patch("same", [("same", "same")]) == ("same", 1)
    assert patch("anything", []) == ("anything", 0)


def test_refusals_name_the_lines() -> None:
    """Absent, ambiguous, overlapping and empty texts are told apart, and every such patch is named."""
    text = "one\r\ntwo\rone\nthree"

    assert problems(text, [("three", "3"), ("four", "4"), ("one", "1"), ("wo", "2"), ("two", "2")]) == [
        {"patch": 1, "reason": "absent", "lines": [], "more": False},
        {"patch": 2, "reason": "ambiguous", "lines": [1, 3], "more": False},
        {"patch": 3, "reason": "overlap", "lines": [2], "more": False},
        {"patch": 4, "reason": "overlap", "lines": [2], "more": False},
    ]
    assert problems(text, [("", "x"), ("three", "3"), ("", "")]) == [
        {"patch": 0, "reason": "empty", "lines": [], "more": False},
        {"patch": 2, "reason": "empty", "lines": [], "more": False},
    ]
    with pytest.raises(ValidationError, match="patch 0: the old text is there more than once, at line 1, 3"):
        patch(text, [("one", "")])


def test_occurrences_that_overlap_count() -> None:
    """`aa` is twice in `aaa`."""
    assert problems("aaa", [("aa", "b")])[0]["lines"] == [1, 1]
    assert patch("aa", [("aa", "b")]) == ("b", 1)


def test_lists_of_lines_are_bounded() -> None:
    """Twenty lines are named, and that there are more is said."""
    (problem,) = problems("x\n" * 1000, [("x", "y")])
    assert problem["lines"] == list(range(1, 21))
    assert problem["more"]
    assert len(problems("x\n" * 1000, [(str(number), "") for number in range(100)])) == 20


def test_half_characters_are_refused() -> None:
    """Half of a surrogate pair is no text."""
    for text, old, new in (("\ud800", "a", "b"), ("a", "\ud800", "b"), ("a", "a", "\ud800")):
        with pytest.raises(ValidationError) as refused:
            patch(text, [(old, new)])
        assert refused.value.details["reason"] == "lone_surrogate"


@pytest.mark.parametrize(
    ("text", "patches"),
    [
        ("a" * 300_000, ["a" * length for length in range(1, 1000)]),
        ("a" * 300_000, ["a" * 150_000]),
        ("ab" * 100_000, ["ab" * 5000 + str(number) for number in range(30)]),
    ],
    ids=["nested", "long", "late"],
)
def test_no_text_is_searched_for_long(text: str, patches: list[str]) -> None:
    """Texts that are parts of one another, and texts that nearly occur, are refused in linear time."""
    assert problems(text, [(old, "") for old in patches])


def test_many_patches() -> None:
    """20,000 patches of one text go through together."""
    lines = [f"line {number};" for number in range(20_000)]
    text, applied = patch("\n".join(lines), [(line, line.replace("line", "row")) for line in lines])

    assert text == "\n".join(lines).replace("line", "row")
    assert applied == 20_000
