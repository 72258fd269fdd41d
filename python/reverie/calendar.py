"""Decides when a schedule is due: five-field cron of the standard meaning, once per local day, one catch-up.

What daylight saving does to a schedule, stated once:

* A schedule whose hour field begins with `*` follows the clock's instants: times that do not exist are skipped, and a
  repeated hour runs twice. Another run is never far away.
* Any other schedule names times of the day. Each of them runs once on each matching local day that exists: at its first
  occurrence when it comes twice; when it does not exist, at the end of the gap, or in the last minute before a gap
  that reaches into the next day. Times that one gap swallows run together, once.

Source: crontab(5) for the fields; zone rules come from the tz database.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["Cron", "catch_up", "fires_on", "next_fire", "parse", "run_key", "trigger_fields", "zone"]

_LENGTH_MAX = 120
_HORIZON_DAYS = 41 * 366  # 29 February on one weekday: at most 40 years apart, over a century without a leap day
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ITEM = re.compile(
    r"(?:(?P<star>\*)|(?P<low>[0-9]{1,2}|[a-z]{3})(?:-(?P<high>[0-9]{1,2}|[a-z]{3}))?)(?:/(?P<step>[0-9]{1,2}))?"
)
_ZONE_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z][A-Za-z0-9_+-]*){0,2}")
_NOT_ZONES = ("posix/", "right/", "localtime", "posixrules", "Factory")
_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Cron:
    """A schedule: the values of each field, sorted. Weekdays count 0 = Sunday to 6 = Saturday.

    `either_day` says that a day matches when its day of the month or its weekday does: true when both are restricted,
    that is when neither field begins with `*`. `by_instant` is the first rule of this module's head.
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
        """Whether it names one time of the day, so that the local date alone identifies a run."""
        return not self.by_instant and len(self.minutes) == len(self.hours) == 1

    def matches(self, day: date) -> bool:
        """Whether the schedule runs on this local day at all."""
        if day.month not in self.months:
            return False
        by_month, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return (by_month or by_week) if self.either_day else (by_month and by_week)


@dataclass(frozen=True, slots=True)
class _Field:
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
    """The schedule that `minute hour day month weekday` says: numbers, `*`, ranges, lists, steps, three-letter names.

    0 and 7 are Sunday. Macros (`@daily`), seconds, `L`, `#`, `?` and `H` are refused, and so is a day that no month
    has. Raises ValidationError.
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
    """The time zone of a tz database key, such as `Europe/Berlin` or `EST5EDT`; `""` is the zone named by `system`.

    Raises ValidationError for anything else: a zone name is never used as a path.
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
    """Every instant (UTC, ascending) at which the schedule runs on one local day."""
    if not cron.matches(day):
        return ()
    found: set[datetime] = set()
    for hour in cron.hours:
        for minute in cron.minutes:
            found.update(_instants(datetime.combine(day, time(hour, minute), where), by_instant=cron.by_instant))
    return tuple(sorted(found))


def next_fire(cron: Cron, where: ZoneInfo, after: datetime, *, ran: Collection[str] = ()) -> datetime | None:
    """The first run after the instant `after` (UTC) whose `run_key` is not among `ran`; None when there is none.

    `ran` keeps a day from running twice after the clock was set back.
    """
    _check_aware(after)
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
    made: datetime | None = None,
) -> datetime | None:
    """The latest run that was due in `(last_run, now]` and whose key is not among `ran`: at most one, never a backlog.

    Give the time the schedule was made as `last_run` when it never ran. When the clock was set back behind `last_run`,
    only the latest time of the schedule can be due: after `made`, and unless it is among `ran`; without `made`, none.
    """
    _check_aware(last_run)
    _check_aware(now)
    if last_run <= now:
        found = _due(cron, where, last_run, now)
        return next((fire for fire in found if run_key(cron, where, fire) not in ran), None)
    latest = None if made is None else next(_due(cron, where, made, now), None)
    return latest if latest is not None and run_key(cron, where, latest) not in ran else None


def run_key(cron: Cron, where: ZoneInfo, fire: datetime) -> str:
    """What makes two runs the same run.

    The local date for a daily schedule, the local time for other named times, the instant (UTC) for a schedule that
    follows instants.
    """
    local = fire.astimezone(where)
    if cron.daily:
        return local.date().isoformat()
    if cron.by_instant:
        return fire.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
    return local.strftime("%Y-%m-%dT%H:%M")


