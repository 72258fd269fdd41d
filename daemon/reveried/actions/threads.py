"""Create and change threads, and append messages to them."""

from __future__ import annotations

import asyncio
import dataclasses
from functools import partial

import msgspec
from msgspec.structs import replace

from reverie import wire
from reverie.errors import Conflict, ReverieError, ValidationError
from reverie.models import Entry
from reverie.store import Done, Sealed, ThreadRecord, seal
from reverie.usecases import inherited_notes, message_pages, projections, threads, usage
from reverie.usecases.by import By
from reverie.usecases.entries import entry_record
from reverie.usecases.inherited_notes import Seed
from reverie.usecases.message_pages import OutlineJob, OutlinePlan
from reveried.actions import projects
from reveried.actions.learn import distill, start_distilling
from reveried.drive import commit_since, while_outdated, write
from reveried.execute import decide, read
from reveried.locks import keyed_lock
from reveried.log import logger
from reveried.services import Services
from reveried.supervise import failures_logged

INLINE_BYTES = 64 * 1024  # a larger body's entries are made and sealed in a thread: the event loop must answer others


async def create(services: Services, by: By, request: wire.CreateThread, *, agent: str | None) -> wire.Thread:
    """Create a thread with what it inherits: the memory index of today, the agent's last notes and digest.

    Raises:
        Conflict: the id is taken.
    """
    at, given = services.clock(), request.project
    project = None if given is None else await projects.registered(services, by, given)
    index, seed = await opened_with(services, by.space, agent=agent, project=project)
    thread = ThreadRecord(
        id=request.id or services.new_id("thr"),
        agent=agent,
        title=request.title,
        model=request.model,
        context_window=request.context_window,
        index=index,
        project=project,
        created_at=at,
        updated_at=at,
    )
    stored = await write(services, threads.create, by, thread, seed)
    return threads.thread_answer(stored, services.config.context.window)


async def opened_with(
    services: Services, space: str, *, agent: str | None, project: str | None
) -> tuple[str | None, Seed]:
    """Return the memory index, or None, and the notes and digest that an agent's new thread in a project opens with."""
    index = projections.index_text(await projects.index_entries(services, space, project))
    return index, await read(services, space, partial(inherited_notes.snapshot, agent=agent, project=project))


async def change(services: Services, by: By, thread_id: str, request: wire.ChangeThread) -> wire.Thread:
    """Give a thread another title, project or window; what it was opened with stays. Raises NotFound."""
    fields: dict[str, str | int | None] = {}
    if request.title is not msgspec.UNSET:
        fields["title"] = request.title
    if request.project is not msgspec.UNSET:
        given = request.project
        fields["project"] = None if given is None else await projects.registered(services, by, given)
    if request.context_window is not msgspec.UNSET:
        fields["context_window"] = request.context_window
    if not fields:
        raise ValidationError("nothing is to be changed", hint="give `title`, `project` or `contextWindow`")
    stored = await write(services, threads.change, by, thread_id, fields)
    return threads.thread_answer(stored, services.config.context.window)


async def append(
    services: Services, by: By, thread_id: str, request: wire.AppendMessages, *, size: int
) -> wire.Appended:
    """Append messages, distill a thread that is full, and return the entries' numbers; `size` is the body's in bytes.

    A repeated request is answered as it was committed: it does not distill.

    Raises:
        NotFound: no such thread.
        ValidationError: a message without content, or with a time that is none.
        Conflict: `expected_seq` was given, and another writer appended first.
    """
    messages = [(message.role, message.content) for message in request.messages]
    said_at = [message.at for message in request.messages]
    at, redactor = services.clock(), services.redactor

    def made() -> tuple[list[Entry], list[Sealed]]:
        entries = threads.entries_of(messages, request.usage, at, said_at)
        return entries, [seal(entry_record(entry), redactor) for entry in entries]

    async def attempt(since: int) -> Done[wire.Appended]:
        entries, sealed = made() if size <= INLINE_BYTES else await asyncio.to_thread(made)
        return await commit_since(
            services,
            since,
            threads.append,
            by,
            thread_id,
            entries,
            sealed,
            window=services.config.context.window,
            edits=request.applied_edits,
            expected_seq=request.expected_seq,
        )

    done = await while_outdated(services, attempt)
    # Answers that an earlier version stored have no `applied`, so it is always taken from the request.
    answer = replace(done.value, applied=usage.edit_names(request.applied_edits))
    if done.replayed:
        return answer
    # The messages are committed: an error from here on would have the caller send them again.
    with failures_logged("append", thread=thread_id):
        answer = await _distilled_if_full(services, dataclasses.replace(by, key=None), thread_id, answer)
    return answer  # noqa: RET504 - after an error, which `with` logs, it is the first answer


