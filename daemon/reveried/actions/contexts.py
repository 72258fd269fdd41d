"""Assemble contexts, read and set working states; the newest states are cached."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from reverie import wire
from reverie.context.inputs import Limits
from reverie.errors import Conflict
from reverie.models import WorkingState
from reverie.store import Reader
from reverie.usecases import contexts, working_state
from reverie.usecases.by import By
from reverie.usecases.follow import Kept
from reverie.usecases.working_state import StateJob, StatePlan
from reveried.actions import projects
from reveried.drive import write
from reveried.execute import decide, read, retry_while_stale, stored_answer
from reveried.locks import keyed_lock
from reveried.services import Services

RECALL_LINES = 10  # memories that are offered to a context; its budget may show fewer
CACHED_MAX = 500  # states
CACHED_BYTES_MAX = 8_000_000  # of all of them; most have some kilobytes, that of a thread with long messages many

ThreadKey: TypeAlias = tuple[str, str]
"""Space and thread id."""

Versions: TypeAlias = tuple[Any, ...]
"""The operations that last wrote what a state is made from: `reverie.usecases.working_state.versions`."""


class StateCache(Kept):
    """LRU cache of the newest working state of each thread, bounded by bytes; thread-safe."""

    def __init__(self) -> None:
        self._plans: OrderedDict[ThreadKey, tuple[Versions, StatePlan]] = OrderedDict()
        self._sizes: dict[ThreadKey, int] = {}  # in MessagePack
        self._bytes = 0
        self._deleted: OrderedDict[ThreadKey, int] = OrderedDict()  # by thread the operation that deleted it
        self._lock = threading.Lock()

    def get(self, key: ThreadKey) -> tuple[Versions, StatePlan] | None:
        """Return the cached working state of a thread with the versions that it was made from, or None."""
        with self._lock:
            cached = self._plans.get(key)
            if cached is not None:
                self._plans.move_to_end(key)
            return cached

    def put(self, key: ThreadKey, versions: Versions, plan: StatePlan) -> None:
        """Cache a state in place of the thread's previous one; those that were used least recently are dropped.

        One of a thread that was deleted meanwhile is not cached; one that alone is larger than all may be, is.
        """
        size = len(msgspec.msgpack.encode(plan))
        with self._lock:
            if (versions[0] or 0) <= self._deleted.get(key, -1):
                return
            self._drop(key)
            self._plans[key] = (versions, plan)
            self._sizes[key] = size
            self._bytes += size
            while len(self._plans) > CACHED_MAX or (self._bytes > CACHED_BYTES_MAX and len(self._plans) > 1):
                self._drop(next(iter(self._plans)))

    def remove(self, key: ThreadKey, operation: int) -> None:
        """Drop the state of a thread that `operation` deleted; no state from before the deletion is cached later."""
        with self._lock:
            self._drop(key)
            self._deleted[key] = operation
            self._deleted.move_to_end(key)
            if len(self._deleted) > CACHED_MAX:
                self._deleted.popitem(last=False)

    def forget(self, space: str) -> None:
        """Drop the states of a space's threads."""
        with self._lock:
            for key in [key for key in self._plans if key[0] == space]:
                self._drop(key)

    def _drop(self, key: ThreadKey) -> None:
        """Drop the cached state of a thread, if there is one."""
        self._plans.pop(key, None)
        self._bytes -= self._sizes.pop(key, 0)


async def state(services: Services, space: str, thread_id: str, *, bulk: bool = False) -> StatePlan:
    """Return the thread's working state as of its last message, from the cache where nothing changed. Raises NotFound.

    The newest cached plan's checkpoint is where reading starts; where the new entries change the meaning of earlier
    ones, the whole thread is read.
    """
    key = (space, thread_id)

    def cached_or_job(reader: Reader) -> tuple[Versions, StatePlan | None, StateJob | None]:
        versions = working_state.versions(reader, thread_id)
        cached = services.made(StateCache).get(key)
        if cached is not None and cached[0] == versions:
            return versions, cached[1], None
        checkpoint = cached[1].checkpoint if cached is not None else None
        return versions, None, working_state.snapshot(reader, thread_id, checkpoint)

    versions, cached, job = await read(services, space, cached_or_job)
    if cached is not None:
        return cached
    assert job is not None
    try:
        plan = await decide(services, "state", job, working_state.StatePlan, bulk=bulk)
    except Conflict as conflict:
        if not conflict.details.get("stale"):
            raise
        job = await read(services, space, partial(working_state.snapshot, thread_id=thread_id))
        plan = await decide(services, "state", job, working_state.StatePlan, bulk=bulk)
    services.made(StateCache).put(key, versions, plan)
    return plan


