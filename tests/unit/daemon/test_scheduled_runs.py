"""Scheduled runs: no overlap, a crash, a schedule that is replaced during its run, and failures."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from structlog.testing import capture_logs

from reverie import wire
from reverie.errors import Busy
from reverie.store import ScheduleRecord
from reveried.scheduler import Scheduler
from support.scheduling import NIGHT, ManualClock, Table, run, settle


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


def test_a_run_that_a_stop_cancelled_is_repeated_once() -> None:
    """A run that was cancelled by a stop of the daemon is repeated once after the next start."""
    table = Table()
    clock = ManualClock("2026-11-20T22:00:00+00:00")

    async def stop_in_a_run() -> None:
        scheduler = Scheduler(table, clock=clock)

        async def endless(space: str, options: dict[str, Any], run: str) -> None:
            del space, options, run
            await asyncio.sleep(60)

        scheduler.register_job("dream", endless)
        await scheduler.start()
        await scheduler.add("blue", "nightly", **NIGHT)
        clock.moment = datetime(2026, 11, 20, 23, 0, 1, tzinfo=UTC)
        await settle()
        await scheduler.stop()

    asyncio.run(stop_in_a_run())

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


def test_a_run_that_ends_the_daemon_is_begun_twice() -> None:
    """A run that kills the daemon is repeated once; then it counts as failed, and the next night has its own run."""
    clock = ManualClock("2026-11-20T22:00:00+00:00")
    table, begun = Table(), []

    async def one_life() -> wire.Schedule:
        scheduler = Scheduler(table, clock=clock)

        async def deadly(space: str, options: dict[str, Any], run: str) -> None:
            del space, options
            begun.append(run)
            await asyncio.sleep(60)

        scheduler.register_job("dream", deadly)
        await scheduler.start()
        if not table.records:
            await scheduler.add("blue", "nightly", **NIGHT)
            clock.moment = datetime(2026, 11, 20, 23, 0, 1, tzinfo=UTC)
        before, last_run = len(begun), scheduler.list("blue")[0].last_run
        for _ in range(3_000):
            if len(begun) > before or scheduler.list("blue")[0].last_run != last_run:
                break
            await asyncio.sleep(0.01)
        await scheduler.stop()  # as a kill, it records nothing of the run
        return scheduler.list("blue")[0]

    with capture_logs() as logs:
        shown = [asyncio.run(one_life()) for _ in range(3)][-1]
    assert begun == ["nightly 2026-11-20T23:00:00.000Z"] * 2
    assert shown.last_run == "2026-11-20T23:00:00.000Z"
    assert shown.failure is not None
    assert "begun twice" in shown.failure.message
    assert "a scheduled run failed" in [log["event"] for log in logs]
    clock.moment += timedelta(days=1)
    asyncio.run(one_life())
    assert begun[2:] == ["nightly 2026-11-21T23:00:00.000Z"]


def test_a_run_whose_record_fails_is_recorded_by_the_next_wake_up() -> None:
    """The memory does not have a run as made which the table does not have."""
    clock = ManualClock("2026-11-20T22:00:00+00:00")

    class FullTable(Table):
        fails = 0

        async def put(self, space: str, schedule: ScheduleRecord) -> None:
            if schedule.ran and self.fails < 1:
                self.fails += 1
                raise Busy("The queue of writes is full.")
            await super().put(space, schedule)

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
