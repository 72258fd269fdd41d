"""Cron expressions: parsing, time zones, daylight saving, next fire time and catch-up."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.cron import CronTrigger

from reverie.cron_expression import Cron, catch_up, fires_on, next_fire, parse, run_key, zone
from reverie.errors import ValidationError
from support.shared import shared_rows

ACCEPTED = (
    "0 23 * * *", "*/10 * * * *", "0 0 1 * *", "15 4 * * *", "0 8-18/2 * * 1-5", "0 0 29 2 *", "59 23 31 12 *",
    "* * * * *", "0,20,40 */3 * * *", "5 4 * jan-mar *", "0 0 * * sun", "0 0 1,15 * 3", "7 7 7 7 7",
    "0 0 1-31/2 1-12 0-6",
)  # fmt: skip
REFUSED = (
    "", " ", "*", "* *", "* * *", "* * * *", "* * * * * *", "0 0 * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *",
    "* * 32 * *", "* * * 0 *", "* * * 13 *", "* * * * 8", "-1 * * * *", "*/0 * * * *", "*/-1 * * * *", "5-1 * * * *",
    "1,,2 * * * *", ",1 * * * *", "1, * * * *", "1- * * * *", "-5 * * * *", "x y z x y", "1.5 * * * *", "0x1 * * * *",
    "1e1 * * * *", "0 0 31 2 *", "0 0 30 feb *", "0 0 31 9 *", "@hourly", "@every 5m", "@reboot", "@", "0 0 L * *",
    "0 0 15W * *", "0 0 * * 5L", "0 0 * * 2#1", "H * * * *", "$(date) * * * *", "`id` * * * *", "; reboot",
    "0 0 * * *\n",
    "0 0 * * *\n0 1 * * *", "\u0661 * * * *", "*/99999999999999999999 * * * *", "9" * 5000 + " * * * *", "* " * 300,
    "P1D", "FREQ=DAILY", "0 0 * * monday", "0 0 * january *", "? ? ? ? ?", "*/5/5 * * * *", "**** *", "0\x000 * * *",
)  # fmt: skip


def at(text: str) -> datetime:
    """Return an ISO time in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def runs_by_day(expression: str, place: str, first: date, count: int) -> dict[str, list[str]]:
    """Return the local time of each run, by local day."""
    cron, where = parse(expression), zone(place)
    runs = {}
    for ordinal in range(first.toordinal(), first.toordinal() + count):
        day = date.fromordinal(ordinal)
        runs[day.isoformat()] = [fire.astimezone(where).isoformat() for fire in fires_on(cron, where, day)]
    return runs


def refused(expression: str, place: str) -> bool:
    """Return True if expression or zone is refused with a hint."""
    try:
        parse(expression)
        zone(place, system="Europe/Berlin")
    except ValidationError as error:
        return error.hint is not None
    return False


@pytest.mark.timeout(30)
def test_labelled_schedules() -> None:
    """Each labelled expression is accepted and has a next fire time, or is refused."""
    cases = [(expression, "UTC", False) for expression in ACCEPTED]
    cases += [(expression, "UTC", True) for expression in REFUSED]
    for row in shared_rows("data/cases/schedules.jsonl"):
        cases.append((row["expr"], row["tz"], row["expect"].startswith(("invalid", "refused"))))
    for expression, place, bad in cases:
        assert refused(expression, place) == bad, expression
        if not bad:
            where = zone(place, system="Europe/Berlin")
            assert next_fire(parse(expression), where, at("2026-11-21T00:00Z")) is not None


@pytest.mark.parametrize(
    ("expression", "place", "day", "runs"),
    [
        ("30 2 * * *", "Europe/Berlin", "2026-03-29", ["2026-03-29T03:00:00+02:00"]),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25", ["2026-10-25T02:30:00+02:00"]),
        ("0 0 * * *", "America/Sao_Paulo", "2018-11-04", ["2018-11-04T01:00:00-02:00"]),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-05", ["2026-04-05T01:45:00+11:00"]),
        ("0 23 * * *", "Pacific/Apia", "2011-12-30", []),
        ("0 12 * * *", "Asia/Kathmandu", "2026-01-01", ["2026-01-01T12:00:00+05:45"]),
        ("0 2 * * *", "Africa/Casablanca", "2026-03-22", ["2026-03-22T03:00:00+01:00"]),
        ("30 23 * * *", "America/Nuuk", "2024-03-30", ["2024-03-30T22:59:00-02:00"]),
        ("45 23 * * *", "America/Toronto", "1919-03-30", ["1919-03-30T23:29:00-05:00"]),
        ("0,30 2,3 * * *", "Europe/Berlin", "2026-03-29", ["2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"]),
        ("*/30 * * * *", "Europe/Berlin", "2026-10-25", None),
    ],
)
def test_daylight_saving(expression: str, place: str, day: str, runs: list[str] | None) -> None:
    """A time of the day runs once on each day that exists; `*/30` runs at all 50 half hours of a day with 25 hours."""
    times = runs_by_day(expression, place, date.fromisoformat(day), 1)[day]
    assert times == runs if runs is not None else len(times) == 50