def given_fields(request: msgspec.Struct) -> dict[str, Any]:
    """Return the fields of a working state that a request names, by their names in `WorkingState`."""
    names = wire.SetWorkingState.__struct_fields__
    fields = ((name, getattr(request, name)) for name in names)
    return {name: field for name, field in fields if field is not msgspec.UNSET}


async def set_state(
    services: Services, by: By, thread_id: str, fields: Mapping[str, Any], *, replace_all: bool
) -> wire.WorkingState:
    """Set fields of the working state in the agent's words and return it; `replace_all` empties the others.

    Raises:
        NotFound: no such thread.
        ValidationError: more words than a working state may have.
    """

    async def attempt() -> WorkingState:
        replay = await stored_answer(services, by.space, by.key, WorkingState)
        if replay is not None:
            return replay
        plan = await state(services, by.space, thread_id)
        after = working_state.with_fields(
            plan.state, fields, seq=plan.seq, at=services.clock(), replace_all=replace_all
        )
        return await write(services, working_state.put, by, thread_id, after, seq=plan.seq, version=plan.version)

    after = await retry_while_stale(attempt, keyed_lock("state", f"{by.space}/{thread_id}"))
    return working_state.state_answer(after)


async def context(services: Services, space: str, thread_id: str, asked: wire.ContextQuery) -> wire.ContextAnswer:
    """Return the request fragment of a thread with the cost of each tier.

    Raises:
        NotFound: no such thread.
        TokenBudgetExceeded: the open turn alone is larger than `max_tokens`.
    """
    job = await context_job(services, space, thread_id, asked)
    return await decide(services, "context", job, wire.ContextAnswer)


async def context_text(
    services: Services,
    space: str,
    thread_id: str,
    asked: wire.ContextQuery,
    *,
    written_max_chars: int | None = None,
    index: str | None = None,
) -> str:
    """Return the request of a thread's context as text, or its tiers: those named, in at most `max_chars` characters.

    `written_max_chars` takes their place where a model wrote the summary.

    `index` takes the place of the memory index that the thread was opened with, for a reader who is not in it.

    Raises:
        NotFound: no such thread.
        TokenBudgetExceeded: the open turn alone is larger than `max_tokens`, and no `max_chars` is given.
    """
    job = await context_job(services, space, thread_id, asked, sized=asked.max_chars is not None)
    if index is not None:
        job = replace(job, index=index or None)
    text = contexts.TextJob(job, asked.tier_names, asked.max_chars, written_max_chars)
    return (await decide(services, "context-text", text, wire.ContextText)).text


async def context_job(
    services: Services, space: str, thread_id: str, asked: wire.ContextQuery, *, sized: bool = False
) -> contexts.ContextJob:
    """Return the input from which a thread's context is assembled: state, recalled memories, sizes. Raises NotFound.

    The query asked for replaces the one that is derived from the state.
    """
    config = services.config
    plan = await state(services, space, thread_id)
    visible = projects.visible(services, space, projects.thread_project(services, space, thread_id))
    recall = await asyncio.to_thread(
        services.recall.lines, space, asked.query or plan.query, limit=RECALL_LINES, projects=visible
    )
    limits = Limits(
        window=config.context.window,
        max_tokens=asked.max_tokens,
        preserve_messages=config.compaction.preserve_recent_messages,
        preserve_tokens=config.compaction.preserve_recent_max_tokens,
        trigger=config.context.clear_at,
    )
    snapshot = partial(
        contexts.snapshot,
        thread_id=thread_id,
        state=plan.state,
        recall=recall,
        bootstrap=config.context.bootstrap,
        limits=limits,
        placement=asked.placement,
        sized=sized,
    )
    return await read(services, space, snapshot)
