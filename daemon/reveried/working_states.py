"""Working states after each turn, in the background: computed before they are requested, cached, refined by a model.

No request waits for any of it. Turns that follow each other closely are served together; a model that fails, or takes
longer than its deadline, leaves the state that was extracted without it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from reverie.distill import state_text
from reverie.errors import Conflict, ModelFailed, failure_of
from reverie.usecases import threads, working_state
from reverie.usecases.by import By
from reverie.usecases.entries import sealed_after, spoken_messages
from reveried.actions.contexts import state as current_state
from reveried.actions.threads import extend_outline
from reveried.drive import write
from reveried.log import logger

if TYPE_CHECKING:
    from reverie.models import Message, WorkingState
    from reverie.usecases.working_state import StatePlan
    from reveried.actions.contexts import ThreadKey
    from reveried.models.ask import Models
    from reveried.services import Services

DEBOUNCE_S = 0.2  # turns of a thread within it are served together
THREADS_MAX = 256  # served at one time; the state of further threads is computed when it is requested
CALLS_MAX = 4  # of the model at one time
ENTRIES_MAX = 60  # shown to a model: the newest since the state that was stored last


class BackgroundState:
    """The tasks that compute and refine working states, one for each thread that had messages appended."""

    def __init__(self) -> None:
        self._tasks: dict[ThreadKey, asyncio.Task[None]] = {}
        self._again: set[ThreadKey] = set()  # messages came while their task ran
        self._calls = asyncio.Semaphore(CALLS_MAX)

    def schedule(self, services: Services, space: str, thread: str) -> None:
        """Schedule the work that follows appended messages; returns at once."""
        key = (space, thread)
        if key in self._tasks:
            self._again.add(key)
        elif len(self._tasks) < THREADS_MAX:
            task = asyncio.get_running_loop().create_task(self._serve(services, key))
            self._tasks[key] = task
            task.add_done_callback(lambda done: self._leave(key, done))

    def _leave(self, key: ThreadKey, task: asyncio.Task[None] | None) -> None:
        """Leave the work on a thread to the next `schedule`, if it is still this task's."""
        if self._tasks.get(key) is task:
            del self._tasks[key]

    async def wait_idle(self) -> None:
        """Wait until no working state is being computed."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks.values()))

    async def close(self) -> None:
        """Cancel all pending updates of working states; a missing state is computed when it is requested."""
        for task in self._tasks.values():
            task.cancel()
        await self.wait_idle()

    async def _serve(self, services: Services, key: ThreadKey) -> None:
        """Compute and refine the state of a thread until no messages came meanwhile."""
        while True:
            self._again.discard(key)
            await asyncio.sleep(DEBOUNCE_S)
            try:
                plan = await current_state(services, *key, bulk=True)
                await self._refine(services, key, plan)
                await extend_outline(services, *key, bulk=True)
            except BaseException as error:  # noqa: BLE001 - no other thread's state waits for this one
                failure = failure_of(error)
                # The thread is gone, or the compute process is busy: the state is computed when it is requested.
                logger("reveried.background_state").info("a working state was left for later", code=failure.code)
            if key not in self._again:
                # At once: the callback of the task runs a turn of the loop later, and a call until then would be lost.
                self._leave(key, asyncio.current_task())
                return

    async def _refine(self, services: Services, key: ThreadKey, plan: StatePlan) -> None:
        """Let a model refine a thread's working state, and store a usable answer that comes in time."""
        models = services.models
        if models is None or not models.asks_states:
            return
        messages = await asyncio.to_thread(_new_messages, services, key)
        if not messages:
            return
        answer = await self._ask_model(services, models, messages, plan.state)
        refined = working_state.from_distiller(plan.state, answer, seq=plan.seq)
        if refined is None:
            return
        space, thread = key
        by = By(space, "distiller")
        try:
            await write(services, working_state.refine, by, thread, refined, seq=plan.seq, version=plan.version)
        except Conflict as conflict:
            # The agent stored a state of its own since `plan`: its words win.
            logger("reveried.background_state").info("an agent was faster than the model", code=conflict.code)

    async def _ask_model(
        self, services: Services, models: Models, messages: list[Message], state: WorkingState
    ) -> object:
        """Return the model's working state; None where it failed or missed its deadline."""
        from reverie.language_model.summary import StateWork  # noqa: PLC0415 - with a model only
        from reverie.usecases.memory_plan import source_of  # noqa: PLC0415 - as above

        def build() -> StateWork:
            redactor = services.redact_rules.redactor()
            return StateWork.of(source_of(messages, redactor), state, redactor.text(state_text.render(state)))

        work = await asyncio.to_thread(build)
        async with self._calls:
            outcomes = await models.ask([work.request], models.settings.state_seconds)
        with contextlib.suppress(ModelFailed):  # it was logged; the extracted state is used
            return work.answered(outcomes[work.request.id])
        return None


def _new_messages(services: Services, key: ThreadKey) -> list[Message]:
    """Return the messages after the stored state; of many, those of the newest ENTRIES_MAX entries."""
    space, thread = key
    with services.store.reader(space) as reader:
        distilled_through = threads.get(reader, thread).through_seq
        since = working_state.read_after(working_state.stored(reader, thread), distilled_through)
        rows = sealed_after(reader, thread, since)
    return spoken_messages(thread, rows[-ENTRIES_MAX:])
