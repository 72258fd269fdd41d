"""Schedules: when they run, what a restart, a suspended night and a clock set back do to them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from reverie.errors import NotFound, ValidationError
from reverie.redact import Redactor
from reverie.store import Store
from reveried import scheduler as module
from reveried.clock import FileClock, SystemClock, clock_of, text_of
from reveried.scheduler import Scheduler, system_zone
from reveried.tables import StoredSchedules, spaces_of
from reveried.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

NIGHT: dict[str, Any] = {"cron": "0 23 * * *", "timezone": "UTC", "job": "dream", "options": {"tokenBudget": 9}}


class Table:
    """The table of schedules in memory."""

    def __init__(self, *records: tuple[str, dict[str, Any]]) -> None:
        self.records = {(space, record["id"]): record for space, record in records}

    def all(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every schedule."""
        yield from ((space, record) for (space, _), record in self.records.items())

    async def put(self, space: str, schedule: dict[str, Any]) -> None:
        """Keeps one."""
        self.records[space, schedule["id"]] = dict(schedule)

    async def delete(self, space: str, schedule_id: str) -> None:
        """Drops one."""
        del self.records[space, schedule_id]


class HandClock:
    """Stands where it is put; looked at often."""

    heartbeat_s = 0.02

    def __init__(self, moment: str) -> None:
        self.moment = datetime.fromisoformat(moment)

    def now(self) -> datetime:
        """Where it was put."""
        return self.moment


def run(
    table: Any, clock: HandClock, work: Callable[[Scheduler, list[tuple[str, str]]], Awaitable[object]]
) -> list[tuple[str, str]]:
    """`work` with a started scheduler; gives (space, time) of each run."""
    ran: list[tuple[str, str]] = []

    async def main() -> None:
        made = Scheduler(table, clock=clock)

        async def dream(space: str, options: dict[str, Any]) -> None:
            assert options == {"tokenBudget": 9}
            ran.append((space, text_of(clock.now())))

        made.register_job("dream", dream)
        await made.start()
        try:
            await work(made, ran)
        finally:
            await made.stop()

    asyncio.run(main())
    return ran


async def settle() -> None:
    await asyncio.sleep(0.15)


def test_runs_once_at_its_time() -> None:
    """Not before, once after, and once more the next night; the record says when it ran last and runs next."""
    clock = HandClock("2026-11-20T10:00:00+00:00")
    table = Table()

    async def work(made: Scheduler, ran: list[tuple[str, str]]) -> None:
        shown = await made.add("blue", "nightly", **NIGHT)
        assert shown.next_run == "2026-11-20T23:00:00.000Z"
        assert shown.last_run is None
        clock.moment = datetime(2026, 11, 20, 22, 59, 59, tzinfo=UTC)
        await settle()
        assert ran == []
        clock.moment = datetime(2026, 11, 20, 23, 0, 1, tzinfo=UTC)
        await settle()
        await settle()
        assert len(ran) == 1
        assert made.list("blue")[0].last_run == "2026-11-20T23:00:00.000Z"
        assert made.list("blue")[0].next_run == "2026-11-21T23:00:00.000Z"
        assert made.list("red") == []
        clock.moment += timedelta(days=1)
        await settle()
        assert len(ran) == 2

    run(table, clock, work)


def test_the_alarm_wakes_without_a_heartbeat() -> None:
    """The alarm is set for the very moment: a run does not wait for the next look at the clock."""
    clock = HandClock("2026-11-20T10:00:00+00:00")
    clock.heartbeat_s = 3600.0

    async def work(made: Scheduler, ran: list[tuple[str, str]]) -> None:
        # The alarm lives by the system's clock: a moment that is past for it rings at once.
        await made.add("blue", "nightly", **NIGHT)
        clock.moment = datetime(2026, 11, 20, 23, 0, 1, tzinfo=UTC)
        await asyncio.sleep(0.3)
        assert len(ran) == (datetime.now(UTC) > clock.moment)

    run(Table(), clock, work)


@pytest.mark.parametrize(("days", "runs"), [(0, 0), (1, 1), (30, 1)])
def test_missed_runs_are_caught_up_once(days: int, runs: int) -> None:
    """After downtime or a suspended night one run follows, however many were missed; survives a restart."""
    table = Table()
    clock = HandClock("2026-11-20T10:00:00+00:00")

    async def make(made: Scheduler, ran: list[tuple[str, str]]) -> None:
        del ran
        await made.add("blue", "nightly", **NIGHT)

    run(table, clock, make)
    later = HandClock("2026-11-20T10:00:00+00:00")
    later.moment += timedelta(days=days)

    async def wait(made: Scheduler, ran: list[tuple[str, str]]) -> None:
        del made, ran
        await settle()

    assert len(run(table, later, wait)) == runs
    assert run(table, later, wait) == []


def test_a_clock_set_back_repeats_nothing() -> None:
    """A day that has had its run gets no second one."""
    clock = HandClock("2026-11-20T22:00:00+00:00")

    async def work(made: Scheduler, ran: list[tuple[str, str]]) -> None:
        await made.add("blue", "nightly", **NIGHT)
        clock.moment = datetime(2026, 11, 20, 23, 0, 1, tzinfo=UTC)
        await settle()
        clock.moment -= timedelta(days=3)
        await settle()
        clock.moment += timedelta(days=3)
        await settle()
        assert len(ran) == 1

    run(Table(), clock, work)


