"""Scheduler: due runs, catch-up after downtime, a clock set back, stored schedules, overlapping and failing runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from reverie import wire
from reverie.errors import Busy, NotFound, ValidationError
from reverie.redact import Redactor
from reverie.store import ScheduleRecord, Store
from reveried import scheduler as module
from reveried.clock import FileClock, SystemClock, clock_of, text_of
from reveried.scheduler import Scheduler, system_zone
from reveried.stored import StoredSchedules, spaces_of
from reveried.worker import Worker

NIGHT: dict[str, Any] = {"cron": "0 23 * * *", "timezone": "UTC", "job": "dream", "options": {"tokenBudget": 9}}


class Table:
    """A table of schedules in memory, in place of the one in the store."""

    def __init__(self, *records: tuple[str, dict[str, Any]]) -> None:
        self.records = {(space, record["id"]): msgspec.convert(record, ScheduleRecord) for space, record in records}
        self.reasons: list[str] = []

    def all(self) -> Iterator[tuple[str, ScheduleRecord]]:
        """Yield every schedule record with its space."""
        yield from ((space, record) for (space, _), record in self.records.items())

    async def put(self, space: str, schedule: ScheduleRecord, why: str) -> None:
        """Insert or replace one record."""
        self.reasons.append(why)
        self.records[space, schedule.id] = schedule

    async def delete(self, space: str, schedule_id: str) -> None:
        """Delete one record."""
        del self.records[space, schedule_id]


class ManualClock:
    """A clock that a test sets, with a short heartbeat."""

    heartbeat_s = 0.02

    def __init__(self, moment: str) -> None:
        self.moment = datetime.fromisoformat(moment)

    def now(self) -> datetime:
        """Return the time that was set."""
        return self.moment


def run(
    table: Any, clock: ManualClock, work: Callable[[Scheduler, list[tuple[str, str]]], Awaitable[object]]
) -> list[tuple[str, str]]:
    """Run `work` with a started scheduler; return (space, time) of each scheduled run."""
    ran: list[tuple[str, str]] = []

    async def main() -> None:
        scheduler = Scheduler(table, clock=clock)

        async def dream(space: str, options: dict[str, Any], run: str) -> None:
            assert options == {"tokenBudget": 9}
            assert run
            ran.append((space, text_of(clock.now())))

        scheduler.register_job("dream", dream)
        await scheduler.start()
        try:
            await work(scheduler, ran)
        finally:
            await scheduler.stop()

    asyncio.run(main())
    return ran


async def settle() -> None:
    """Wait for several heartbeats, and for several turns of the event loop even where the machine pauses it."""
    for _ in range(15):
        await asyncio.sleep(0.01)


def test_runs_once_at_its_time() -> None:
    """A schedule runs once at its time and once the next night; its record has the last and the next run."""
    clock = ManualClock("2026-11-20T10:00:00+00:00")
    table = Table()

    async def work(scheduler: Scheduler, ran: list[tuple[str, str]]) -> None:
        shown = await scheduler.add("blue", "nightly", **NIGHT)
        assert shown.next_run == "2026-11-20T23:00:00.000Z"
        assert shown.last_run is None
        clock.moment = datetime(2026, 11, 20, 22, 59, 59, tzinfo=UTC)
        await settle()
        assert ran == []
        clock.moment = datetime(2026, 11, 20, 23, 0, 1, tzinfo=UTC)
        await settle()
        await settle()
        assert len(ran) == 1
        assert scheduler.list("blue")[0].last_run == "2026-11-20T23:00:00.000Z"
        assert scheduler.list("blue")[0].next_run == "2026-11-21T23:00:00.000Z"
        assert scheduler.list("red") == []
        clock.moment += timedelta(days=1)
        await settle()
        assert len(ran) == 2

    run(table, clock, work)


@pytest.mark.parametrize(("days", "runs"), [(0, 0), (1, 1), (30, 1)])
def test_missed_runs_are_caught_up_once(days: int, runs: int) -> None:
    """Runs missed during downtime are made up by one run, which another restart does not repeat."""
    table = Table()
    clock = ManualClock("2026-11-20T10:00:00+00:00")

    async def add(scheduler: Scheduler, ran: list[tuple[str, str]]) -> None:
        del ran
        await scheduler.add("blue", "nightly", **NIGHT)

    run(table, clock, add)
    later = ManualClock("2026-11-20T10:00:00+00:00")
    later.moment += timedelta(days=days)

    async def wait(scheduler: Scheduler, ran: list[tuple[str, str]]) -> None:
        del scheduler, ran
        await settle()

    assert len(run(table, later, wait)) == runs
    assert run(table, later, wait) == []


def test_a_clock_set_back_repeats_nothing() -> None:
    """A day that has had its run gets no second one after the clock was set back."""
    clock = ManualClock("2026-11-20T22:00:00+00:00")

    async def work(scheduler: Scheduler, ran: list[tuple[str, str]]) -> None:
        await scheduler.add("blue", "nightly", **NIGHT)
        clock.moment = datetime(2026, 11, 20, 23, 0, 1, tzinfo=UTC)
        await settle()
        clock.moment -= timedelta(days=3)
        await settle()
        clock.moment += timedelta(days=3)
        await settle()
        assert len(ran) == 1

    run(Table(), clock, work)


def test_replace_and_remove() -> None:
    """The same id replaces a schedule and keeps its past runs; a removed one does not run; unknown ids are errors."""
    clock = ManualClock("2026-11-20T22:00:00+00:00")
    table = Table()

    async def work(scheduler: Scheduler, ran: list[tuple[str, str]]) -> None:
        await scheduler.add("blue", "nightly", **NIGHT)
        clock.moment = datetime(2026, 11, 20, 23, 0, 1, tzinfo=UTC)
        await settle()
        shown = await scheduler.add("blue", "nightly", **{**NIGHT, "cron": "30 23 * * *"})
        assert shown.last_run == "2026-11-20T23:00:00.000Z"
        clock.moment = datetime(2026, 11, 20, 23, 30, 1, tzinfo=UTC)
        await settle()
        assert len(ran) == 1
        for space in ("red", "blue"):
            if space == "red":
                with pytest.raises(NotFound):
                    await scheduler.remove(space, "nightly")
            else:
                await scheduler.remove(space, "nightly")
        clock.moment += timedelta(days=5)
        await settle()
        assert len(ran) == 1
        assert table.records == {}

    run(table, clock, work)


def test_invalid_schedules_are_refused() -> None:
    """Unknown jobs, zones and expressions, and too many schedules, are refused and not stored."""
    table = Table()

    async def work(scheduler: Scheduler, ran: list[tuple[str, str]]) -> None:
        del ran
        for wrong in ({"job": "x" * 200}, {"timezone": "Mars/Base"}, {"cron": "60 * * * *"}):
            with pytest.raises(ValidationError):
                await scheduler.add("blue", "a", **{**NIGHT, **wrong})
        assert table.records == {}
        for number in range(module.SCHEDULES_MAX):
            await scheduler.add("blue", f"n{number}", **NIGHT)
        with pytest.raises(ValidationError, match="More than"):
            await scheduler.add("blue", "one more", **NIGHT)
        assert (await scheduler.add("blue", "n0", **{**NIGHT, "timezone": ""})).timezone == system_zone()

    run(table, ManualClock("2026-11-20T10:00:00+00:00"), work)


def test_invalid_records_are_left_out() -> None:
    """An invalid stored schedule does not keep the others from starting."""
    good = {**NIGHT, "id": "good", "createdAt": "2026-11-20T10:00:00.000Z", "lastRun": None, "ran": []}
    table = Table(("blue", {**good, "id": "bad", "cron": "no"}), ("blue", good))

    async def work(scheduler: Scheduler, ran: list[tuple[str, str]]) -> None:
        del ran
        assert [entry.id for entry in scheduler.list("blue")] == ["good"]

    run(table, ManualClock("2026-11-20T10:00:00+00:00"), work)


def stored(schedule_id: str) -> ScheduleRecord:
    """Return the record of a nightly schedule."""
    return ScheduleRecord(id=schedule_id, created_at="2026-11-20T10:00:00.000Z", **NIGHT)


def test_schedules_in_the_store(tmp_path: Path) -> None:
    """StoredSchedules writes and deletes schedules in the store, and reads them back with their space."""
    clock = ManualClock("2026-11-20T10:00:00+00:00")

    async def main() -> None:
        with Store.open(tmp_path / "store", redactor=Redactor()) as store:
            worker = Worker(store, clock=lambda: text_of(clock.now()), queue_length=10)
            worker.start()
            table = StoredSchedules(store, worker.submit)
            assert list(table.all()) == []
            await table.put("default", stored("a"), "schedule")
            await table.put("default", stored("b"), "schedule")
            await table.delete("default", "a")
            assert [(space, schedule.id) for space, schedule in table.all()] == [("default", "b")]
            assert spaces_of(store) == ["default"]
            worker.stop()

    asyncio.run(main())


def test_clocks(tmp_path: Path) -> None:
    """The file clock is used only if REVERIE_HOME is set and has a clock file; it returns the file's time."""
    assert isinstance(clock_of({}, None), SystemClock)
    assert isinstance(clock_of({"REVERIE_HOME": str(tmp_path)}, tmp_path), SystemClock)
    file = tmp_path / "clock"
    file.write_text("2026-11-21T09:30:00+01:00\n")
    assert isinstance(clock_of({}, tmp_path), SystemClock)
    clock = clock_of({"REVERIE_HOME": str(tmp_path)}, tmp_path)
    assert isinstance(clock, FileClock)
    assert text_of(clock.now()) == "2026-11-21T08:30:00.000Z"
    file.write_text("soon")
    with pytest.raises(ValidationError, match="no time"):
        clock.now()
    assert abs(SystemClock().now() - datetime.now(UTC)) < timedelta(seconds=5)


