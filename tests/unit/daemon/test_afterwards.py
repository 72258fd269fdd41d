"""What follows a turn: a real store, writer and compute process, and distillers that do well, badly or nothing."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from reverie.distill.extractive import Extractive
from reverie.distill.protocol import Distiller
from reverie.models import WorkingState
from reverie.redact import Redactor
from reverie.store import Kind, Store, Write, seal
from reverie.usecases import states, threads
from reverie.usecases.records import entry_record
from reveried.actions import contexts
from reveried.actions.states import change
from reveried.background_state import Afterwards
from reveried.compute import Compute
from reveried.state_cache import KEPT_MAX, States
from reveried.worker import Worker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from reverie.models import Message

AT = "2026-11-21T09:30:00.000Z"
SPACE, THREAD = "default", "t"
ASKED = "Please find out why the harbour lights go out at night"


class Fake(Extractive):
    """A distiller whose words are given; it remembers what it was shown."""

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
    """The parts of the daemon that turns need, one thread open."""
    store = Store.open(tmp_path / "store", redactor=Redactor())
    worker = Worker(store, clock=lambda: AT, queue_length=100)
    worker.start()
    compute = Compute(idle_s=60, timeout_s=60)
    afterwards = Afterwards(distiller, settle_s=0, **options)
    services = SimpleNamespace(
        store=store,
        submit=worker.submit,
        compute=compute,
        states=States(),
        afterwards=afterwards,
        redactor=Redactor(),
        clock=lambda: AT,
    )
    await worker.submit(threads.create(SPACE, "test", threads.blank(THREAD, AT)))
    try:
        yield services
    finally:
        await afterwards.close()
        await compute.close()
        worker.stop()
        store.close()


async def say(services: Any, *texts: str, role: str = "user") -> None:
    """Appends messages, as the route does."""
    entries = threads.spoken([(role, text) for text in texts], None, AT)
    sealed = [seal(entry_record(entry), services.redactor) for entry in entries]
    write: Write[Any] = threads.append(SPACE, "test", THREAD, entries, sealed, at=AT, window=200_000)
    await services.submit(write)
    services.afterwards.turned(services, SPACE, THREAD)


async def state(services: Any) -> WorkingState:
    """The working state as everybody gets it."""
    return states.state_of((await contexts.state(services, SPACE, THREAD)).state)


def kept(services: Any) -> dict[str, Any]:
    with services.store.reader(SPACE) as reader:
        return states.kept(reader, THREAD)


def test_a_turn_is_worked_out_before_anybody_asks(tmp_path: Path) -> None:
    """Without a distiller the structural state is ready after each turn, and nothing is written for it."""

    async def run() -> None:
        async with daemon(tmp_path, None) as services:
            await say(services, ASKED)
            await services.afterwards.settled()
            jobs = services.compute.started
            assert (await state(services)).current_task == ASKED
            await say(services, "Also the buoys are dark, please look at them as well while you are there")
            await services.afterwards.settled()
            assert "buoys" in (await state(services)).current_task
            assert services.compute.started == jobs == 1
            assert kept(services) == {}

    asyncio.run(run())


def test_closing_does_not_wait_for_what_is_not_done(tmp_path: Path) -> None:
    """A thread that is still being settled, or whose distiller does not answer, is left at once."""
    asked, over = threading.Event(), threading.Event()

    def answer(before: WorkingState) -> WorkingState:
        asked.set()
        over.wait(30)
        return before

    async def run() -> None:
        async with daemon(tmp_path, Fake(answer), deadline_s=30) as services:
            await say(services, ASKED)
            await asyncio.to_thread(asked.wait, 20)
            await asyncio.wait_for(services.afterwards.close(), 5)
            over.set()

    try:
        asyncio.run(run())
    finally:
        over.set()


def test_a_distiller_says_it_better(tmp_path: Path) -> None:
    """Its words are kept with their sources, redacted; later turns build on them, and are all it is shown again."""
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    fake = Fake(lambda before: replace(before, next_steps=("check the fuse", secret), blockers=()))

    async def run() -> None:
        async with daemon(tmp_path, fake) as services:
            await say(services, ASKED)
            await services.afterwards.settled()
            found = await state(services)
            assert (found.current_task, found.next_steps[0]) == (ASKED, "check the fuse")
            assert found.sources.current_task == 1
            assert found.sources.next_steps == (1, 1)
            assert secret not in str(kept(services))
            await say(services, "Next I check the fuse.", role="assistant")
            await services.afterwards.settled()
            assert kept(services)["from"] == 2
            assert len(fake.shown[1]) == 1
            assert "Next I check the fuse." in fake.shown[1][0]

    assert isinstance(fake, Distiller)
    asyncio.run(run())


def test_turns_that_come_together_are_one_call(tmp_path: Path) -> None:
    """While a distiller works, what comes is gathered for the next call."""
    going, may_end = threading.Event(), threading.Event()

    def answer(before: WorkingState) -> WorkingState:
        going.set()
        assert may_end.wait(30)
        return before

    fake = Fake(answer)

    async def run() -> None:
        async with daemon(tmp_path, fake, deadline_s=30) as services:
            await say(services, ASKED)
            await asyncio.to_thread(going.wait, 30)
            for number in range(5):
                await say(services, f"remark number {number}")
            may_end.set()
            await services.afterwards.settled()

    asyncio.run(run())
    assert len(fake.shown) == 2
    assert "remark number 4" in str(fake.shown[1])


def test_a_distiller_that_is_late_changes_nothing(tmp_path: Path) -> None:
    """After its time the structural state stands; it is not asked again before it has come back."""
    may_end = threading.Event()

    def answer(before: WorkingState) -> WorkingState:
        assert may_end.wait(30)
        return replace(before, current_task="too late")

    fake = Fake(answer)

    async def run() -> None:
        async with daemon(tmp_path, fake, deadline_s=0.01) as services:
            await say(services, ASKED)
            await services.afterwards.settled()
            assert (await state(services)).current_task == ASKED
            await say(services, "and do it soon, will you")
            await services.afterwards.settled()
            assert len(fake.shown) == 1
            may_end.set()
            await asyncio.to_thread(_ended, "reverie-distiller")
            assert kept(services) == {}

    asyncio.run(run())


def _ended(name: str) -> None:
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join(30)


def _fails(_: WorkingState) -> WorkingState:
    raise OSError("the line is down")


@pytest.mark.parametrize("answer", [_fails, lambda _: {"current_task": "x"}, lambda _: None])
def test_a_distiller_that_fails_changes_nothing(tmp_path: Path, answer: Callable[[WorkingState], Any]) -> None:
    """An error, or words of the wrong kind: the structural state stands, and the next turn is tried again."""
    fake = Fake(answer)

    async def run() -> None:
        async with daemon(tmp_path, fake) as services:
            for text in (ASKED, "go on then, please"):
                await say(services, text)
                await services.afterwards.settled()
            assert (await state(services)).current_task.startswith(ASKED)
            assert kept(services) == {}

    asyncio.run(run())
    assert len(fake.shown) == 2


def test_an_agent_is_stronger_than_a_distiller(tmp_path: Path) -> None:
    """What the agent set while the distiller was thinking stands."""
    going, may_end = threading.Event(), threading.Event()

    def answer(before: WorkingState) -> WorkingState:
        going.set()
        assert may_end.wait(30)
        return replace(before, current_task="what the distiller thinks")

    async def run() -> None:
        async with daemon(tmp_path, Fake(answer), deadline_s=30) as services:
            await say(services, ASKED)
            await asyncio.to_thread(going.wait, 30)
            await change(services, SPACE, THREAD, {"current_task": "what the agent says"}, whole=False, who="agent")
            may_end.set()
            await services.afterwards.settled()
            assert (await state(services)).current_task == "what the agent says"

    asyncio.run(run())


def test_what_a_distiller_says_is_bounded() -> None:
    """Long texts are cut, long lists end, what is no text is left out, an empty task is the task there was."""
    before = states.refined({**_blank(), "current_task": "t"}, WorkingState(current_task="t"), seq=3)
    said: Any = WorkingState(
        current_task=" ",
        completed_steps=("x" * 9_000, "a\nb", 5, "", *(f"step {n}" for n in range(90))),  # type: ignore[arg-type]
        open_files=7,  # type: ignore[arg-type]
    )
    assert before is not None
    found = states.refined(before, said, seq=9)
    assert found is not None
    made = states.state_of(found)

    assert (made.current_task, made.open_files) == ("t", ())
    assert "a b" in made.completed_steps
    assert len(made.completed_steps) <= states.ITEMS_MAX
    assert max(map(len, made.completed_steps)) <= states.ITEM_CHARS_MAX
    assert set(made.sources.completed_steps) == {9}


def _blank() -> dict[str, Any]:
    return states.changed({}, {}, seq=0, at=AT, whole=True)


def test_a_thread_that_is_gone_ends_its_work(tmp_path: Path) -> None:
    """Deleted between the turn and what follows it: nothing is left running, and others are served."""

    async def run() -> None:
        async with daemon(tmp_path, None) as services:
            services.afterwards.turned(services, SPACE, "nobody")
            await say(services, ASKED)
            await services.afterwards.settled()
            with services.store.reader(SPACE) as reader:
                assert reader.count(Kind.STATE) == 0

    asyncio.run(run())


def test_only_the_newest_states_are_held() -> None:
    """The one that nobody asked for longest goes; each comes with what it was made from."""
    held = States()
    plans: list[Any] = [object() for _ in range(KEPT_MAX + 1)]
    for number, plan in enumerate(plans[:KEPT_MAX]):
        held.put((SPACE, str(number)), (number,), plan)
    assert held.get((SPACE, "0")) == ((0,), plans[0])
    held.put((SPACE, "new"), (KEPT_MAX,), plans[KEPT_MAX])

    assert held.get((SPACE, "0")) == ((0,), plans[0])
    assert held.get((SPACE, "1")) is None
    assert held.get((SPACE, "2")) == ((2,), plans[2])
