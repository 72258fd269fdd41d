"""A scheduler's surroundings in memory: its table, a clock that a test sets, and a run of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from reverie.store import ScheduleRecord
from reveried.clock import text_of
from reveried.scheduler import Scheduler

NIGHT: dict[str, Any] = {"cron": "0 23 * * *", "timezone": "UTC", "job": "dream", "options": {"tokenBudget": 9}}


class Table:
    """A table of schedules in memory, in place of the one in the store."""

    def __init__(self, *records: tuple[str, dict[str, Any]]) -> None:
        self.records = {(space, record["id"]): msgspec.convert(record, ScheduleRecord) for space, record in records}

    def all(self) -> Iterator[tuple[str, ScheduleRecord]]:
        """Yield every schedule record with its space."""
        yield from ((space, record) for (space, _), record in self.records.items())

    async def put(self, space: str, schedule: ScheduleRecord) -> None:
        """Insert or replace one record."""
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
