"""Scheduler: due runs, catch-up after downtime, a clock set back, overlapping runs, and stored schedules."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie.errors import NotFound, ValidationError
from reverie.redact import Redactor
from reverie.store import ScheduleRecord, Store
from reveried import scheduler as module
from reveried.clock import FileClock, SystemClock, clock_of, text_of
from reveried.scheduler import Scheduler, system_zone
from reveried.stored import StoredSchedules, spaces_of
from reveried.worker import Worker
from support.scheduling import NIGHT, ManualClock, Table, run, settle


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
            await table.put("default", stored("a"))
            await table.put("default", stored("b"))
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