async def _distilled_if_full(services: Services, by: By, thread_id: str, answer: wire.Appended) -> wire.Appended:
    """Return the answer of an append after distilling the thread, where it is full and its turn is complete.

    Within a turn no thread is distilled, however full it is: that waits for the reply that ends the turn. The messages
    are committed already, so a failed distillation is not an error of the append: a later append tries again. With a
    model it is a job that the append does not wait for.
    """
    config = services.config.context
    with services.store.reader(by.space) as reader:
        is_full = usage.is_full(
            threads.get(reader, thread_id),
            window=config.window,
            distil_at=config.distil_at,
            absolute_cap=config.absolute_cap,
        )
        if not is_full or threads.is_turn_open(reader, thread_id):
            return answer
    distilled: wire.DistilledNow | None = None
    if services.models is not None:
        return replace(answer, distilled=start_distilling(services, by, thread_id))
    try:
        distillation = await distill(services, by, thread_id)
        distilled = wire.DistilledNow(archive=distillation.archive, number=distillation.number)
    except Conflict:  # nothing is old enough, or another caller distills it
        pass
    except ReverieError as error:
        logger("reveried.append").warning("a full thread was not distilled", code=error.code)
    with services.store.reader(by.space) as reader:
        thread = threads.get(reader, thread_id)
    return replace(
        answer,
        context=usage.context_use(thread, config.window),
        distilled=distilled,
    )


PAGE_INLINE_BYTES = (
    1_000_000  # of sealed entries; opening as many takes a few milliseconds, less than a cold compute process
)
EXTEND_AFTER = 128  # entries behind the outline at which it is extended in the background


async def message_page(
    services: Services, space: str, thread_id: str, *, after: int, limit: int, last: int | None = None
) -> wire.Page[wire.StoredMessage]:
    """Return one page of a thread's messages, word for word; with `last` of its last so many only. Raises NotFound."""
    snapshot = partial(message_pages.snapshot_page, thread_id=thread_id, after=after, limit=limit, last=last)
    job = await read(services, space, snapshot)
    while job is None:  # again where the outline was removed meanwhile
        await extend_outline(services, space, thread_id)
        job = await read(services, space, partial(snapshot, outlined=True))
    if job.size <= PAGE_INLINE_BYTES:
        return await asyncio.to_thread(message_pages.page, job)
    return await decide(services, "messages", job, wire.Page[wire.StoredMessage])


async def extend_outline(services: Services, space: str, thread_id: str, *, bulk: bool = False) -> None:
    """Bring a thread's outline up to date; with `bulk` only where EXTEND_AFTER entries are new. Raises NotFound."""
    async with keyed_lock("outline", f"{space}/{thread_id}"):
        if bulk and await read(services, space, partial(message_pages.pending, thread_id=thread_id)) < EXTEND_AFTER:
            return
        while not await _extended(services, space, thread_id, bulk=bulk):
            pass  # an ordinary outcome: what it was made from was removed meanwhile


async def _extended(services: Services, space: str, thread_id: str, *, bulk: bool) -> bool:
    """Return whether a thread's outline was brought up to date; False where it is stale. Raises NotFound."""
    snapshot = partial(message_pages.snapshot_outline, thread_id=thread_id)
    plan = await _planned(services, await read(services, space, snapshot), bulk=bulk)
    if plan.parts is None:
        plan = await _planned(services, await read(services, space, partial(snapshot, whole=True)), bulk=bulk)
    for step in message_pages.commit_steps(plan, space):
        if not (await services.submit(step, bulk=True)).value:
            return False
    return True


async def _planned(services: Services, job: OutlineJob, *, bulk: bool) -> OutlinePlan:
    if job.size <= PAGE_INLINE_BYTES:
        return await asyncio.to_thread(message_pages.plan_outline, job)
    return await decide(services, "outline", job, OutlinePlan, bulk=bulk)