def test_next_fire_in_a_repeated_hour() -> None:
    """In the repeated hour of October a nightly schedule runs once, an hourly one twice."""
    where = zone("Europe/Berlin")
    nightly = parse("30 2 * * *")
    first = next_fire(nightly, where, at("2026-10-24T12:00Z"))
    assert first == at("2026-10-25T00:30Z")
    assert next_fire(nightly, where, first) == at("2026-10-26T01:30Z")
    hourly = parse("30 * * * *")
    assert next_fire(hourly, where, at("2026-10-25T00:30Z")) == at("2026-10-25T01:30Z")


@pytest.mark.parametrize(
    ("expression", "days"),
    [
        ("0 0 13 * 5", ["2026-02-06", "2026-02-13", "2026-02-20", "2026-02-27"]),  # either day matches
        ("0 0 * * 0", ["2026-02-01", "2026-02-08", "2026-02-15", "2026-02-22"]),
        ("0 0 * * 7", ["2026-02-01", "2026-02-08", "2026-02-15", "2026-02-22"]),
        (
            "0 0 * * sat-SUN",
            [
                "2026-02-01",
                "2026-02-07",
                "2026-02-08",
                "2026-02-14",
                "2026-02-15",
                "2026-02-21",
                "2026-02-22",
                "2026-02-28",
            ],
        ),
        ("0 0 */14 feb mon-sun", ["2026-02-01", "2026-02-15"]),  # `*` in one field: both must match
        ("0 0 1-7,28 2 *", [f"2026-02-0{n}" for n in range(1, 8)] + ["2026-02-28"]),
        ("0 0 1 jan *", []),
    ],
)
def test_matching_days(expression: str, days: list[str]) -> None:
    """The days of February 2026 on which a schedule runs."""
    by_day = runs_by_day(expression, "UTC", date(2026, 2, 1), 28)
    assert [day for day, runs in by_day.items() if runs] == days


def test_times_of_a_day() -> None:
    """Lists, ranges and steps of hours and minutes run at every combination of these hours and minutes."""
    runs = runs_by_day("5,50-52 9-17/4 * * 1-5", "UTC", date(2026, 2, 2), 1)["2026-02-02"]
    assert [run[11:16] for run in runs] == [f"{h:02}:{m:02}" for h in (9, 13, 17) for m in (5, 50, 51, 52)]


@pytest.mark.parametrize(
    "expression",
    [
        "5/2 * * * *",
        "* * * * mon-sat/9",
        "10-5 * * * *",
        "*/60 * * * *",
        "1-2/9 * * * *",
        "0 0 31 4,6 *",
        "0 0 * foo *",
        "@daily",
        "? * * * *",
        "0 0 * * mon#1",
        "* * * * *\u00a0",
        "1-2-3 * * * *",
        "100 * * * *",
        "**  * * * *",
        "/5 * * * *",
    ],
)
def test_invalid_expressions(expression: str) -> None:
    """An invalid expression is refused with a hint."""
    assert refused(expression, "UTC")


@pytest.mark.parametrize(
    "place",
    [
        "Mars/Base",
        "../../etc/passwd",
        "/etc/localtime",
        "America",
        "posix/UTC",
        "right/UTC",
        "localtime",
        "UTC\0",
        "a" * 500,
        "Europe/Berlin/",
        "europe/..",
        "\u0395urope/Berlin",
        "-x",
    ],
)
def test_invalid_zones(place: str) -> None:
    """A name that is no key of the tz database, above all a path, is refused."""
    with pytest.raises(ValidationError):
        zone(place)


