"""The working state of a thread as its agent reads and sets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from reverie.usecases import states
from reveried.actions import contexts
from reveried.execution import retry_while_stale, stored_answer
from reveried.keyed_lock import keyed_lock

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reveried.services import Services

__all__ = ["change", "given", "shown"]

_NAMES = {
    "current_task": "currentTask",
    "task_chain": "taskChain",
    "completed_steps": "completedSteps",
    "next_steps": "nextSteps",
    "open_files": "openFiles",
    "recent_decisions": "recentDecisions",
    "blockers": "blockers",
}


def given(asked: msgspec.Struct) -> dict[str, Any]:
    """The fields of a working state that a request names."""
    fields = ((name, getattr(asked, name)) for name in _NAMES)
    return {name: held for name, held in fields if held is not msgspec.UNSET}


def shown(state: Mapping[str, Any]) -> dict[str, Any]:
    """A stored state as the wire shows it."""
    sources = state["sources"]
    return {
        **{name: state[held] for held, name in _NAMES.items()},
        "updatedAt": state["updated_at"],
        "sources": {name: sources[held] for held, name in _NAMES.items()},
    }


async def change(
    services: Services,
    space: str,
    thread: str,
    fields: Mapping[str, Any],
    *,
    whole: bool,
    who: str,
    idempotency: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """The state after an agent set `fields` (and emptied the others, where `whole`).

    Raises:
        NotFound: no such thread.
        ValidationError: more words than a working state holds.
    """

    async def attempt() -> dict[str, Any]:
        before: dict[str, Any] | None = await stored_answer(services, space, idempotency)
        if before is not None:
            return before
        now = await contexts.state(services, space, thread)
        state = states.changed(now.state, fields, seq=now.seq, at=services.clock(), whole=whole)
        write = states.put(
            space,
            who,
            thread,
            state,
            seq=now.seq,
            version=now.version,
            why="working-state.set",
            idempotency=idempotency,
        )
        stored: dict[str, Any] = (await services.submit(write)).value
        return stored

    return await retry_while_stale(attempt, keyed_lock("state", f"{space}/{thread}"))