def test_a_run_longer_than_its_period_does_not_overlap() -> None:
    """A run does not begin while another of its schedule is in progress; a failing run does not stop the schedule."""
    clock = ManualClock("2026-11-20T10:00:30+00:00")
    running: list[int] = []
    most: list[int] = []

    async def main() -> None:
        scheduler = Scheduler(Table(), clock=clock)

        async def slow(space: str, options: dict[str, Any], run: str) -> None:
            del space, options, run
            running.append(1)
            most.append(len(running))
            await asyncio.sleep(0.1)
            running.pop()
            raise RuntimeError("it failed")

        scheduler.register_job("dream", slow)
        await scheduler.start()
        await scheduler.add("blue", "often", cron="* * * * *", timezone="UTC", job="dream", options={})
        for _ in range(3_000):
            clock.moment += timedelta(minutes=1)
            await asyncio.sleep(0.03)
            if len(most) > 4:
                break
        await scheduler.stop()

    asyncio.run(main())
    assert max(most) == 1
    assert len(most) > 2


def test_a_run_that_a_stop_cancelled_is_repeated() -> None:
    """A run that was cancelled by stops of the daemon, however many, is made after the next start, once."""
    table, begun = Table(), []
    clock = ManualClock("2026-11-20T22:00:00+00:00")

    async def stop_in_a_run() -> None:
        scheduler = Scheduler(table, clock=clock)

        async def endless(space: str, options: dict[str, Any], run: str) -> None:
            del space, options
            begun.append(run)
            await asyncio.sleep(60)

        scheduler.register_job("dream", endless)
        await scheduler.start()
        if not table.records:
            await scheduler.add("blue", "nightly", **NIGHT)
        clock.moment = datetime(2026, 11, 20, 23, 0, 1, tzinfo=UTC)
        await settle()
        await scheduler.stop()

    for _ in range(3):
        asyncio.run(stop_in_a_run())
        assert [record.begun for record in table.records.values()] == [None]
    assert begun == ["nightly 2026-11-20T23:00:00.000Z"] * 3

    async def wait(scheduler: Scheduler, ran: list[tuple[str, str]]) -> None:
        del scheduler, ran
        await settle()

    assert len(run(table, clock, wait)) == 1
    assert run(table, clock, wait) == []


