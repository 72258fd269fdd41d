"""Five-field cron: parse an expression, list its fire times, once per local day, with one catch-up run.

What daylight saving does to a schedule:

* A schedule whose hour field begins with `*` follows instants (UTC): local times that do not exist are skipped, and a
  repeated hour runs twice. Another run follows within the day, so a skipped one needs no replacement.
* Any other schedule names times of the day. Each of them runs once on each matching local day that exists: at its first
  occurrence when it comes twice; when it does not exist, at the end of the gap, or in the last minute before a gap
  that reaches into the next day. Times that fall into one gap run together, once.
  Example: `30 2 * * *` in Europe/Berlin runs at 03:00 on 29 March 2026, when 02:00 to 03:00 does not exist.

Why not APScheduler's `CronTrigger.from_crontab`, although APScheduler wakes our scheduler: put in the place of this
module it fails 27 of its 85 tests, even after weekday numbers are translated (it counts 0 as Monday). It demands day of
the month AND weekday where cron means OR, runs a repeated hour twice and skips a day whose hour does not exist. It also
takes 105 ms to import, this module 40 ms, and the library would need it as a dependency.
cronsim accepts 6 of the 57 expressions that are refused here (six fields, `L`, `#`), moves a run at 23:30 before a gap
into the next day (America/Nuuk, 30 March 2024), and runs `*/30 2 * * *` four times in a repeated hour.

Source: crontab(5) for the fields; zone rules come from the tz database.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from reverie.errors import ValidationError
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterator

_LENGTH_MAX = 120  # characters of an expression: a longer one was not written by a person
_HORIZON_DAYS = 41 * 366  # 29 February on one weekday: at most 40 years apart, over a century without a leap day
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ITEM = lazy_regex(
    r"(?:(?P<star>\*)|(?P<low>[0-9]{1,2}|[a-z]{3})(?:-(?P<high>[0-9]{1,2}|[a-z]{3}))?)(?:/(?P<step>[0-9]{1,2}))?"
)
_ZONE_KEY = lazy_regex(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z][A-Za-z0-9_+-]*){0,2}")
_NOT_ZONES = ("posix/", "right/", "localtime", "posixrules", "Factory")
_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed cron expression: the values of each field, sorted. Weekdays count 0 = Sunday to 6 = Saturday.

    `either_day`: a day matches when its day of the month OR its weekday matches; true when both are restricted, that
    is when neither field begins with `*` (crontab(5)). `by_instant`: the first daylight-saving rule in the module
    docstring applies, not the second.
    """

    expression: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    either_day: bool
    by_instant: bool

    @property
    def daily(self) -> bool:
        """True if the expression names exactly one time of the day, so that the local date identifies a run."""
        return not self.by_instant and len(self.minutes) == len(self.hours) == 1

    def matches(self, day: date) -> bool:
        """Return True if the schedule runs on this local day."""
        if day.month not in self.months:
            return False
        by_month, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return (by_month or by_week) if self.either_day else (by_month and by_week)