def test_a_run_longer_than_its_period_does_not_overlap() -> None:
    """While one runs no other begins; a failing one does not end the schedule."""
    clock = HandClock("2026-11-20T10:00:30+00:00")
    running: list[int] = []
    most: list[int] = []

    async def main() -> None:
        made = Scheduler(Table(), clock=clock)

        async def slow(space: str, options: dict[str, Any]) -> None:
            del space, options
            running.append(1)
            most.append(len(running))
            await asyncio.sleep(0.1)
            running.pop()
            raise RuntimeError("it failed")

        made.register_job("dream", slow)
        await made.start()
        await made.add("blue", "often", cron="* * * * *", timezone="UTC", job="dream", options={})
        for _ in range(20):
            clock.moment += timedelta(minutes=1)
            await asyncio.sleep(0.03)
        await made.stop()

    asyncio.run(main())
    assert max(most) == 1
    assert len(most) > 2


def test_a_crash_in_a_run_repeats_it_once() -> None:
    """A run that the end of the daemon cut off counts as not run: the next start repeats it."""
    table = Table()
    clock = HandClock("2026-11-20T22:00:00+00:00")

    async def cut() -> None:
        made = Scheduler(table, clock=clock)

        async def endless(space: str, options: dict[str, Any]) -> None:
            del space, options
            await asyncio.sleep(60)

        made.register_job("dream", endless)
        await made.start()
        await made.add("blue", "nightly", **NIGHT)
        clock.moment = datetime(2026, 11, 20, 23, 0, 1, tzinfo=UTC)
        await settle()
        await made.stop()

    asyncio.run(cut())

    async def wait(made: Scheduler, ran: list[tuple[str, str]]) -> None:
        del made, ran
        await settle()

    assert len(run(table, clock, wait)) == 1
    assert run(table, clock, wait) == []


def test_replacing_and_removing() -> None:
    """The same id replaces, and past runs count on; what is removed runs no more; unknown ones are not found."""
    clock = HandClock("2026-11-20T22:00:00+00:00")
    table = Table()

    async def work(made: Scheduler, ran: list[tuple[str, str]]) -> None:
        await made.add("blue", "nightly", **NIGHT)
        clock.moment = datetime(2026, 11, 20, 23, 0, 1, tzinfo=UTC)
        await settle()
        shown = await made.add("blue", "nightly", **{**NIGHT, "cron": "30 23 * * *"})
        assert shown.last_run == "2026-11-20T23:00:00.000Z"
        clock.moment = datetime(2026, 11, 20, 23, 30, 1, tzinfo=UTC)
        await settle()
        assert len(ran) == 1
        for space in ("red", "blue"):
            if space == "red":
                with pytest.raises(NotFound):
                    await made.remove(space, "nightly")
            else:
                await made.remove(space, "nightly")
        clock.moment += timedelta(days=5)
        await settle()
        assert len(ran) == 1
        assert table.records == {}

    run(table, clock, work)


def test_what_cannot_be_scheduled() -> None:
    """Unknown jobs, zones and expressions, and too many schedules, are refused and not kept."""
    table = Table()

    async def work(made: Scheduler, ran: list[tuple[str, str]]) -> None:
        del ran
        for wrong in ({"job": "x" * 200}, {"timezone": "Mars/Base"}, {"cron": "60 * * * *"}):
            with pytest.raises(ValidationError):
                await made.add("blue", "a", **{**NIGHT, **wrong})
        assert table.records == {}
        for number in range(module.SCHEDULES_MAX):
            await made.add("blue", f"n{number}", **NIGHT)
        with pytest.raises(ValidationError, match="More than"):
            await made.add("blue", "one more", **NIGHT)
        assert (await made.add("blue", "n0", **{**NIGHT, "timezone": ""})).timezone == system_zone()

    run(table, HandClock("2026-11-20T10:00:00+00:00"), work)


def test_a_record_that_cannot_be_read_is_left_out() -> None:
    """One bad schedule does not keep the others, nor the daemon, from starting."""
    good = {**NIGHT, "id": "good", "createdAt": "2026-11-20T10:00:00.000Z", "lastRun": None, "ran": []}
    table = Table(("blue", {**good, "id": "bad", "cron": "no"}), ("blue", good))

    async def work(made: Scheduler, ran: list[tuple[str, str]]) -> None:
        del ran
        assert [entry.id for entry in made.list("blue")] == ["good"]

    run(table, HandClock("2026-11-20T10:00:00+00:00"), work)


def test_nothing_is_imported_without_a_schedule() -> None:
    """APScheduler costs start-up and memory: it is loaded with the first schedule."""
    code = (
        "import sys, asyncio\n"
        "sys.path.insert(0, 'tests/unit/daemon')\n"
        "from reveried.scheduler import Scheduler\n"
        "from reveried.clock import SystemClock\n"
        "class Empty:\n"
        "    def all(self): return ()\n"
        "async def main():\n"
        "    made = Scheduler(Empty(), clock=SystemClock())\n"
        "    await made.start()\n"
        "    await made.stop()\n"
        "asyncio.run(main())\n"
        "print('apscheduler' in sys.modules)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.strip() == "False"


def test_schedules_in_the_store(tmp_path: Path) -> None:
    """The real table: kept by operations in their own space, found again after a restart."""
    clock = HandClock("2026-11-20T10:00:00+00:00")

    async def main() -> None:
        with Store.open(tmp_path / "store", redactor=Redactor()) as store:
            worker = Worker(store, clock=lambda: text_of(clock.now()), queue_length=10)
            worker.start()
            table = StoredSchedules(store, worker.submit)
            assert list(table.all()) == []
            await table.put("default", {"id": "a", **NIGHT})
            await table.put("default", {"id": "b", **NIGHT})
            await table.delete("default", "a")
            assert [(space, record["id"]) for space, record in table.all()] == [("default", "b")]
            assert spaces_of(store) == ["default"]
            worker.stop()

    asyncio.run(main())


def test_clocks(tmp_path: Path) -> None:
    """The file's clock is used only where REVERIE_HOME is set and holds one; it stands where the file says."""
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
