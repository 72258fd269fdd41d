"""A thread's context and its working state: gathered from a snapshot, decided in a child."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from reverie.errors import Conflict
from reverie.usecases import contexts, incremental_state
from reveried.execution import decide

if TYPE_CHECKING:
    from reveried.services import Services

__all__ = ["context", "messages", "state"]

RECALL_LINES = 10


async def state(services: Services, space: str, thread: str, *, bulk: bool = False) -> incremental_state.StatePlan:
    """The thread's working state as of its last message. Raises NotFound."""
    mark, known, job = await asyncio.to_thread(_known, services, space, thread)
    if known is not None:
        return known
    assert job is not None
    try:
        plan = await decide(services, "state", job, incremental_state.StatePlan, bulk=bulk)
    except Conflict as conflict:
        if not conflict.details.get("stale"):
            raise
        job = await asyncio.to_thread(_whole, services, space, thread)
        plan = await decide(services, "state", job, incremental_state.StatePlan, bulk=bulk)
    services.states.put((space, thread), mark, plan)
    return plan


async def messages(services: Services, space: str, thread: str, *, after: int, limit: int) -> dict[str, Any]:
    """One page of the thread's verbatim messages. Raises NotFound."""
    job = await asyncio.to_thread(_messages_job, services, space, thread, after=after, limit=limit)
    answer: dict[str, Any] = await decide(services, "messages", job, dict)
    return answer


async def context(
    services: Services,
    space: str,
    thread: str,
    *,
    query: str | None,
    placement: contexts.Placement | None,
    max_tokens: int | None,
) -> dict[str, Any]:
    """The request fragment of api.md 2.1 with its bill.

    Raises:
        NotFound: no such thread.
        TokenBudgetExceeded: the open turn alone is larger than `max_tokens`.
    """
    now = await state(services, space, thread)
    hits = await asyncio.to_thread(services.recall.lines, space, query or now.query, limit=RECALL_LINES)
    job = await asyncio.to_thread(
        _context_job, services, space, thread, now=now, recall=hits, placement=placement, max_tokens=max_tokens
    )
    answer: dict[str, Any] = await decide(services, "context", job, dict)
    return answer


def _room(services: Services) -> contexts.Room:
    config = services.config
    return contexts.Room(
        window=config.context.window,
        preserve_messages=config.compaction.preserve_recent_messages,
        preserve_tokens=config.compaction.preserve_recent_max_tokens,
        clear_at=config.context.clear_at,
    )


def _known(
    services: Services, space: str, thread: str
) -> tuple[tuple[Any, ...], incremental_state.StatePlan | None, incremental_state.StateJob | None]:
    """What the thread's state is made from, as a mark; and the state made from just that before, or else a job."""
    with services.store.reader(space) as reader:
        mark = incremental_state.state_mark(reader, thread)
        before = services.states.get((space, thread))
        if before is not None and before[0] == mark:
            return mark, before[1], None
        return (
            mark,
            None,
            incremental_state.snapshot(reader, thread, before[1].followed if before is not None else None),
        )


def _whole(services: Services, space: str, thread: str) -> incremental_state.StateJob:
    with services.store.reader(space) as reader:
        return incremental_state.snapshot(reader, thread)


def _context_job(
    services: Services,
    space: str,
    thread: str,
    *,
    now: incremental_state.StatePlan,
    recall: list[tuple[str, str, str]],
    placement: contexts.Placement | None,
    max_tokens: int | None,
) -> contexts.ContextJob:
    with services.store.reader(space) as reader:
        return contexts.snapshot(
            reader,
            thread,
            state=now.state,
            recall=recall,
            bootstrap=services.config.context.bootstrap,
            room=_room(services),
            max_tokens=max_tokens,
            placement=placement,
        )


def _messages_job(services: Services, space: str, thread: str, *, after: int, limit: int) -> contexts.MessagesJob:
    with services.store.reader(space) as reader:
        return contexts.snapshot_messages(reader, thread, after=after, limit=limit)
