"""Runs the job of each stored schedule, a dream or `learn`, at its fire times, with one catch-up run after downtime.

`reverie.cron_expression` decides when a schedule is due, from the last run that the store has recorded. APScheduler is
only the timer: its wake-up may come late, twice, or after a suspended night, and the decision stays right. APScheduler
is not imported, and no timer runs, while there is no schedule.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from msgspec.structs import replace

from reverie import cron_expression, wire
from reverie.decode import mapped
from reverie.errors import Forbidden, NotFound, ReverieError, ValidationError, failure_of
from reverie.store import FailureRecord, ScheduleRecord
from reveried.clock import text_of
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from zoneinfo import ZoneInfo

    from reverie.models import Json
    from reveried.clock import Clock

RAN_KEPT = 40  # run keys recorded per schedule: a daily one repeats nothing after a clock set back by up to 40 days
BEGUN_MAX = 2  # begins in a row without an end: what ends the daemon must not end it at every start
SCHEDULES_MAX = 100  # of all spaces together: each is read at every wake-up


class ScheduleTable(Protocol):
    """Storage of the schedules: the store in the daemon, a dict in tests."""

    def all(self) -> Iterable[tuple[str, ScheduleRecord]]:
        """Return every schedule record with its space."""
        ...

    async def put(self, space: str, schedule: ScheduleRecord, why: str) -> None:
        """Insert or replace one schedule record; `why` is the reason in the history."""
        ...

    async def delete(self, space: str, schedule_id: str) -> None:
        """Delete one schedule record."""
        ...


@dataclass(slots=True)
class Schedule:
    """One schedule of one space: its record, and the expression and the zone in it."""

    space: str
    record: ScheduleRecord
    cron: cron_expression.Cron
    zone: ZoneInfo

    def due(self, now: datetime) -> datetime | None:
        """Return the latest fire time up to `now` that was missed, or None."""
        record = self.record
        created = datetime.fromisoformat(record.created_at)
        # A replaced schedule has the runs of the one before it, and missed none of its own before it was made.
        since = created if record.last_run is None else max(datetime.fromisoformat(record.last_run), created)
        return cron_expression.catch_up(self.cron, self.zone, since, now, ran=record.ran, created=created)

    def next_run(self, now: datetime) -> datetime | None:
        """Return the first fire time after `now`, or None."""
        return cron_expression.next_fire(self.cron, self.zone, now, ran=self.record.ran)


class Scheduler:
    """The schedules of all spaces, and the timer that wakes the process for them."""

    def __init__(self, table: ScheduleTable, *, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._schedules: dict[tuple[str, str], Schedule] = {}
        # By id and not as a flag of the schedule: one that is replaced during a run is another object.
        self._running: set[tuple[str, str]] = set()
        # Held while a schedule is written and then replaced in memory. Otherwise the end of a run, between the two,
        # would write the settings that were replaced.
        self._changing = asyncio.Lock()
        self._runners: dict[str, Callable[[str, dict[str, Json], str], Awaitable[object]]] = {}
        self._done: dict[str, Callable[[str, str], Awaitable[bool]]] = {}
        self._timer: Any = None
        self._tasks: set[asyncio.Task[None]] = set()

    def register_job(
        self,
        job: str,
        runner: Callable[[str, dict[str, Json], str], Awaitable[object]],
        *,
        is_done: Callable[[str, str], Awaitable[bool]] | None = None,
    ) -> None:
        """Register `runner(space, options, run)` as what a schedule of the job `job` runs.

        `run` names the schedule and the fire time: a run that is repeated has the same. `is_done(space, run)` tells
        whether a run was committed before the daemon ended without recording that.
        """
        self._runners[job] = runner
        if is_done is not None:
            self._done[job] = is_done

    async def start(self) -> None:
        """Load the stored schedules and start the timer; a run missed while the daemon was down starts at once."""
        for space, record in self._table.all():
            try:
                schedule = _schedule_of(space, record)
            except ValidationError as error:
                logger("reveried.scheduler").error("a schedule is left out", why=error.message)
                continue
            self._schedules[space, record.id] = schedule
        if self._schedules:
            self._set_timer()
            self.tick()

    async def stop(self) -> None:
        """Stop the timer and cancel the runs in progress; those are due again after the next start."""
        if self._timer is not None:
            self._timer.shutdown(wait=False)
            self._timer = None
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def add(
        self,
        space: str,
        schedule_id: str,
        *,
        cron: str,
        timezone: str,
        job: str,
        options: dict[str, Json],
        agent: str | None = None,
    ) -> wire.Schedule:
        """Store a schedule and start it; one with this id is replaced, and its past runs still count as run.

        A run in progress of the replaced one ends with the settings that it began with, and counts as run too.
        `agent` is that of the caller's token, None for a person.

        Raises:
            ValidationError: the cron expression, the zone or the job is not known.
            Forbidden: an agent's token would replace a schedule that is not the agent's.
        """
        if job not in self._runners:
            raise ValidationError(f"There is no job {job[:80]!r}.", hint="Jobs: " + ", ".join(sorted(self._runners)))
        zone_name = timezone or system_zone()
        expression, zone = cron_expression.parse(cron), cron_expression.zone(zone_name)
        async with self._changing:
            before = self._schedules.get((space, schedule_id))
            _require_own(before, agent)
            if before is None and len(self._schedules) >= SCHEDULES_MAX:
                raise ValidationError(f"More than {SCHEDULES_MAX} schedules.", hint="reverie schedule remove ID")
            record = ScheduleRecord(
                id=schedule_id,
                cron=expression.expression,
                timezone=zone_name,
                job=job,
                options=options,
                created_at=text_of(self._clock.now()),
                last_run=before.record.last_run if before is not None else None,
                ran=before.record.ran if before is not None else [],
                failure=before.record.failure if before is not None else None,
                owner=agent,
            )
            schedule = Schedule(space, record, expression, zone)
            await self._table.put(space, record, "schedule")
            self._schedules[space, schedule_id] = schedule
        self._set_timer()
        return self._answer(schedule)

    async def remove(self, space: str, schedule_id: str, *, agent: str | None = None) -> None:
        """Delete a schedule; a run in progress continues. `agent` is as in `add`.

        Raises:
            NotFound: no such schedule in this space.
            Forbidden: an agent's token would delete a schedule that is not the agent's.
        """
        async with self._changing:
            _require_own(self._schedules.get((space, schedule_id)), agent)
            if (space, schedule_id) not in self._schedules:
                raise NotFound("There is no such schedule.", hint="reverie schedule list")
            await self._table.delete(space, schedule_id)
            del self._schedules[space, schedule_id]
        self._set_timer()

    def list(self, space: str) -> list[wire.Schedule]:
        """Return the schedules of a space by id, each with its next fire time."""
        return [self._answer(entry) for (owner, _), entry in sorted(self._schedules.items()) if owner == space]

    def _answer(self, schedule: Schedule) -> wire.Schedule:
        """Return the schedule as the API answers it."""
        next_run = schedule.next_run(self._clock.now())
        failure = schedule.record.failure
        return mapped(
            schedule.record,
            wire.Schedule,
            next_run=text_of(next_run) if next_run is not None else None,
            failure=None if failure is None else mapped(failure, wire.Failure),
        )

    def tick(self) -> None:
        """Start every run that is due; safe to call at any time and any number of times."""
        now = self._clock.now()
        for key, schedule in self._schedules.items():
            due = schedule.due(now) if key not in self._running else None
            if due is None:
                continue
            self._running.add(key)
            task = asyncio.get_running_loop().create_task(self._run(schedule, due))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run(self, schedule: Schedule, due: datetime) -> None:
        """Run one schedule, and record its begin and its end, well or not: a crash of the daemon repeats it once.

        A stop of the daemon is neither: it takes the begin back.
        """
        log = logger("reveried.scheduler")
        key, at, begun = (schedule.space, schedule.record.id), text_of(due), schedule.record.begun or []
        failure, done, has_ended = None, None, False
        try:
            if len(begun) >= BEGUN_MAX and await self._is_done(schedule, begun[-1]):
                done, begun = begun[-1], []  # the last one has an end
            is_over = len(begun) >= BEGUN_MAX
            if not is_over:
                await self._record(key, begun=[*begun, at])
            try:
                if is_over:
                    _fail_begun()
                if at != done:
                    run = f"{schedule.record.id} {at}"
                    await self._runners[schedule.record.job](schedule.space, schedule.record.options, run)
            except BaseException as error:
                cause = failure_of(error)
                log.exception("a scheduled run failed", job=schedule.record.job, exc_info=error)
                failure = FailureRecord(cause.code, cause.message, cause.hint)
            ran = [*schedule.record.ran, cron_expression.run_key(schedule.cron, schedule.zone, due)][-RAN_KEPT:]
            has_ended = True
            await self._record(key, last_run=at, ran=ran, failure=failure, begun=None)
        except asyncio.CancelledError:
            if not has_ended:
                await self._record(key, begun=begun or None)
            raise
        finally:
            self._running.discard(key)
        self._set_timer()

    async def _is_done(self, schedule: Schedule, at: str) -> bool:
        """Return True if the run of that fire time was committed, though its end was not recorded."""
        done = self._done.get(schedule.record.job)
        return done is not None and await done(schedule.space, f"{schedule.record.id} {at}")

    async def _record(self, key: tuple[str, str], **fields: Any) -> None:
        """Write these fields of a schedule, and then change it in memory; one that was removed stays so."""
        async with self._changing:
            current = self._schedules.get(key)  # it may have been replaced while it ran
            if current is not None:
                record = replace(current.record, **fields)
                await self._table.put(current.space, record, "schedule.run")
                current.record = record

    def _set_timer(self) -> None:
        """Set the timer to the next fire time of any schedule, and a heartbeat beside it; no timer without schedules.

        The heartbeat is needed because a timer counts elapsed time: a wall clock that jumps makes a schedule due
        before the timer ends.
        """
        if not self._schedules:
            if self._timer is not None:
                self._timer.remove_all_jobs()
            return
        if self._timer is None:
            self._timer = _started_timer()
        heartbeat_s = self._clock.heartbeat_s
        self._timer.add_job(self._wake_up, "interval", seconds=heartbeat_s, id="heartbeat", replace_existing=True)
        now = self._clock.now()
        upcoming = [run for run in (entry.next_run(now) for entry in self._schedules.values()) if run is not None]
        if upcoming:
            self._timer.add_job(self._wake_up, "date", run_date=min(upcoming), id="next", replace_existing=True)

    async def _wake_up(self) -> None:
        """Run the due schedules, and set the timer again if it has fired."""
        self.tick()
        if self._timer is not None and self._timer.get_job("next") is None:
            self._set_timer()


def _require_own(schedule: Schedule | None, agent: str | None) -> None:
    """Raise Forbidden for an agent's token and a schedule that another has added."""
    if agent is not None and schedule is not None and schedule.record.owner != agent:
        raise Forbidden(
            f"an agent's token replaces and removes its own schedules alone, and did not add {schedule.record.id}",
            hint="a person does it, without the agent's token: reverie schedule",
        )


def _fail_begun() -> NoReturn:
    """Raise ReverieError for a run behind too many begins without an end."""
    raise ReverieError(
        "the daemon ended in the last two runs of it",
        hint="reverie logs has what came before; the next run is at its usual time",
    )


def _started_timer() -> Any:
    """Return a running AsyncIOScheduler that never drops a late wake-up and coalesces those that pile up."""
    # Its import takes about half of the daemon's start, and only a schedule needs it.
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # noqa: PLC0415

    timer = AsyncIOScheduler(
        timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
    )
    timer.start()
    return timer


def _schedule_of(space: str, record: ScheduleRecord) -> Schedule:
    """Return the schedule of a stored record.

    Raises:
        ValidationError: its cron expression or time zone is not one (any more: the tz database changes).
    """
    return Schedule(space, record, cron_expression.parse(record.cron), cron_expression.zone(record.timezone))


def system_zone() -> str:
    """Return the tz database name of this machine's time zone; UTC if it has none."""
    from tzlocal import get_localzone_name  # noqa: PLC0415 - needed only where a schedule names no zone

    try:
        name = get_localzone_name() or "UTC"
        cron_expression.zone(name)
    except (LookupError, ValueError, ValidationError):
        return "UTC"
    return name
