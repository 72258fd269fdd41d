"""Callers that wait for the same folder share a pass."""

from __future__ import annotations

import asyncio

from reveried.sync.service import JoinedWrites


class Folder:
    """A folder whose passes end when they are let go, and the paths of each."""

    def __init__(self) -> None:
        self.passes: list[tuple[str, set[str]]] = []
        self.begun = asyncio.Semaphore(0)
        self.go = asyncio.Semaphore(0)

    async def write(self, space: str, paths: set[str]) -> None:
        """Note a pass, and end it when it is let go."""
        self.passes.append((space, set(paths)))
        self.begun.release()
        await self.go.acquire()


def test_callers_that_wait_share_one_pass() -> None:
    """A hundred callers during a pass are served by one more, with the paths of all; their answers wait for it."""

    async def run() -> None:
        folder = Folder()
        writes = JoinedWrites(folder.write)
        first = asyncio.create_task(writes.write("default", {"a.md"}))
        await folder.begun.acquire()
        others = [asyncio.create_task(writes.write("default", {f"{number % 3}.md"})) for number in range(100)]
        await asyncio.sleep(0)
        folder.go.release()
        await first
        await folder.begun.acquire()
        assert not any(task.done() for task in others)
        folder.go.release()
        await asyncio.gather(*others)
        assert folder.passes == [("default", {"a.md"}), ("default", {"0.md", "1.md", "2.md"})]

    asyncio.run(run())


def test_a_caller_during_a_pass_waits_for_another() -> None:
    """Callers that come during a pass are served together by one pass that begins after it."""

    async def run() -> None:
        folder = Folder()
        writes = JoinedWrites(folder.write)
        tasks = []
        for number in range(3):
            tasks.append(asyncio.create_task(writes.write("default", {f"{number}.md"})))
            if number == 0:
                await folder.begun.acquire()
        await asyncio.sleep(0)
        for _ in range(2):
            folder.go.release()
        await asyncio.gather(*tasks)
        assert folder.passes == [("default", {"0.md"}), ("default", {"1.md", "2.md"})]

    asyncio.run(run())


def test_a_cancelled_caller_takes_nothing_from_the_others() -> None:
    async def run() -> None:
        folder = Folder()
        writes = JoinedWrites(folder.write)
        cancelled = asyncio.create_task(writes.write("default", {"a.md"}))
        other = asyncio.create_task(writes.write("default", {"b.md"}))
        await folder.begun.acquire()
        cancelled.cancel()
        folder.go.release()
        await other
        assert cancelled.cancelled()
        assert folder.passes == [("default", {"a.md", "b.md"})]

    asyncio.run(run())


def test_an_unexpected_error_reaches_every_caller_and_ends_no_later_pass() -> None:
    async def run() -> None:
        fails = True

        async def write(_space: str, _paths: set[str]) -> None:
            if fails:
                raise RuntimeError("the disk is gone")

        writes = JoinedWrites(write)
        outcomes = await asyncio.gather(
            writes.write("default", {"a.md"}), writes.write("default", {"b.md"}), return_exceptions=True
        )
        assert [str(outcome) for outcome in outcomes] == ["the disk is gone"] * 2
        fails = False
        await writes.write("default", {"a.md"})

    asyncio.run(run())