def test_empty_zone() -> None:
    """The empty name is the zone that the caller gives as the system's, UTC by default."""
    assert zone("", system="Asia/Tokyo").key == "Asia/Tokyo"
    assert zone("").key == "UTC"
    assert zone("EST5EDT").key == "EST5EDT"


NIGHTLY = parse("0 23 * * *")


@pytest.mark.parametrize(
    ("what", "last_run", "now", "due"),
    [
        ("clock_fwd_2d", "2026-05-01T23:00Z", "2026-05-03T23:30Z", "2026-05-03T23:00Z"),
        ("suspend_9h", "2026-05-01T23:00Z", "2026-05-03T07:00Z", "2026-05-02T23:00Z"),
        ("down_30d", "2026-05-01T23:00Z", "2026-05-31T12:00Z", "2026-05-30T23:00Z"),
        ("nothing missed", "2026-05-01T23:00Z", "2026-05-02T22:59Z", None),
        ("at the very minute", "2026-05-01T23:00Z", "2026-05-02T23:00Z", "2026-05-02T23:00Z"),
        ("clock_back_3d", "2026-05-04T23:00Z", "2026-05-01T23:30Z", None),
        ("year_2038", "2038-01-18T23:00Z", "2038-01-20T03:14:08Z", "2038-01-19T23:00Z"),
    ],
)
def test_one_catch_up(what: str, last_run: str, now: str, due: str | None) -> None:
    """At most one missed run is due, however long the downtime, and none after it."""
    del what
    utc = zone("UTC")
    missed = catch_up(NIGHTLY, utc, at(last_run), at(now))
    assert missed == (at(due) if due else None)
    if missed is not None:
        assert catch_up(NIGHTLY, utc, missed, at(now)) is None
        assert catch_up(NIGHTLY, utc, at(last_run), at(now), ran={run_key(NIGHTLY, utc, missed)}) != missed


def test_a_clock_set_back_repeats_no_day_and_delays_none() -> None:
    """If 4 May has run by a wrong clock that is set back to 1 May, 2 and 3 May still run, and 4 May does not again."""
    utc = zone("UTC")
    ran = {"2026-05-01", "2026-05-04"}
    moment, days = at("2026-05-01T23:30Z"), []
    for _ in range(3):
        following = next_fire(NIGHTLY, utc, moment, ran=ran)
        assert following is not None
        moment = following
        days.append(moment.date().isoformat())
    assert days == ["2026-05-02", "2026-05-03", "2026-05-05"]


def test_catch_up_after_a_clock_set_back() -> None:
    """After the clock is set back each day is due once: 2 May at its time, 4 May not again, nor any day before."""
    utc, created = zone("UTC"), at("2026-04-20T00:00Z")
    last_run, ran = at("2026-05-04T23:00Z"), ["2026-04-30", "2026-05-01", "2026-05-04"]

    def due(now: str, since: datetime | None = created) -> datetime | None:
        return catch_up(NIGHTLY, utc, last_run, at(now), ran=ran, created=since)

    assert due("2026-05-01T12:00Z") is None
    assert due("2026-05-01T23:30Z") is None
    assert due("2026-05-02T23:00Z") == at("2026-05-02T23:00Z")
    assert due("2026-05-02T23:00Z", None) is None
    assert due("2026-05-04T22:59:59Z", at("2026-05-04T12:00Z")) is None
    ran += ["2026-05-02", "2026-05-03"]
    last_run = at("2026-05-03T23:00Z")
    assert due("2026-05-04T23:30Z") is None
    assert due("2026-05-05T23:30Z") == at("2026-05-05T23:00Z")


def test_a_rare_schedule_has_nothing_to_catch_up() -> None:
    """Catch-up of a rare schedule ends at the last run and finds nothing."""
    assert catch_up(parse("0 0 29 2 *"), zone("UTC"), at("2025-01-01T00:00Z"), at("2026-01-01T00:00Z")) is None
    assert catch_up(NIGHTLY, zone("UTC"), at("2026-01-01T23:00Z"), at("2026-01-02T22:00Z")) is None


def test_a_changed_zone_is_a_new_reading() -> None:
    """The same expression in another zone runs at that zone's time."""
    assert next_fire(NIGHTLY, zone("Asia/Tokyo"), at("2026-05-01T00:00Z")) == at("2026-05-01T14:00Z")
    assert next_fire(NIGHTLY, zone("UTC"), at("2026-05-01T00:00Z")) == at("2026-05-01T23:00Z")