def test_a_replaced_schedule_catches_up_nothing_from_before() -> None:
    """A fire time of the new expression between the last run and its replacement is not a missed run."""
    clock = ManualClock("2026-11-20T22:59:00+00:00")

    async def work(scheduler: Scheduler, ran: list[tuple[str, str]]) -> None:
        await scheduler.add("blue", "nightly", **NIGHT)
        clock.moment += timedelta(minutes=2)
        await settle()
        clock.moment += timedelta(hours=13)
        await scheduler.add("blue", "nightly", **{**NIGHT, "cron": "0 10 * * *"})
        await settle()
        assert len(ran) == 1

    run(Table(), clock, work)


def lives_that_a_kill_ends(
    table: Table,
    clock: ManualClock,
    cron: dict[str, Any],
    most: int,
    *,
    minutes: int = 0,
    is_done: bool | None = None,
) -> tuple[list[str], wire.Schedule]:
    """Kill so many daemons in turn in the first run that each begins, some minutes after another; return the runs.

    One that begins none within two seconds, or has ended one by then, is stopped.
    """
    begun: list[str] = []

    async def one_life() -> wire.Schedule:
        scheduler = Scheduler(table, clock=clock)

        async def deadly(space: str, options: dict[str, Any], run: str) -> None:
            del space, options
            begun.append(run)
            await asyncio.sleep(60)

        async def done(space: str, run: str) -> bool:
            del space, run
            return bool(is_done)

        scheduler.register_job("dream", deadly, is_done=None if is_done is None else done)
        before = len(begun)
        await scheduler.start()
        if not table.records:
            await scheduler.add("blue", "nightly", **cron)
            clock.moment += timedelta(hours=1, seconds=1)
        last_run = scheduler.list("blue")[0].last_run
        for _ in range(200):
            if len(begun) > before or scheduler.list("blue")[0].last_run != last_run:
                break
            await asyncio.sleep(0.01)
        killed = dict(table.records)
        await scheduler.stop()
        table.records = killed  # what a stop records, a kill does not
        return scheduler.list("blue")[0]

    shown = []
    for _ in range(most):
        shown.append(asyncio.run(one_life()))
        clock.moment += timedelta(minutes=minutes)
    return begun, shown[-1]


