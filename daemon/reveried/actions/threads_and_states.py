"""Create threads, append to them, write notes, read and set the working state, assemble contexts."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from reverie import wire
from reverie.errors import Conflict, ReverieError, ValidationError
from reverie.models import WorkingState
from reverie.store import ThreadRecord, seal
from reverie.usecases import context_window_usage, contexts, generated_files, inherited_notes, threads, working_state
from reverie.usecases import rewind_to_branch as rewinds
from reverie.usecases.stored_entries import entry_record
from reveried.actions import project_lookup
from reveried.actions.distill import distill, start_distilling
from reveried.keyed_locks_and_shared_waits import keyed_lock
from reveried.log import logger
from reveried.snapshot_decide_and_commit import decide, read, retry_while_stale, stored_answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.models import NoteCategory
    from reverie.store import Reader
    from reverie.usecases.inherited_notes import Seed
    from reverie.usecases.working_state import StateJob, StatePlan
    from reveried.services import Services

__all__ = [
    "add_note",
    "append",
    "change",
    "context",
    "context_job",
    "context_text",
    "create",
    "given_fields",
    "opened_with",
    "rewind",
    "set_state",
    "state",
]

INLINE_BYTES = 64 * 1024  # a larger body's tokens are counted in a thread: the event loop must answer others meanwhile
RECALL_LINES = 10  # memories that are offered to a context; its budget may show fewer


async def create(
    services: Services,
    space: str,
    request: wire.CreateThread,
    *,
    agent: str | None,
    who: str,
    idempotency: tuple[str, str] | None,
) -> wire.Thread:
    """Create a thread with what it inherits: the memory index of today, the agent's last notes and digest.

    Raises:
        Conflict: the id is taken.
    """
    at, given = services.clock(), request.project
    project = None if given is None else await project_lookup.registered(services, space, given, who=who)
    index, seed = await opened_with(services, space, agent=agent, project=project)
    thread = ThreadRecord(
        id=request.id or services.new_id("thr"),
        agent=agent,
        title=_redacted(services, request.title),
        model=request.model,
        context_window=request.context_window,
        index=index,
        project=project,
        created_at=at,
        updated_at=at,
    )
    stored = (await services.submit(threads.create(space, who, thread, seed, idempotency=idempotency))).value
    return threads.thread_answer(stored, services.config.context.window)


async def opened_with(
    services: Services, space: str, *, agent: str | None, project: str | None
) -> tuple[str | None, Seed]:
    """Return the memory index, and the notes and digest, that a new thread of an agent in a project opens with."""
    index = generated_files.index_text(await project_lookup.index_entries(services, space, project))
    return index, await read(services, space, partial(inherited_notes.snapshot, agent=agent, project=project))


async def change(
    services: Services, space: str, thread_id: str, request: wire.ChangeThread, *, who: str
) -> wire.Thread:
    """Give a thread another title or project; what it was opened with stays. Raises NotFound."""
    fields: dict[str, str | None] = {}
    if request.title is not msgspec.UNSET:
        fields["title"] = _redacted(services, request.title)
    if request.project is not msgspec.UNSET:
        given = request.project
        fields["project"] = None if given is None else await project_lookup.registered(services, space, given, who=who)
    if not fields:
        raise ValidationError("nothing is to be changed", hint="give `title`, `project` or both")
    stored = (await services.submit(threads.change(space, who, thread_id, fields))).value
    return threads.thread_answer(stored, services.config.context.window)


async def append(
    services: Services,
    space: str,
    thread_id: str,
    request: wire.AppendMessages,
    *,
    size: int,
    who: str,
    idempotency: tuple[str, str] | None,
) -> wire.Appended:
    """Append messages, and distill the thread where it has passed its threshold; `size` is the body's, in bytes.

    A repeated request is answered as it was committed: it does not distill.

    Raises:
        NotFound: no such thread.
        ValidationError: a message without content, or with a time that is none.
        Conflict: `expected_seq` was given, and another writer appended first.
    """
    at = services.clock()
    messages = [(message.role, message.content) for message in request.messages]
    said_at = [message.at for message in request.messages]
    if size <= INLINE_BYTES:
        entries = threads.entries_of(messages, request.usage, at, said_at)
    else:
        entries = await asyncio.to_thread(threads.entries_of, messages, request.usage, at, said_at)
    write = threads.append(
        space,
        who,
        thread_id,
        entries,
        [seal(entry_record(entry), services.redactor) for entry in entries],
        at=at,
        window=services.config.context.window,
        edits=request.applied_edits,
        expected_seq=request.expected_seq,
        idempotency=idempotency,
    )
    done = await services.submit(write)
    # Answers that an earlier version stored have no `applied`, so it is always taken from the request.
    answer = replace(done.value, applied=context_window_usage.edit_names(request.applied_edits))
    if done.replayed:
        return answer
    services.background_state.schedule(services, space, thread_id)
    return await _distilled_if_full(services, space, thread_id, answer, who=who)


async def rewind(
    services: Services,
    space: str,
    thread_id: str,
    request: wire.RewindThread,
    *,
    who: str,
    idempotency: tuple[str, str] | None,
) -> wire.Rewound:
    """Take a thread back to an earlier entry. Raises NotFound, ValidationError and Conflict."""
    write = rewinds.rewind(
        space,
        who,
        thread_id,
        request.to_seq,
        redactor=services.redactor,
        window=services.config.context.window,
        expected_seq=request.expected_seq,
        idempotency=idempotency,
    )
    answer = (await services.submit(write)).value
    services.background_state.schedule(services, space, thread_id)
    return answer


async def _distilled_if_full(
    services: Services, space: str, thread_id: str, answer: wire.Appended, *, who: str
) -> wire.Appended:
    """Return the answer of an append after distilling the thread, where it is full and its turn is complete.

    Within a turn no thread is distilled, however full it is: that waits for the reply that ends the turn. The messages
    are committed already, so a failed distillation is not an error of the append: a later append tries again. With a
    model it is a job that the append does not wait for.
    """
    config = services.config.context
    with services.store.reader(space) as reader:
        is_full = context_window_usage.is_full(
            threads.get(reader, thread_id),
            window=config.window,
            distil_at=config.distil_at,
            absolute_cap=config.absolute_cap,
        )
        if not is_full or threads.is_turn_open(reader, thread_id):
            return answer
    distilled: wire.DistilledNow | None = None
    if services.models is not None:
        return replace(answer, distilled=start_distilling(services, space, thread_id, who=who))
    try:
        distillation = await distill(services, space, thread_id, who=who)
        distilled = wire.DistilledNow(archive=distillation.archive, number=distillation.number)
    except Conflict:  # nothing is old enough, or another caller distills it
        pass
    except ReverieError as error:
        logger("reveried.append").warning("a full thread was not distilled", code=error.code)
    with services.store.reader(space) as reader:
        thread = threads.get(reader, thread_id)
    return replace(answer, context=context_window_usage.context_use(thread, config.window), distilled=distilled)


async def add_note(
    services: Services,
    space: str,
    thread_id: str,
    *,
    content: str,
    category: NoteCategory,
    who: str,
    idempotency: tuple[str, str] | None,
) -> wire.Note:
    """Write a note into a thread; returned as stored. Raises NotFound."""
    write = threads.add_note(
        space,
        who,
        thread_id,
        services.new_id("note"),
        content=services.redactor.text(content),
        category=category,
        at=services.clock(),
        idempotency=idempotency,
    )
    note = (await services.submit(write)).value
    return replace(note, thread=note.thread or wire.ABSENT)


async def state(services: Services, space: str, thread_id: str, *, bulk: bool = False) -> StatePlan:
    """Return the thread's working state as of its last message, from the cache where nothing changed. Raises NotFound.

    The newest cached plan's checkpoint is where reading starts; where the new entries change the meaning of earlier
    ones, the whole thread is read.
    """
    key = (space, thread_id)

    def cached_or_job(reader: Reader) -> tuple[tuple[Any, ...], StatePlan | None, StateJob | None]:
        versions = working_state.versions(reader, thread_id)
        cached = services.states.get(key)
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
    services.states.put(key, versions, plan)
    return plan


def given_fields(request: msgspec.Struct) -> dict[str, Any]:
    """Return the fields of a working state that a request names, by their names in `WorkingState`."""
    names = wire.SetWorkingState.__struct_fields__
    fields = ((name, getattr(request, name)) for name in names)
    return {name: field for name, field in fields if field is not msgspec.UNSET}


async def set_state(
    services: Services,
    space: str,
    thread_id: str,
    fields: Mapping[str, Any],
    *,
    replace_all: bool,
    who: str,
    idempotency: tuple[str, str] | None = None,
) -> wire.WorkingState:
    """Set fields of the working state in the agent's own words; `replace_all` empties the others.

    Raises:
        NotFound: no such thread.
        ValidationError: more words than a working state may have.
    """
    given, _ = services.redactor.value(dict(fields))
    assert isinstance(given, dict)

    async def attempt() -> WorkingState:
        replay = await stored_answer(services, space, idempotency, WorkingState)
        if replay is not None:
            return replay
        plan = await state(services, space, thread_id)
        after = working_state.with_fields(plan.state, given, seq=plan.seq, at=services.clock(), replace_all=replace_all)
        write = working_state.commit(
            space,
            who,
            thread_id,
            after,
            seq=plan.seq,
            version=plan.version,
            why="working-state.set",
            idempotency=idempotency,
        )
        return (await services.submit(write)).value

    return working_state.state_answer(await retry_while_stale(attempt, keyed_lock("state", f"{space}/{thread_id}")))


async def context(
    services: Services,
    space: str,
    thread_id: str,
    *,
    query: str | None,
    placement: contexts.Placement | None,
    max_tokens: int | None,
) -> wire.ContextAnswer:
    """Return the request fragment of a thread with the cost of each tier; `query` replaces the derived recall query.

    Raises:
        NotFound: no such thread.
        TokenBudgetExceeded: the open turn alone is larger than `max_tokens`.
    """
    job = await context_job(services, space, thread_id, query=query, placement=placement, max_tokens=max_tokens)
    return await decide(services, "context", job, wire.ContextAnswer)


async def context_text(
    services: Services,
    space: str,
    thread_id: str,
    *,
    query: str | None = None,
    max_tokens: int | None = None,
    max_chars: int | None = None,
    tiers: Sequence[str] | None = None,
) -> str:
    """Return the context of a thread as one text: the tiers named, else all, in at most `max_chars` characters.

    Raises:
        NotFound: no such thread.
        TokenBudgetExceeded: the open turn alone is larger than `max_tokens`, and no `max_chars` is given.
    """
    sized = max_chars is not None
    job = await context_job(services, space, thread_id, query=query, max_tokens=max_tokens, sized=sized)
    text = contexts.TextJob(job, tiers=None if tiers is None else list(tiers), chars_max=max_chars)
    return (await decide(services, "context-text", text, wire.ContextText)).text


async def context_job(
    services: Services,
    space: str,
    thread_id: str,
    *,
    query: str | None,
    placement: contexts.Placement | None = "late",
    max_tokens: int | None = None,
    sized: bool = False,
) -> contexts.ContextJob:
    """Return the snapshot of a thread's context: its working state, and what is recalled for it. Raises NotFound."""
    config = services.config
    plan = await state(services, space, thread_id)
    visible = project_lookup.visible(project_lookup.thread_project(services, space, thread_id))
    recall = await asyncio.to_thread(
        services.recall.lines, space, query or plan.query, limit=RECALL_LINES, projects=visible
    )
    room = contexts.Room(
        window=config.context.window,
        preserve_messages=config.compaction.preserve_recent_messages,
        preserve_tokens=config.compaction.preserve_recent_max_tokens,
        clear_at=config.context.clear_at,
    )
    return await read(
        services,
        space,
        partial(
            contexts.snapshot,
            thread_id=thread_id,
            state=plan.state,
            recall=recall,
            bootstrap=config.context.bootstrap,
            room=room,
            max_tokens=max_tokens,
            placement=placement,
            sized=sized,
        ),
    )


def _redacted(services: Services, text: str | None) -> str | None:
    return None if text is None else services.redactor.text(text)
