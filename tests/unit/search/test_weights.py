"""Questions: the times and names that they give."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie.search import days_asked_about, surroundings_for


def boosted(query: str, day: str) -> float:
    """Return the score that a question's time adds to a message of this day."""
    at = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)
    boosts = surroundings_for(query).boosts
    return sum(boost.score for boost in boosts if boost.times and boost.times[0] <= at < boost.times[1])


@pytest.mark.parametrize(
    "query",
    [
        "What happened on 8 May, 2023?",
        "What happened on May 8th, 2023?",
        "what changed on 2023-05-08",
        "8th of may 2023",
    ],
)
def test_a_date_prefers_that_day_then_the_days_around(query: str) -> None:
    """A date in a question adds most to messages of that day, less to those of a week later, nothing after a month."""
    assert boosted(query, "2023-05-08T22:00") > boosted(query, "2023-05-14T10:00") > boosted(query, "2023-06-14") == 0


def test_a_month_of_a_year_prefers_that_month() -> None:
    """A month with a year adds to messages up to its last moment; a month without a year is no time."""
    assert boosted("What did we ship in December 2023?", "2023-12-31T23:59") > 0
    assert boosted("What did we ship in December 2023?", "2024-01-01") == 0
    assert boosted("What may fail?", "2023-05-08") == 0


@pytest.mark.parametrize(
    "query", ["on 31 February, 2023", "on 8 May, 0000", "2023-19-40", "on 31 December, 9999", "May 0000"]
)
def test_days_that_do_not_exist_are_no_times(query: str) -> None:
    """An impossible date adds nothing and raises nothing."""
    assert all(boost.times is None or boost.times[0] < boost.times[1] for boost in surroundings_for(query).boosts)


def test_names_with_a_capital_are_speakers() -> None:
    """A capitalised name in a question favours messages by that speaker; a name in small letters does not."""
    groups = [boost.group for boost in surroundings_for("What is Ann's plan for berlin?").boosts]
    assert "by:ann" in groups
    assert "by:berlin" not in groups
    assert "by:what" not in groups


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("where is the log?", True),
        ("what did Ann buy", True),
        ("the log moved to a single file", False),
        ("oslo ferry", False),
        ("When paths change, look for the code and for the tests that check it, or else the build fails", False),
        ("", False),
    ],
)
def test_questions_and_statements(query: str, *, asks: bool) -> None:
    """A question has a question mark, or begins as a short text with a question word."""
    assert (surroundings_for(query).weight > surroundings_for("oslo ferry").weight) is asks


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("What did we talk about on May 3rd, 2026?", ["2026-05-03"]),
        ("what happened on 2026-05-03", ["2026-05-03"]),
        ("3 May 2026 and 1 May 2026", ["2026-05-01", "2026-05-03"]),
        ("what broke on 3 May 2026?", []),
        ("what did we talk about?", []),
        ("the " * 1_000 + "2026-05-03", []),
    ],
)
def test_a_question_about_a_day(query: str, days: list[str]) -> None:
    """A question about a day only has no words to search for."""
    assert days_asked_about(query) == days