def test_a_run_that_ends_the_daemon_is_begun_twice() -> None:
    """A run that kills the daemon is repeated once; then it counts as failed, and the next night has its own run."""
    clock, table = ManualClock("2026-11-20T22:00:00+00:00"), Table()
    with capture_logs() as logs:
        begun, shown = lives_that_a_kill_ends(table, clock, NIGHT, 3)
    assert begun == ["nightly 2026-11-20T23:00:00.000Z"] * 2
    assert shown.last_run == "2026-11-20T23:00:00.000Z"
    assert shown.failure is not None
    assert "the daemon ended in the last two runs" in shown.failure.message
    assert "a scheduled run failed" in [log["event"] for log in logs]
    clock.moment += timedelta(days=1)
    begun, _ = lives_that_a_kill_ends(table, clock, NIGHT, 1)
    assert begun == ["nightly 2026-11-21T23:00:00.000Z"]


def test_a_frequent_run_that_ends_the_daemon_is_begun_twice() -> None:
    """Begins count also where the daemon is up again only after the next fire time."""
    clock, table = ManualClock("2026-11-20T22:00:00+00:00"), Table()
    begun, shown = lives_that_a_kill_ends(table, clock, {**NIGHT, "cron": "*/5 * * * *"}, 3, minutes=6)
    assert begun == ["nightly 2026-11-20T23:00:00.000Z", "nightly 2026-11-20T23:05:00.000Z"]
    assert shown.failure is not None


def test_a_run_that_was_committed_and_not_recorded_has_not_failed() -> None:
    """A second begin that committed the run, and was killed before that was recorded, counts as run."""
    clock, table = ManualClock("2026-11-20T22:00:00+00:00"), Table()
    begun, shown = lives_that_a_kill_ends(table, clock, NIGHT, 3, is_done=True)
    assert len(begun) == 2
    assert (shown.last_run, shown.failure) == ("2026-11-20T23:00:00.000Z", None)


def test_a_run_that_was_committed_ends_the_begins_before_it() -> None:
    """The next fire time has two begins of its own."""
    clock, table = ManualClock("2026-11-20T22:00:00+00:00"), Table()
    cron = {**NIGHT, "cron": "*/5 * * * *"}
    begun, shown = lives_that_a_kill_ends(table, clock, cron, 3, minutes=6, is_done=True)
    assert len(set(begun)) == 3
    assert (shown.last_run, shown.failure) == (None, None)
    assert [record.begun for record in table.records.values()] == [[begun[-1].split(" ")[1]]]


def test_a_run_whose_record_fails_is_recorded_by_the_next_wake_up() -> None:
    """The memory does not have a run as made which the table does not have."""
    clock = ManualClock("2026-11-20T22:00:00+00:00")

    class FullTable(Table):
        fails = 0

        async def put(self, space: str, schedule: ScheduleRecord, why: str) -> None:
            if schedule.ran and self.fails < 1:
                self.fails += 1
                raise Busy("The queue of writes is full.")
            await super().put(space, schedule, why)

    table = FullTable()

    async def work(scheduler: Scheduler, ran: list[tuple[str, str]]) -> None:
        await scheduler.add("blue", "nightly", **NIGHT)
        clock.moment = datetime(2026, 11, 20, 23, 0, 1, tzinfo=UTC)
        await settle()
        await settle()
        assert scheduler.list("blue")[0].last_run == table.records["blue", "nightly"].last_run is not None
        assert len(ran) == 2

    run(table, clock, work)
    assert table.fails == 1
    assert table.reasons == ["schedule", *["schedule.run"] * (len(table.reasons) - 1)]
