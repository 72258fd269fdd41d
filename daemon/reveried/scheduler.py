"""Runs schedules: once per local day, one catch-up after downtime; the only importer of apscheduler.

When a schedule is due is decided by `reverie.calendar` over what the store knows of its last run. APScheduler only
wakes us at the right moment: the wake-up may come late, twice, or after a suspended night, and the decision stays
right. Nothing of it is imported, and nothing ticks, while there is no schedule.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from reverie import calendar
from reverie.errors import NotFound, ValidationError
from reveried.clock import text_of
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from zoneinfo import ZoneInfo

    from reverie.models import Json
    from reveried.clock import Clock

__all__ = ["Schedule", "ScheduleTable", "Scheduler", "system_zone"]

RAN_KEPT = 40  # run keys remembered: a clock that was set back by weeks repeats nothing
SCHEDULES_MAX = 100


class ScheduleTable(Protocol):
    """Our own table of schedules, kept in the store."""

    def all(self) -> Iterable[tuple[str, dict[str, Json]]]:
        """Every schedule with its space."""
        ...

    async def put(self, space: str, schedule: dict[str, Json]) -> None:
        """Adds or changes one."""
        ...

    async def delete(self, space: str, schedule_id: str) -> None:
        """Removes one."""
        ...


@dataclass(slots=True)
class Schedule:
    """One schedule of one space; times are UTC."""

    space: str
    id: str
    cron: calendar.Cron
    zone: ZoneInfo
    zone_name: str
    job: str
    options: dict[str, Json]
    made: datetime
    last_run: datetime | None = None
    ran: list[str] = field(default_factory=list)
    running: bool = False

    def record(self) -> dict[str, Json]:
        """As the store keeps it."""
        return {
            "id": self.id,
            "cron": self.cron.expression,
            "timezone": self.zone_name,
            "job": self.job,
            "options": self.options,
            "createdAt": text_of(self.made),
            "lastRun": text_of(self.last_run) if self.last_run is not None else None,
            "ran": self.ran,
        }

    def due(self, now: datetime) -> datetime | None:
        """The run that should have been by now and was not: at most one."""
        return calendar.catch_up(self.cron, self.zone, self.last_run or self.made, now, ran=self.ran, made=self.made)

    def next_run(self, now: datetime) -> datetime | None:
        """The next run after `now`."""
        return calendar.next_fire(self.cron, self.zone, now, ran=self.ran)


class Scheduler:
    """All schedules of this process."""

    def __init__(self, table: ScheduleTable, *, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._schedules: dict[tuple[str, str], Schedule] = {}
        self._runners: dict[str, Callable[[str, dict[str, Json]], Awaitable[object]]] = {}
        self._alarm: Any = None
        self._tasks: set[asyncio.Task[None]] = set()

    def offer(self, job: str, runner: Callable[[str, dict[str, Json]], Awaitable[object]]) -> None:
        """`runner(space, options)` is what a schedule with this job runs."""
        self._runners[job] = runner

    async def start(self) -> None:
        """Takes up the stored schedules; a run that was missed while the daemon was down follows at once."""
        for space, record in self._table.all():
            try:
                schedule = _read(space, record)
            except ValidationError as error:
                logger("reveried.scheduler").error("a schedule is left out", why=error.message)
                continue
            self._schedules[space, schedule.id] = schedule
        if self._schedules:
            self._wake_at_need()
            self.tick()

    async def stop(self) -> None:
        """No more runs begin; those in progress are cancelled, and repeat once after the next start."""
        if self._alarm is not None:
            self._alarm.shutdown(wait=False)
            self._alarm = None
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def add(
        self, space: str, schedule_id: str, *, cron: str, timezone: str, job: str, options: dict[str, Json]
    ) -> dict[str, Json]:
        """Stores a schedule and follows it; one with this id is replaced, its past runs count on.

        Raises:
            ValidationError: the cron expression, the zone or the job is not known.
        """
        if job not in self._runners:
            raise ValidationError(f"There is no job {job[:80]!r}.", hint="Jobs: " + ", ".join(sorted(self._runners)))
        before = self._schedules.get((space, schedule_id))
        if before is None and len(self._schedules) >= SCHEDULES_MAX:
            raise ValidationError(f"More than {SCHEDULES_MAX} schedules.", hint="reverie schedule remove ID")
        zone_name = timezone or system_zone()
        schedule = Schedule(
            space=space,
            id=schedule_id,
            cron=calendar.parse(cron),
            zone=calendar.zone(zone_name),
            zone_name=zone_name,
            job=job,
            options=options,
            made=self._clock.now(),
            last_run=before.last_run if before is not None else None,
            ran=before.ran if before is not None else [],
        )
        await self._table.put(space, schedule.record())
        self._schedules[space, schedule_id] = schedule
        self._wake_at_need()
        return self.public(schedule)

    async def remove(self, space: str, schedule_id: str) -> None:
        """Forgets a schedule; a run in progress goes on.

        Raises:
            NotFound: no such schedule in this space.
        """
        if (space, schedule_id) not in self._schedules:
            raise NotFound("There is no such schedule.", hint="reverie schedule list")
        await self._table.delete(space, schedule_id)
        del self._schedules[space, schedule_id]
        self._wake_at_need()

    def list(self, space: str) -> list[dict[str, Json]]:
        """The schedules of a space by id, each with its next run."""
        return [self.public(entry) for (owner, _), entry in sorted(self._schedules.items()) if owner == space]

    def public(self, schedule: Schedule) -> dict[str, Json]:
        """As the wire shows it."""
        record = schedule.record()
        following = schedule.next_run(self._clock.now())
        record["nextRun"] = text_of(following) if following is not None else None
        del record["ran"], record["createdAt"]
        return record

    def tick(self) -> None:
        """Starts every run that is due. Called at each wake-up, however often."""
        now = self._clock.now()
        for schedule in self._schedules.values():
            due = schedule.due(now) if not schedule.running else None
            if due is None:
                continue
            schedule.running = True
            task = asyncio.get_running_loop().create_task(self._run(schedule, due))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run(self, schedule: Schedule, due: datetime) -> None:
        """One run. It counts as run when it ended, well or not: a crash of the daemon repeats it once."""
        log = logger("reveried.scheduler")
        try:
            await self._runners[schedule.job](schedule.space, schedule.options)
        except Exception as error:
            log.exception("a scheduled run failed", job=schedule.job, exc_info=error)
        finally:
            schedule.running = False
        schedule.last_run = due
        schedule.ran = [*schedule.ran, calendar.run_key(schedule.cron, schedule.zone, due)][-RAN_KEPT:]
        if (schedule.space, schedule.id) in self._schedules:
            await self._table.put(schedule.space, schedule.record())
        self._wake_at_need()

    def _wake_at_need(self) -> None:
        """Sets the alarm for the next run of any schedule, and the heartbeat beside it; none without schedules."""
        if not self._schedules:
            if self._alarm is not None:
                self._alarm.remove_all_jobs()
            return
        if self._alarm is None:
            self._alarm = _alarm()
        beat = self._clock.heartbeat_s
        self._alarm.add_job(self._beat, "interval", seconds=beat, id="heartbeat", replace_existing=True)
        now = self._clock.now()
        upcoming = [run for run in (entry.next_run(now) for entry in self._schedules.values()) if run is not None]
        if upcoming:
            self._alarm.add_job(self._beat, "date", run_date=min(upcoming), id="next", replace_existing=True)

    async def _beat(self) -> None:
        """A wake-up: runs what is due, and looks at the clock anew, which may have jumped."""
        self.tick()
        if self._alarm is not None and self._alarm.get_job("next") is None:
            self._wake_at_need()


def _alarm() -> Any:
    """A running AsyncIOScheduler that never drops a late wake-up and joins those that pile up."""
    # Half of what the whole start may take, and needed only where there is a schedule.
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # noqa: PLC0415

    alarm = AsyncIOScheduler(
        timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
    )
    alarm.start()
    return alarm


def _read(space: str, record: dict[str, Json]) -> Schedule:
    last = record.get("lastRun")
    return Schedule(
        space=space,
        id=record["id"],
        cron=calendar.parse(record["cron"]),
        zone=calendar.zone(record["timezone"]),
        zone_name=record["timezone"],
        job=record["job"],
        options=record["options"],
        made=datetime.fromisoformat(record["createdAt"]),
        last_run=datetime.fromisoformat(last) if last is not None else None,
        ran=list(record["ran"]),
    )


def system_zone() -> str:
    """The tz database name of this machine's zone; UTC where it has none."""
    from tzlocal import get_localzone_name  # noqa: PLC0415 - needed only where a schedule names no zone

    try:
        name = get_localzone_name() or "UTC"
        calendar.zone(name)
    except (LookupError, ValueError, ValidationError):
        return "UTC"
    return name
