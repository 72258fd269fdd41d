"""Shared waits: work that many callers wait for runs once, also if it fails or a caller is cancelled."""

from __future__ import annotations

import asyncio

from reveried.locks import wait_together


def test_callers_wait_for_one_run() -> None:
    """Callers that come during a run share its end, also if one is cancelled; a later call runs it again."""
    runs: list[str] = []

    async def main() -> None:
        gate, begun = asyncio.Event(), asyncio.Semaphore(0)

        async def work() -> None:
            runs.append("began")
            begun.release()
            await gate.wait()
            runs.append("ended")

        waiting = [asyncio.create_task(wait_together("recall", "one", work)) for _ in range(5)]
        other = asyncio.create_task(wait_together("recall", "other", work))
        for _ in range(2):
            await begun.acquire()
        waiting[0].cancel()
        await asyncio.wait({waiting[0]})
        assert not any(task.done() for task in waiting[1:])
        gate.set()
        await asyncio.gather(*waiting[1:], other)
        assert runs == ["began"] * 2 + ["ended"] * 2
        await wait_together("recall", "one", work)
        assert runs[4:] == ["began", "ended"]

    asyncio.run(main())


def test_work_that_fails_is_ended() -> None:
    """If the shared work fails, every caller returns without an error."""

    async def fails() -> None:
        await asyncio.sleep(0)
        raise OSError

    async def main() -> None:
        await asyncio.gather(*(wait_together("recall", "one", fails) for _ in range(3)))

    asyncio.run(main(), debug=True)
