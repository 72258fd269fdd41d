"""Helpers of tests that wait: for the end of a day that is near."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from support.waiting import DAY_END_S, seconds_past_midnight

MIDNIGHT = datetime(2026, 12, 1, tzinfo=UTC)  # the end of a month too


@pytest.mark.parametrize("left_s", [DAY_END_S, 1.0, 0.001])
def test_the_end_of_a_day_is_waited_for(left_s: float) -> None:
    """If the UTC day ends soon, a test begins after it, in whatever zone the time is given."""
    now = MIDNIGHT - timedelta(seconds=left_s)
    for zone in (UTC, timezone(timedelta(hours=9))):
        assert now + timedelta(seconds=seconds_past_midnight(now.astimezone(zone))) > MIDNIGHT


@pytest.mark.parametrize("passed_s", [0.0, 1.0, 86_400 - DAY_END_S - 1])
def test_at_other_times_nothing_is_waited_for(passed_s: float) -> None:
    """From midnight until shortly before the next one a test begins at once."""
    assert seconds_past_midnight(MIDNIGHT + timedelta(seconds=passed_s)) == 0.0
