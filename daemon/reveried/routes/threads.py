"""`/v1/threads` and `/v1/imports`: threads and their messages; a transcript, imported chunk by chunk."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from reverie import wire
from reverie.api.threads import Threads
from reverie.errors import Forbidden, TooLarge, ValidationError
from reverie.store import PendingPurge, ThreadRecord
from reverie.usecases import message_pages
from reverie.usecases import threads as use_threads
from reveried.actions import imports, projects, purge, threads, trust
from reveried.actions.contexts import StateCache
from reveried.drive import write
from reveried.execute import read
from reveried.follower import Follower
from reveried.http.route import reads, serves
from reveried.routes.purge import run_purge
from reveried.session_texts import SessionTexts
from reveried.supervise import failures_logged
from reveried.working_states import BackgroundState

if TYPE_CHECKING:
    from reverie.store import Reader
    from reveried.http.types import Call


@serves(Threads.create_thread)
async def create(call: Call) -> wire.Thread:
    """Create a thread; its contexts begin with the memory index of now, its agent's last notes and digest."""
    request = call.into(wire.CreateThread)
    return await threads.create(call.services, call.by, request, agent=call.agent_of(request.agent))


@serves(Threads.threads)
async def list_threads(call: Call) -> wire.Page[wire.Thread]:
    """List the threads of the space or of one project, by id or the newest first."""
    window = call.services.config.context.window
    query = call.query_as(wire.ThreadsQuery)
    project: str | None = None
    if query.project is not None:
        project = await projects.known_project(call.services, call.space, query.project)
        if project is None:  # a folder that no thread has worked in
            return wire.Page[wire.Thread]([])
    page = use_threads.newest_page if query.order == "newest" else use_threads.page
    collect = partial(page, window=window, limit=query.limit, after=query.after, project=project, main=query.main)
    return await read(call.services, call.space, collect)


@reads(Threads.thread)
def get_thread(reader: Reader, call: Call) -> wire.Thread:
    """Return one thread."""
    return use_threads.thread_answer(use_threads.get(reader, call.params["id"]), call.services.config.context.window)


@serves(Threads.change_thread)
async def change_thread(call: Call) -> wire.Thread:
    """Change a thread's title, project or window; what it was opened with stays."""
    request = call.into(wire.ChangeThread)
    return await threads.change(call.services, call.by, call.params["id"], request)


@serves(Threads.delete_thread)
async def delete_thread(call: Call) -> wire.ThreadDeleted:
    """Delete a thread with its messages and archives; `confirm` must repeat its id.

    What was learnt from it stays, unless `purge` removes that too, and its words from everywhere. An agent's token
    deletes the threads that it began or imported alone: nothing restores one.
    """
    thread_id, query = call.params["id"], call.query_as(wire.DeleteThreadQuery)
    if query.keep_memories and not query.purge:
        raise ValidationError(
            "`keepMemories` belongs to `purge`: without it what was learnt stays anyway",
            hint="add purge=true, or leave it out",
            field="keepMemories",
        )
    if call.agent is not None:
        thread = await read(call.services, call.space, lambda reader: use_threads.get(reader, thread_id))
        if (thread.owner or thread.agent) != call.agent:
            raise Forbidden(
                "an agent's token deletes its own threads only",
                hint=f"a person deletes it with `reverie forget {thread_id}`",
            )
    if query.confirm != thread_id:
        others = ("&purge=true" if query.purge else "") + ("&keepMemories=true" if query.keep_memories else "")
        raise ValidationError(
            "Deleting a thread removes every message in it, and cannot be undone.",
            hint=f"Repeat its id to confirm: DELETE /v1/threads/{thread_id}?confirm={thread_id}{others}",
            field="confirm",
        )
    if query.purge:
        answer = await _purge_thread(call, PendingPurge("thread", thread_id, query.keep_memories))
        _forget(call, thread_id, int(answer.operation or 0))
        return answer
    deletion = await purge.delete_thread(call.services, call.by, thread_id)
    _forget(call, thread_id, deletion.operation or 0)
    operation = str(deletion.operation) if deletion.operation is not None else None
    return wire.ThreadDeleted(id=thread_id, messages=deletion.value.messages, operation=operation)


