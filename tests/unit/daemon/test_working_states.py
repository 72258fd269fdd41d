"""Working states in the background: a real store, writer and compute process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reverie.models import WorkingState
from reverie.redact import Redactor
from reverie.store import Kind, Store, ThreadRecord, Write, seal
from reverie.usecases import threads
from reverie.usecases.by import By
from reverie.usecases.entries import entry_record
from reverie.usecases.working_state import StatePlan
from reveried import working_states
from reveried.actions import contexts
from reveried.actions.contexts import CACHED_MAX, StateCache
from reveried.compute import Compute
from reveried.worker import Worker
from reveried.working_states import BackgroundState

AT = "2026-11-21T09:30:00.000Z"
SPACE, THREAD = "default", "t"
BY = By(SPACE, "agent")
ASKED = "Please find out why the harbour lights go out at night"


@asynccontextmanager
async def daemon(tmp_path: Path, models: Any = None) -> AsyncIterator[Any]:
    """Yield the daemon's components that background states need, with one open thread."""
    store = Store.open(tmp_path / "store", redactor=Redactor())
    worker = Worker(store, clock=lambda: AT, queue_length=100)
    worker.start()
    compute = Compute(idle_s=60, timeout_s=60)
    services = SimpleNamespace(
        store=store,
        submit=worker.submit,
        compute=compute,
        made=cache(lambda kind: kind()),
        redactor=Redactor(),
        models=models,
        clock=lambda: AT,
    )
    await worker.submit(threads.create.write(BY, ThreadRecord(id=THREAD, created_at=AT, updated_at=AT)))
    try:
        yield services
    finally:
        await services.made(BackgroundState).close()
        await compute.close()
        worker.stop()
        store.close()


async def say(services: Any, *texts: str, role: str = "user") -> None:
    """Append messages as the route does."""
    entries = threads.entries_of([(role, text) for text in texts], None, AT)
    sealed = [seal(entry_record(entry), services.redactor) for entry in entries]
    write: Write[Any] = threads.append.write(BY, THREAD, entries, sealed, window=200_000)
    await services.submit(write)
    services.made(BackgroundState).schedule(services, SPACE, THREAD)


async def state(services: Any) -> WorkingState:
    """Return the thread's working state through the action that routes and contexts use."""
    return (await contexts.state(services, SPACE, THREAD)).state


def test_an_agents_state_wins_over_a_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that the agent set while the model worked is not overwritten."""

    async def run() -> None:
        going, may_end = asyncio.Event(), asyncio.Event()

        async def answer(*given: Any) -> WorkingState:
            going.set()
            await may_end.wait()
            before: WorkingState = given[-1]
            return replace(before, current_task="what the model thinks")

        monkeypatch.setattr(BackgroundState, "_ask_model", answer)
        async with daemon(tmp_path, SimpleNamespace(asks_states=True)) as services:
            await say(services, ASKED)
            await asyncio.wait_for(going.wait(), 30)
            await contexts.set_state(services, BY, THREAD, {"current_task": "what the agent says"}, replace_all=False)
            may_end.set()
            await services.made(BackgroundState).wait_idle()
            assert (await state(services)).current_task == "what the agent says"

    asyncio.run(run())


def test_work_of_a_deleted_thread_ends(tmp_path: Path) -> None:
    """Background work for a thread that does not exist ends without storing a state, and other threads are served."""

    async def run() -> None:
        async with daemon(tmp_path) as services:
            services.made(BackgroundState).schedule(services, SPACE, "nobody")
            await say(services, ASKED)
            await services.made(BackgroundState).wait_idle()
            with services.store.reader(SPACE) as reader:
                assert reader.count(Kind.STATE) == 0

    asyncio.run(run())


def a_plan(query: str = "") -> StatePlan:
    """Return the plan of an empty working state, with this query."""
    return StatePlan(state=WorkingState(), query=query, seq=1, version=None)


def test_the_state_of_a_deleted_thread_is_not_kept() -> None:
    """A deleted thread's state is dropped, also one still being made; a new thread of the same id has its own."""
    held, key = StateCache(), (SPACE, "thread")
    plans = [a_plan(), a_plan(), a_plan()]
    held.put(key, (7, None), plans[0])
    held.remove(key, 8)
    assert held.get(key) is None
    held.put(key, (7, None), plans[1])
    assert held.get(key) is None
    held.put(key, (9, None), plans[2])
    assert held.get(key) == ((9, None), plans[2])
    for number in range(CACHED_MAX):
        held.remove((SPACE, str(number)), number)
    assert len(held._deleted) == CACHED_MAX


def test_messages_in_the_moment_of_an_end_are_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is scheduled between the end of a task and the callback of that begins a new one."""

    async def run() -> None:
        served: list[str] = []

        async def last_step(services: Any, space: str, thread: str, *, bulk: bool) -> None:
            del space, bulk
            served.append(thread)
            if len(served) == 1:  # before the callback of this task, which ends in this turn of the loop
                background = services.made(BackgroundState)
                asyncio.get_running_loop().call_soon(background.schedule, services, SPACE, THREAD)

        monkeypatch.setattr(working_states, "extend_outline", last_step)
        async with daemon(tmp_path) as services:
            await say(services, ASKED)
            for _ in range(3_000):
                if len(served) == 2:
                    break
                await asyncio.sleep(0.01)
        assert served == [THREAD, THREAD]

    asyncio.run(run())
