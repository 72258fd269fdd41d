"""Working states in the background: a real store, writer and compute process, and distillers good, bad or absent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reverie.distill import Distiller
from reverie.distill.distiller import Extractive
from reverie.models import Message, WorkingState
from reverie.redact import Redactor
from reverie.store import Kind, Store, ThreadRecord, Write, seal
from reverie.usecases import threads
from reverie.usecases.by import By
from reverie.usecases.entries import entry_record
from reverie.usecases.working_state import StatePlan
from reveried.actions import contexts
from reveried.compute import Compute
from reveried.worker import Worker
from reveried.working_states import CACHED_MAX, BackgroundState, StateCache

AT = "2026-11-21T09:30:00.000Z"
SPACE, THREAD = "default", "t"
BY = By(SPACE, "agent")
ASKED = "Please find out why the harbour lights go out at night"


class Fake(Extractive):
    """A distiller with a given answer; it records the messages that it was shown."""

    def __init__(self, answer: Callable[[WorkingState], Any]) -> None:
        self.answer = answer
        self.shown: list[list[str]] = []

    def working_state(self, messages: Sequence[Message], previous: WorkingState | None = None) -> WorkingState:
        self.shown.append([str(message.content) for message in messages])
        assert previous is not None
        made: WorkingState = self.answer(previous)
        return made


@asynccontextmanager
async def daemon(tmp_path: Path, distiller: Distiller | None, **options: Any) -> AsyncIterator[Any]:
    """Yield the daemon's components that background states need, with one open thread."""
    store = Store.open(tmp_path / "store", redactor=Redactor())
    worker = Worker(store, clock=lambda: AT, queue_length=100)
    worker.start()
    compute = Compute(idle_s=60, timeout_s=60)
    background_state = BackgroundState(distiller, debounce_s=0, **options)
    services = SimpleNamespace(
        store=store,
        submit=worker.submit,
        compute=compute,
        states=StateCache(),
        background_state=background_state,
        redactor=Redactor(),
        models=None,
        clock=lambda: AT,
    )
    await worker.submit(threads.create.write(BY, ThreadRecord(id=THREAD, created_at=AT, updated_at=AT)))
    try:
        yield services
    finally:
        await background_state.close()
        await compute.close()
        worker.stop()
        store.close()


async def say(services: Any, *texts: str, role: str = "user") -> None:
    """Append messages as the route does."""
    entries = threads.entries_of([(role, text) for text in texts], None, AT)
    sealed = [seal(entry_record(entry), services.redactor) for entry in entries]
    write: Write[Any] = threads.append.write(BY, THREAD, entries, sealed, window=200_000)
    await services.submit(write)
    services.background_state.schedule(services, SPACE, THREAD)


async def state(services: Any) -> WorkingState:
    """Return the thread's working state through the action that routes and contexts use."""
    return (await contexts.state(services, SPACE, THREAD)).state


def stored(services: Any) -> dict[str, Any]:
    """Return the JSON of the stored working state, `{}` where none is stored."""
    with services.store.reader(SPACE) as reader:
        return reader.get(Kind.STATE, (THREAD,)) or {}


def test_close_does_not_wait_for_unfinished_work(tmp_path: Path) -> None:
    """Closing does not wait for a distiller that has not answered."""
    asked, over = threading.Event(), threading.Event()

    def answer(before: WorkingState) -> WorkingState:
        asked.set()
        over.wait(60)
        return before

    async def run() -> None:
        async with daemon(tmp_path, Fake(answer), deadline_s=30) as services:
            await say(services, ASKED)
            await asyncio.to_thread(asked.wait, 20)
            await asyncio.wait_for(services.background_state.close(), 5)
            over.set()

    try:
        asyncio.run(run())
    finally:
        over.set()


def test_a_late_distiller_changes_nothing(tmp_path: Path) -> None:
    """After the deadline the extracted state stays, and the distiller is not asked again before it has returned."""
    may_end = threading.Event()

    def answer(before: WorkingState) -> WorkingState:
        assert may_end.wait(60)
        return replace(before, current_task="too late")

    fake = Fake(answer)

    async def run() -> None:
        async with daemon(tmp_path, fake, deadline_s=0.01) as services:
            await say(services, ASKED)
            await services.background_state.wait_idle()
            assert (await state(services)).current_task == ASKED
            await say(services, "and do it soon, will you")
            await services.background_state.wait_idle()
            assert len(fake.shown) == 1
            may_end.set()
            await asyncio.to_thread(_ended, "reverie-distiller")
            assert stored(services) == {}

    asyncio.run(run())


def _ended(name: str) -> None:
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join(60)


def _fails(_: WorkingState) -> WorkingState:
    raise OSError("the line is down")


@pytest.mark.parametrize("answer", [_fails, lambda _: {"current_task": "x"}, lambda _: None])
def test_a_distiller_that_fails_changes_nothing(tmp_path: Path, answer: Callable[[WorkingState], Any]) -> None:
    """After an error or an unusable answer the extracted state stays, and the next turn asks again."""
    fake = Fake(answer)

    async def run() -> None:
        async with daemon(tmp_path, fake) as services:
            for text in (ASKED, "go on then, please"):
                await say(services, text)
                await services.background_state.wait_idle()
            assert (await state(services)).current_task.startswith(ASKED)
            assert stored(services) == {}

    asyncio.run(run())
    assert len(fake.shown) == 2


def test_an_agents_state_wins_over_a_distillers(tmp_path: Path) -> None:
    """A state that the agent set while the distiller worked is not overwritten."""
    going, may_end = threading.Event(), threading.Event()

    def answer(before: WorkingState) -> WorkingState:
        going.set()
        assert may_end.wait(60)
        return replace(before, current_task="what the distiller thinks")

    async def run() -> None:
        async with daemon(tmp_path, Fake(answer), deadline_s=30) as services:
            await say(services, ASKED)
            await asyncio.to_thread(going.wait, 30)
            await contexts.set_state(services, BY, THREAD, {"current_task": "what the agent says"}, replace_all=False)
            may_end.set()
            await services.background_state.wait_idle()
            assert (await state(services)).current_task == "what the agent says"

    asyncio.run(run())


def test_work_of_a_deleted_thread_ends(tmp_path: Path) -> None:
    """Background work for a thread that does not exist ends without storing a state, and other threads are served."""

    async def run() -> None:
        async with daemon(tmp_path, None) as services:
            services.background_state.schedule(services, SPACE, "nobody")
            await say(services, ASKED)
            await services.background_state.wait_idle()
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
