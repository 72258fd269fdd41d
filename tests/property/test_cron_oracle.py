"""Fire times of daily schedules equal those of an oracle that enumerates every minute of every local day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from reverie.cron_expression import fires_on, next_fire, parse, run_key, zone
from support.soak import count

ZONES = (
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Nuuk",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "Asia/Beirut",
    "Pacific/Apia",
)
TIMES = ((0, 0), (0, 30), (1, 45), (2, 30), (12, 0), (23, 0), (23, 59))
FIRST_YEAR = 2018
YEARS = count(1, 10)
APART = count(20, 1)  # days
NEAR = 2  # days before and after a change of the clocks
MINUTE = timedelta(minutes=1)
REACH = 14 * 60  # minutes before and after noon, which are the whole of a day in which the clocks change too


def local_days(where: ZoneInfo, first: int, years: int) -> Iterator[tuple[date, list[datetime]]]:
    """Yield local days with each of their minutes: all near a change of the clocks, and one in `APART` others."""
    noons = [datetime(first, 1, 1, 12, tzinfo=where) + timedelta(days=n) for n in range(366 * years)]
    changes = [n for n in range(1, len(noons)) if noons[n].utcoffset() != noons[n - 1].utcoffset()]
    for number, noon in enumerate(noons):
        if number % APART == 0 or any(abs(number - change) <= NEAR for change in changes):
            yield noon.date(), local_day(noon)


def local_day(noon: datetime) -> list[datetime]:
    """Return each minute of the local day of this noon."""
    middle = noon.astimezone(UTC)
    around = [(middle + n * MINUTE).astimezone(noon.tzinfo) for n in range(-REACH, REACH)]
    assert around[0].date() < noon.date() < around[-1].date()
    return [local for local in around if local.date() == noon.date()]


def expected(minutes: list[datetime], hour: int, minute: int) -> datetime:
    """Return when a daily schedule fires (UTC): at its minute, else at the next of the day, else at the day's last."""
    wall = (hour, minute)
    exact = [local for local in minutes if (local.hour, local.minute) == wall]
    later = [local for local in minutes if (local.hour, local.minute) > wall]
    return (exact or later or [minutes[-1]])[0].astimezone(UTC)


@pytest.mark.parametrize("zone_name", ZONES)
def test_every_local_day_runs_once_at_the_right_minute(zone_name: str) -> None:
    """In 12 zones each daily schedule runs exactly once on a local day, at the oracle's minute."""
    where = zone(zone_name)
    crons = {(hour, minute): parse(f"{minute} {hour} * * *") for hour, minute in TIMES}
    for day, minutes in local_days(where, FIRST_YEAR, YEARS):
        for (hour, minute), cron in crons.items():
            due = expected(minutes, hour, minute)
            assert fires_on(cron, where, day) == (due,), (zone_name, day, hour, minute)
            assert run_key(cron, where, due) == day.isoformat()
            if len(minutes) != 24 * 60:
                assert next_fire(cron, where, due - MINUTE) == due
    assert zone_name != "Pacific/Apia" or fires_on(crons[0, 0], where, date(2011, 12, 30)) == ()