def test_no_second_run_after_a_slewed_clock() -> None:
    """A clock that goes back behind a fire time causes no second run, since the run key is in `ran`."""
    utc = zone("UTC")
    fire = at("2026-05-01T23:00Z")
    key = run_key(NIGHTLY, utc, fire)
    assert key == "2026-05-01"
    assert next_fire(NIGHTLY, utc, at("2026-05-01T22:59:59Z"), ran={key}) == at("2026-05-02T23:00Z")


def test_run_keys() -> None:
    """The run key of a schedule at fixed times of the day is the local time, of an hourly one the time in UTC."""
    berlin = zone("Europe/Berlin")
    fire = at("2026-05-01T10:00Z")
    assert run_key(parse("0 9,12 * * *"), berlin, fire) == "2026-05-01T12:00"
    assert run_key(parse("0 * * * *"), berlin, fire) == "2026-05-01T10:00Z"


def test_rare_days_and_the_last_year() -> None:
    """29 February is found across 2100, which is no leap year; after the year 9999 there is nothing."""
    utc = zone("UTC")
    assert next_fire(parse("0 0 29 2 *"), utc, at("2096-03-01T00:00Z")) == at("2104-02-29T00:00Z")
    assert next_fire(parse("0 0 29 2 */6"), utc, at("2076-03-01T00:00Z")) == at("2088-02-29T00:00Z")
    assert next_fire(NIGHTLY, utc, datetime(9999, 12, 31, 23, 30, tzinfo=UTC)) is None
    never_due = parse("0 0 29 2 *")
    assert catch_up(never_due, utc, at("2025-01-01T00:00Z"), at("2026-01-01T00:00Z")) is None


def test_a_time_without_a_zone_is_refused() -> None:
    """A naive datetime is refused: it would be read in the zone of this machine."""
    with pytest.raises(ValidationError):
        next_fire(NIGHTLY, zone("UTC"), at("2026-01-01T00:00Z").replace(tzinfo=None))


def trigger_fields(cron: Cron) -> tuple[dict[str, str], ...]:
    """Return keyword arguments for APScheduler's CronTrigger: one trigger, or two of which either fires.

    Weekdays are written as names, since APScheduler counts 0 = Monday; two triggers are needed where cron means "day of
    the month or weekday", since CronTrigger only knows "and".
    """
    common = {
        "second": "0",
        "minute": numbers(cron.minutes, 60),
        "hour": numbers(cron.hours, 24),
        "month": numbers(cron.months, 12),
    }
    day = {"day": numbers(cron.days, 31)}
    names = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
    weekday = {"day_of_week": "*" if len(cron.weekdays) == 7 else ",".join(names[n] for n in cron.weekdays)}
    if cron.either_day:
        return (common | day | {"day_of_week": "*"}, common | {"day": "*"} | weekday)
    return (common | day | weekday,)


def numbers(values: tuple[int, ...], whole: int) -> str:
    """Return a field of CronTrigger that lists these values; `*` if they are as many as `whole`, which is all."""
    return "*" if len(values) == whole else ",".join(map(str, values))


@pytest.mark.parametrize(
    "expression",
    [
        "0 9 * * 0",
        "0 9 * * 7",
        "*/15 * * * *",
        "30 2 13 * 5",
        "0 0 29 2 *",
        "5 4 1-7 * sun-sat",
        "0 12 */2 3-5 mon,wed",
    ],
)
def test_fire_times_equal_apschedulers(expression: str) -> None:
    """With translated fields (weekday names, two triggers for OR) APScheduler gives the same fire times."""
    cron, utc = parse(expression), zone("UTC")
    triggers = [CronTrigger(timezone=UTC, **fields) for fields in trigger_fields(cron)]
    trigger: Any = OrTrigger(triggers) if len(triggers) > 1 else triggers[0]
    ours = theirs = at("2026-01-01T00:00Z")
    for _ in range(12):
        following = next_fire(cron, utc, ours)
        assert following is not None
        ours = following
        theirs = trigger.get_next_fire_time(None, theirs.replace(second=1))
        assert ours == theirs


def test_equal_expressions() -> None:
    """Expressions that differ in white space are equal."""
    assert parse(" 0  23 * * * ") == NIGHTLY
    assert isinstance(NIGHTLY, Cron)
    assert NIGHTLY.expression == "0 23 * * *"