@dataclass(frozen=True, slots=True)
class _Field:
    """One of the five fields: its range of numbers, and the names of the numbers from `first_named` on."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    first_named: int = 0


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS, 1),
    _Field("weekday", 0, 7, _WEEKDAYS, 0),
)


def parse(expression: str) -> Cron:
    """Parse `minute hour day month weekday`: numbers, `*`, ranges, lists, steps, three-letter names.

    0 and 7 are Sunday. Macros (`@daily`), seconds, `L`, `#`, `?` and `H` are refused, and so is a day that no month
    has, such as 31 April: it would never run.

    Raises:
        ValidationError: naming the field that is wrong.
    """
    if len(expression) > _LENGTH_MAX or not expression.isascii() or not expression.isprintable():
        raise _refused(expression, "it must be one short line of plain characters")
    texts = expression.split()
    if len(texts) != len(_FIELDS):
        raise _refused(expression, f"it has {len(texts)} fields, not five")
    minutes, hours, days, months, weekdays = (
        _values(expression, text, field) for text, field in zip(texts, _FIELDS, strict=True)
    )
    either_day = not texts[2].startswith("*") and not texts[4].startswith("*")
    if not either_day and not any(day <= _MONTH_DAYS[month - 1] for day in days for month in months):
        raise _refused(expression, "no month of it has that day")
    return Cron(
        expression=" ".join(texts),
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=tuple(sorted({weekday % 7 for weekday in weekdays})),
        either_day=either_day,
        by_instant=texts[1].startswith("*"),
    )


def zone(name: str, *, system: str = "UTC") -> ZoneInfo:
    """Return the time zone of a tz database key such as `Europe/Berlin` or `EST5EDT`; for `""` that of `system`.

    Raises:
        ValidationError: any other name. ZoneInfo opens a file by that name, so nothing that looks like a path gets
            there, nor do the files of the database that are no zones.
    """
    key = name or system
    if _ZONE_KEY.fullmatch(key) is None or key.startswith(_NOT_ZONES):
        raise ValidationError(f"{key[:80]!a} is not a time zone", hint="use a name such as Europe/Berlin or UTC")
    try:
        return ZoneInfo(key)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValidationError(
            f"no time zone is called {key}", hint="use a name such as Europe/Berlin or UTC"
        ) from error


def fires_on(cron: Cron, where: ZoneInfo, day: date) -> tuple[datetime, ...]:
    """Return every instant (UTC, ascending) at which the schedule runs on one local day."""
    if not cron.matches(day):
        return ()
    instants: set[datetime] = set()  # a set: several times of the day in one gap fire at the same instant
    for hour in cron.hours:
        for minute in cron.minutes:
            instants.update(_instants(datetime.combine(day, time(hour, minute), where), by_instant=cron.by_instant))
    return tuple(sorted(instants))


def next_fire(cron: Cron, where: ZoneInfo, after: datetime, *, ran: Collection[str] = ()) -> datetime | None:
    """Return the first fire time after `after` (UTC) whose `run_key` is not in `ran`; None if there is none.

    `ran` keeps a day from running twice after the clock was set back.
    """
    _check_aware(after)
    # One day early: `after` may lie in a gap that a run of the day before was moved into.
    for day in _days(cron, after.astimezone(where).date() - _DAY, 1):
        for fire in fires_on(cron, where, day):
            if fire > after and run_key(cron, where, fire) not in ran:
                return fire
    return None


def catch_up(
    cron: Cron,
    where: ZoneInfo,
    last_run: datetime,
    now: datetime,
    *,
    ran: Collection[str] = (),
    created: datetime | None = None,
) -> datetime | None:
    """Return the latest missed fire time in `(last_run, now]` whose key is not in `ran`: at most one, never a backlog.

    For a schedule that never ran, `last_run` is the time at which it was created. When the clock was set back behind
    `last_run`, only the latest fire time before `now` can be due: if it is after `created` and not in `ran`; without
    `created`, none. Example: last run on 4 May, clock set back to 2 May 23:30: the run of 2 May is due, unless it ran.
    """
    _check_aware(last_run)
    _check_aware(now)
    if last_run <= now:
        missed = _due(cron, where, last_run, now)
        return next((fire for fire in missed if run_key(cron, where, fire) not in ran), None)
    latest = None if created is None else next(_due(cron, where, created, now), None)
    return latest if latest is not None and run_key(cron, where, latest) not in ran else None


def run_key(cron: Cron, where: ZoneInfo, fire: datetime) -> str:
    """Return the key that two fire times share if they are the same run.

    The local date for a daily schedule, the local time for other named times, the instant (UTC) for a schedule that
    follows instants.
    """
    local = fire.astimezone(where)
    if cron.daily:
        return local.date().isoformat()
    if cron.by_instant:
        return fire.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
    return local.strftime("%Y-%m-%dT%H:%M")


def _due(cron: Cron, where: ZoneInfo, after: datetime, now: datetime) -> Iterator[datetime]:
    """Yield the fire times in `(after, now]`, the latest first."""
    first = after.astimezone(where).date()
    for day in _days(cron, now.astimezone(where).date() + _DAY, -1):
        if day < first - _DAY:
            return
        yield from (fire for fire in reversed(fires_on(cron, where, day)) if after < fire <= now)


def _values(expression: str, text: str, field: _Field) -> tuple[int, ...]:
    """Return the sorted values that one field of the expression lists."""
    values: set[int] = set()
    for item in text.lower().split(","):
        match = _ITEM.fullmatch(item)
        if match is None:
            raise _refused(expression, f"{item[:20]!a} is no {field.name}")
        values.update(_range(expression, match, field))
    return tuple(sorted(values))


def _range(expression: str, match: re.Match[str], field: _Field) -> range:
    """Return the values of one list item of a field: `*`, `5`, `1-4`, each but the second with an optional `/step`."""
    step_text, high_text = match["step"], match["high"]
    if match["star"]:
        # 7 is a second name of Sunday: `*/7` must not count it apart from 0.
        low, high = field.low, min(field.high, 6) if field.names is _WEEKDAYS else field.high
    else:
        low = _number(expression, match["low"], field)
        high = low if high_text is None else _number(expression, high_text, field)
        if high_text == "sun":
            high = 7  # `sat-sun` runs forwards
        if step_text is not None and high_text is None:
            raise _refused(expression, f"a step needs a range or * before it in the {field.name}")
    if low > high:
        raise _refused(expression, f"the range {low}-{high} of the {field.name} runs backwards")
    step = 1 if step_text is None else int(step_text)
    if not 1 <= step <= max(1, high - low):
        raise _refused(expression, f"the step {step} does not fit the {field.name}")
    return range(low, high + 1, step)


def _number(expression: str, text: str, field: _Field) -> int:
    """Return the number of a field value, given as digits or as a name."""
    if text in field.names:
        return field.names.index(text) + field.first_named
    if not text.isdecimal() or not field.low <= int(text) <= field.high:
        raise _refused(expression, f"{text} is no {field.name}")
    return int(text)


def _days(cron: Cron, start: date, step: int) -> Iterator[date]:
    """Yield the matching days from `start` on, forwards or backwards, within the horizon in which a schedule recurs."""
    for offset in range(_HORIZON_DAYS):
        try:
            day = start + step * offset * _DAY
        except OverflowError:
            return
        if cron.matches(day):
            yield day


def _instants(wall: datetime, *, by_instant: bool) -> tuple[datetime, ...]:
    """Return the instants of one local wall time: none, one or two, by the daylight-saving rules of this module."""
    change = _change(wall)
    if change < timedelta(0) and by_instant:  # the wall time comes twice
        return (wall.astimezone(UTC), wall.replace(fold=1).astimezone(UTC))
    if change <= timedelta(0):
        return (wall.astimezone(UTC),)
    if by_instant:
        return ()
    for step in (_MINUTE, -_MINUTE):  # out of the gap: forwards, or backwards where it reaches into the next day
        moved = wall
        while moved.date() == wall.date():
            if _change(moved) <= timedelta(0):
                return (moved.astimezone(UTC),)
            moved += step
    return ()


def _change(wall: datetime) -> timedelta:
    """Return by how much clocks are changed at a wall time: below zero where it comes twice, above in a gap."""
    before, after = wall.utcoffset(), wall.replace(fold=1).utcoffset()
    assert before is not None
    assert after is not None
    return after - before


def _check_aware(moment: datetime) -> None:
    """Raise ValidationError for a datetime without a zone: it would be read in the zone of this machine."""
    if moment.tzinfo is None:
        raise ValidationError("a schedule needs a time with its zone", hint="give a UTC time")


def _refused(expression: str, why: str) -> ValidationError:
    """Return the error for an expression that is no schedule."""
    return ValidationError(
        f"{expression[:60]!a} is not a schedule: {why}",
        hint="write five fields, such as '0 23 * * *' for every day at 23:00",
    )