def _forget(call: Call, thread_id: str, operation: int) -> None:
    """Stop following a deleted thread's transcript, and drop its cached working state and hook texts."""
    call.services.made(Follower).leave(call.space, thread_id)
    call.services.made(StateCache).remove((call.space, thread_id), operation)
    call.services.made(SessionTexts).remove(call.space, thread_id)


async def _purge_thread(call: Call, target: PendingPurge) -> wire.ThreadDeleted:
    """Purge a thread, also one that was deleted before and of which history or archives remain."""
    with call.services.store.reader(call.space) as reader:
        thread = reader.load(ThreadRecord, (target.key,))
    purged = await run_purge(call, target)
    messages = 0 if thread is None else thread.message_count
    return wire.ThreadDeleted(id=target.key, messages=messages, operation=purged.operation, purged=purged)


@serves(Threads.append)
async def append(call: Call) -> wire.Appended:
    """Append messages; a thread that has grown past its threshold is distilled at once."""
    thread, request = call.params["id"], call.into(wire.AppendMessages)
    answer = await threads.append(call.services, call.by, thread, request, size=len(call.body))
    said = ((message.content, message.at) for message in request.messages)
    with failures_logged("attribution", thread=thread):  # the messages are committed
        call.services.made(BackgroundState).schedule(call.services, call.space, thread)
        await trust.attribute_messages(call.services, call.space, said, who=f"thread:{thread}")
    return answer


@serves(Threads.messages)
async def messages(call: Call) -> wire.Page[wire.StoredMessage]:
    """Return a page of the verbatim messages of the main line, distilled ones too: distilling deletes nothing."""
    query = call.query_as(wire.MessagesQuery)
    return await threads.message_page(
        call.services,
        call.space,
        call.params["id"],
        after=query.after or 0,
        limit=query.limit or query.last or wire.LIMIT_DEFAULT,
        last=query.last,
    )


@reads(Threads.entries)
def entries(reader: Reader, call: Call) -> wire.Page[wire.StoredEntry]:
    """Return a page of the thread's entries: the lines as they were imported, and the messages as appended."""
    query = call.query_as(wire.SequenceQuery)
    return message_pages.entries(reader, call.params["id"], after=query.after or 0, limit=query.limit)


@serves(Threads.rewind)
async def rewind(call: Call) -> wire.Rewound:
    """Rewind the thread to an earlier entry; later entries leave the main line, and undo brings them back."""
    services, thread, request = call.services, call.params["id"], call.into(wire.RewindThread)
    answer = await write(
        services,
        use_threads.rewind,
        call.by,
        thread,
        request.to_seq,
        redactor=services.redactor,
        window=services.config.context.window,
        expected_seq=request.expected_seq,
    )
    services.made(BackgroundState).schedule(services, call.space, thread)
    return answer


@serves(Threads.start_import, once=True)
async def begin_import(call: Call) -> wire.ImportPlace:
    """Open the import of a session's file, and return the position from which to send it."""
    request = call.into(wire.StartImport)
    if request.again and call.agent is not None:
        raise Forbidden("An agent may not bring back what a person deleted.", hint="Ask the person to run the import.")
    of = request.client, request.session, request.source
    return await imports.begin(call.services, call.space, *of, again=request.again, owner=call.agent)


@serves(Threads.send_chunk)
async def chunk(call: Call) -> wire.ChunkAnswer:
    """Append the whole lines of a chunk; the answer has the position from which to go on."""
    if len(call.body) > wire.CHUNK_MAX_BYTES:
        raise TooLarge(
            f"a chunk holds at most {wire.CHUNK_MAX_BYTES} bytes, not {len(call.body)}", hint="send smaller chunks"
        )
    query = call.query_as(wire.ChunkQuery)
    return await imports.take_chunk(
        call.services,
        call.space,
        call.params["id"],
        offset=query.offset,
        first_line=query.first_line,
        data=call.body,
        final=query.final,
    )
