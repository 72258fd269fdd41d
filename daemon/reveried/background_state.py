"""What follows a turn, when its agent has its answer: the working state is worked out, and said better by a model.

Nothing here keeps anybody waiting. Turns that come close together are served at once; a distiller that fails, or takes
longer than a second, leaves the state that structure alone shows.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING

from reverie.errors import Conflict, ReverieError
from reverie.usecases import states, threads
from reverie.usecases.contexts import sealed_since
from reverie.usecases.decide.contexts import opened
from reveried.actions import contexts
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.distill.protocol import Distiller
    from reverie.models import Message, WorkingState
    from reverie.usecases.incremental_state import StatePlan
    from reveried.services import Services

__all__ = ["DEADLINE_S", "Afterwards"]

SETTLE_S = 0.2  # turns that follow within it are served together
DEADLINE_S = 1.0  # for a distiller (seed 001, tier 1)
THREADS_MAX = 256  # that are served at one time; others are worked out when somebody asks
CALLS_MAX = 4  # of the distiller at one time
ENTRIES_MAX = 60  # that a distiller is shown: the newest since the last state that was kept


class Afterwards:
    """The work that follows turns, one task for each thread of messages that has had one."""

    def __init__(
        self, distiller: Distiller | None = None, *, settle_s: float = SETTLE_S, deadline_s: float = DEADLINE_S
    ) -> None:
        self._distiller = distiller
        self._settle_s = settle_s
        self._deadline_s = deadline_s
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._again: set[tuple[str, str]] = set()
        self._late: set[tuple[str, str]] = set()  # whose distiller was given up, and has not come back yet
        self._calls = asyncio.Semaphore(CALLS_MAX)

    def turned(self, services: Services, space: str, thread: str) -> None:
        """Messages were appended to a thread. Returns at once."""
        place = (space, thread)
        if place in self._tasks:
            self._again.add(place)
        elif len(self._tasks) < THREADS_MAX:
            task = asyncio.get_running_loop().create_task(self._serve(services, place))
            self._tasks[place] = task
            task.add_done_callback(lambda _: self._tasks.pop(place, None))

    async def settled(self) -> None:
        """Waits until nothing is left to do."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks.values()))

    async def close(self) -> None:
        """Leaves undone what is not done: it is worked out when somebody asks."""
        for task in self._tasks.values():
            task.cancel()
        await self.settled()

    async def _serve(self, services: Services, place: tuple[str, str]) -> None:
        """Works until no turn came meanwhile."""
        while True:
            self._again.discard(place)
            await asyncio.sleep(self._settle_s)
            try:
                plan = await contexts.state(services, *place, bulk=True)
                await self._refine(services, place, plan)
            except ReverieError as error:
                # The thread is gone, or there is too much to do: whoever asks for the state gets it worked out then.
                logger("reveried.background_state").info("a working state was left for later", code=error.code)
            if place not in self._again:
                return

    async def _refine(self, services: Services, place: tuple[str, str], plan: StatePlan) -> None:
        """Has the distiller say the state better, and keeps that; as it was where it cannot in time."""
        if self._distiller is None or place in self._late:
            return
        messages = await asyncio.to_thread(_newest, services, place)
        if not messages:
            return
        said = await self._said(place, messages, states.state_of(plan.state))
        kept = states.refined(plan.state, said, seq=plan.seq)
        if kept is None:
            return
        space, thread = place
        write = states.put(
            space, "distiller", thread, kept, seq=plan.seq, version=plan.version, why="working-state.refine"
        )
        try:
            await services.submit(write, bulk=True)
        except Conflict as overtaken:
            logger("reveried.background_state").info("an agent was faster than the distiller", code=overtaken.code)

    async def _said(self, place: tuple[str, str], messages: list[Message], state: WorkingState) -> object:
        """What the distiller said; None where it failed or took too long."""
        assert self._distiller is not None
        distiller = self._distiller
        async with self._calls:
            call = _beside(lambda: distiller.working_state(messages, state))
            self._late.add(place)
            call.add_done_callback(lambda _: self._late.discard(place))
            await asyncio.wait((call,), timeout=self._deadline_s)
        if not call.done():
            logger("reveried.background_state").warning("a distiller took too long", seconds=self._deadline_s)
            return None
        if (error := call.exception()) is not None:
            logger("reveried.background_state").warning("a distiller failed", kind=type(error).__name__)
            return None
        return call.result()


def _newest(services: Services, place: tuple[str, str]) -> list[Message]:
    """The messages that no kept state knows of; the newest, where they are many."""
    space, thread = place
    with services.store.reader(space) as reader:
        since = states.read_from(states.kept(reader, thread), int(threads.get(reader, thread)["throughSeq"]))
        rows = sealed_since(reader, thread, since)
    return [message for message in opened(thread, rows[-ENTRIES_MAX:]) if not message.rewound]


def _beside(work: Callable[[], object]) -> asyncio.Future[object]:
    """`work` in a thread that nobody has to wait for, not even the end of the process."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[object] = loop.create_future()

    def settle(said: object, error: Exception | None) -> None:
        if outcome.cancelled():
            return
        if error is None:
            outcome.set_result(said)
        else:
            outcome.set_exception(error)
            outcome.exception()  # whoever gave up does not look at it

    def run() -> None:
        said: object = None
        failure: Exception | None = None
        try:
            said = work()
        except Exception as error:  # noqa: BLE001 - the edge of the distiller: whatever it raises, the state stands
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile, and nobody waits
            loop.call_soon_threadsafe(settle, said, failure)

    threading.Thread(target=run, name="reverie-distiller", daemon=True).start()
    return outcome