def trigger_fields(cron: Cron) -> tuple[dict[str, str], ...]:
    """Keyword arguments for APScheduler's CronTrigger: one trigger, or two of which either fires.

    Weekdays are written as names, since APScheduler counts 0 = Monday; two are needed where cron means "either day",
    since CronTrigger only knows "both". Its instants differ from `next_fire` where clocks change: de-duplicate with
    `run_key`, or ask `next_fire`.
    """
    common = {
        "second": "0",
        "minute": _numbers(cron.minutes, 60),
        "hour": _numbers(cron.hours, 24),
        "month": _numbers(cron.months, 12),
    }
    day = {"day": _numbers(cron.days, 31)}
    weekday = {"day_of_week": "*" if len(cron.weekdays) == 7 else ",".join(_WEEKDAYS[n] for n in cron.weekdays)}
    if cron.either_day:
        return (common | day | {"day_of_week": "*"}, common | {"day": "*"} | weekday)
    return (common | day | weekday,)


def _due(cron: Cron, where: ZoneInfo, after: datetime, now: datetime) -> Iterator[datetime]:
    """The runs in `(after, now]`, the latest first."""
    first = after.astimezone(where).date()
    for day in _days(cron, now.astimezone(where).date() + _DAY, -1):
        if day < first - _DAY:
            return
        yield from (fire for fire in reversed(fires_on(cron, where, day)) if after < fire <= now)


def _numbers(values: tuple[int, ...], whole: int) -> str:
    return "*" if len(values) == whole else ",".join(map(str, values))


def _values(expression: str, text: str, field: _Field) -> tuple[int, ...]:
    values: set[int] = set()
    for item in text.lower().split(","):
        found = _ITEM.fullmatch(item)
        if found is None:
            raise _refused(expression, f"{item[:20]!a} is no {field.name}")
        values.update(_range(expression, found, field))
    return tuple(sorted(values))


def _range(expression: str, found: re.Match[str], field: _Field) -> range:
    step_text, high_text = found["step"], found["high"]
    if found["star"]:
        low, high = field.low, min(field.high, 6) if field.names is _WEEKDAYS else field.high
    else:
        low = _number(expression, found["low"], field)
        high = low if high_text is None else _number(expression, high_text, field)
        if high_text == "sun":
            high = 7
        if step_text is not None and high_text is None:
            raise _refused(expression, f"a step needs a range or * before it in the {field.name}")
    if low > high:
        raise _refused(expression, f"the range {low}-{high} of the {field.name} runs backwards")
    step = 1 if step_text is None else int(step_text)
    if not 1 <= step <= max(1, high - low):
        raise _refused(expression, f"the step {step} does not fit the {field.name}")
    return range(low, high + 1, step)


def _number(expression: str, text: str, field: _Field) -> int:
    if text in field.names:
        return field.names.index(text) + field.first_named
    if not text.isdecimal() or not field.low <= int(text) <= field.high:
        raise _refused(expression, f"{text} is no {field.name}")
    return int(text)


def _days(cron: Cron, start: date, step: int) -> Iterator[date]:
    """The matching days from `start` on, forwards or backwards, within the horizon in which each schedule recurs."""
    for offset in range(_HORIZON_DAYS):
        try:
            day = start + step * offset * _DAY
        except OverflowError:
            return
        if cron.matches(day):
            yield day


def _instants(wall: datetime, *, by_instant: bool) -> tuple[datetime, ...]:
    """The instants of one local wall time: none, one or two by the rules of this module's head."""
    first, second = wall.replace(fold=0), wall.replace(fold=1)
    before, after = first.utcoffset(), second.utcoffset()
    assert before is not None
    assert after is not None
    if before == after:
        return (first.astimezone(UTC),)
    if before > after:  # the wall time comes twice
        return (first.astimezone(UTC), second.astimezone(UTC)) if by_instant else (first.astimezone(UTC),)
    if by_instant:
        return ()
    # The wall time falls into a gap, which ends between its two readings.
    end = _gap_end(second.astimezone(UTC), first.astimezone(UTC), wall)
    for instant in (end, end - _MINUTE):
        if instant.astimezone(wall.tzinfo).date() == wall.date():
            return (instant,)
    return ()


def _gap_end(low: datetime, high: datetime, wall: datetime) -> datetime:
    """The first second after the gap that holds `wall`; `low` lies before the change of the clock and `high` after."""
    offset = high.astimezone(wall.tzinfo).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) // 2
        middle = middle.replace(microsecond=0)
        if middle.astimezone(wall.tzinfo).utcoffset() == offset:
            high = middle
        else:
            low = middle
    return high


def _check_aware(moment: datetime) -> None:
    if moment.tzinfo is None:
        raise ValidationError("a schedule needs a time with its zone", hint="give a UTC time")


def _refused(expression: str, why: str) -> ValidationError:
    return ValidationError(
        f"{expression[:60]!a} is not a schedule: {why}",
        hint="write five fields, such as '0 23 * * *' for every day at 23:00",
    )
