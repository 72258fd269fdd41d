"""Tests of exact-text patches, which are all applied or all rejected."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.errors import ValidationError
from reverie.text_patch import patch


def problems(text: str, patches: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the problems that the ValidationError reports."""
    with pytest.raises(ValidationError) as refused:
        patch(text, patches)

    assert refused.value.hint
    named: list[dict[str, Any]] = refused.value.details["patches"]
    assert refused.value.details["reason"] == named[0]["reason"]
    return named


def test_errors_name_the_lines() -> None:
    """Absent, ambiguous, overlapping and empty texts are distinguished, and every such patch is named."""
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


def test_overlapping_occurrences_count() -> None:
    """`aa` occurs twice in `aaa`."""
    assert problems("aaa", [("aa", "b")])[0]["lines"] == [1, 1]
    assert patch("aa", [("aa", "b")]) == ("b", 1)


def test_reported_lines_are_limited() -> None:
    """At most twenty lines of a problem are reported, with a sign that there are more, and at most twenty problems."""
    (problem,) = problems("x\n" * 1000, [("x", "y")])
    assert problem["lines"] == list(range(1, 21))
    assert problem["more"]
    assert len(problems("x\n" * 1000, [(str(number), "") for number in range(100)])) == 20


def test_unpaired_surrogates_are_rejected() -> None:
    """An unpaired surrogate raises a ValidationError."""
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
def test_search_takes_linear_time(text: str, patches: list[str]) -> None:
    """Large texts that contain each other or nearly occur are rejected: a search of quadratic time would not end."""
    assert problems(text, [(old, "") for old in patches])
