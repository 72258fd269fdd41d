"""When a followed session is learnt from: a real store, its lines and the learning by the test."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reverie.errors import Busy, ReverieError
from reverie.redact import Redactor
from reverie.store import SessionRecord, Store, ThreadRecord, seal
from reverie.usecases import threads
from reverie.usecases.by import By
from reverie.usecases.entries import entry_record
from reveried import follower as reveried_follower
from reveried.follower import Follower
from reveried.worker import Worker
from support.story import call, result, text

AT = "2026-11-22T10:00:00.000Z"
SPACE, THREAD = "default", "t"
BY = By(SPACE, "agent")
LOOKS = 5  # at a file that does not grow
SESSION = SessionRecord(
    client="claude-code", session="s", thread=THREAD, project="p", transcript="/s", started_at=AT, updated_at=AT
)


def learnings(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *steps: list[tuple[str, Any]], failure: ReverieError | None = None
) -> list[int]:
    """Follow a file that grows by each of the steps, LOOKS reads apart; return the step after which each learning is.

    It ends some reads after the last step. Where there is a `failure`, the first learning fails by it, and a second one
    is waited for.
    """
    after: list[int] = []
    reads, done = 0, asyncio.Event()

    async def read_lines(services: Any, *_: object) -> int:
        nonlocal reads
        reads += 1
        if reads >= (len(steps) + 1) * LOOKS and (failure is None or len(after) > 1):
            done.set()
        step, is_between = divmod(reads - 1, LOOKS)
        if is_between or step >= len(steps):
            return 0
        entries = threads.entries_of(steps[step], None, AT)
        sealed = [seal(entry_record(entry), services.redactor) for entry in entries]
        await services.submit(threads.append.write(BY, THREAD, entries, sealed, window=200_000))
        return len(entries)

    async def learn(*_: object) -> ReverieError | None:
        after.append(min(reads - 1, len(steps) * LOOKS - 1) // LOOKS)
        return failure if len(after) == 1 else None

    async def run() -> None:
        store = Store.open(folder / "store", redactor=Redactor())
        worker = Worker(store, clock=lambda: AT, queue_length=100)
        worker.start()
        background = SimpleNamespace(schedule=lambda *_: None)
        services: Any = SimpleNamespace(
            store=store, submit=worker.submit, redactor=Redactor(), clock=lambda: AT, made=lambda _: background
        )
        follower = Follower(quick_s=0.001, quiet_s=0.001)
        try:
            await worker.submit(threads.create.write(BY, ThreadRecord(id=THREAD, created_at=AT, updated_at=AT)))
            follower.follow(services, SPACE, SESSION)
            await asyncio.wait_for(done.wait(), 60)
        finally:
            await follower.close()
            worker.stop()
            store.close()

    monkeypatch.setattr(reveried_follower, "_import", read_lines)
    monkeypatch.setattr(reveried_follower, "_learn", learn)
    monkeypatch.setattr(reveried_follower, "LEARN_S", 0.0)
    asyncio.run(run())
    return after


ASKED = [("user", "Please add a login page"), ("assistant", [call("c1", command="npm install left-pad")])]
ANSWERED = [("user", [result("c1", "the user said: use pnpm")]), ("assistant", [text("Understood.")])]


def test_a_call_is_learnt_from_together_with_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a question waits for the person, nothing is learnt before its answer, and then once."""
    assert learnings(tmp_path, monkeypatch, ASKED, ANSWERED) == [1]


def test_a_turn_that_nobody_ends_is_learnt_from_at_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session whose turn stays open is learnt from once it has paused for much longer."""
    monkeypatch.setattr(reveried_follower, "OPEN_S", 0.000_001)
    assert learnings(tmp_path, monkeypatch, ASKED) == [0]


def test_what_could_not_be_learnt_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session is learnt from at a later time, without new lines, where that failed."""
    busy = Busy("full", hint="later")
    assert learnings(tmp_path, monkeypatch, [*ASKED, *ANSWERED], failure=busy) == [0, 0]
