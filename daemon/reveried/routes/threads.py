"""`/v1/threads`: conversations and the messages in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import tokens, wire
from reverie.errors import ValidationError
from reverie.store import Kind, seal
from reverie.usecases import threads
from reverie.usecases import usage as usage_of
from reverie.usecases.records import entry_record
from reveried.actions import append as appending
from reveried.actions import contexts
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.routes.listing import page

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES", "shown"]


def shown(call: Call, record: dict[str, Any]) -> dict[str, Any]:
    """A thread as the wire shows it."""
    return {
        "id": record["id"],
        "agent": record["agent"],
        "title": record["title"],
        "model": record["model"],
        "contextWindow": record["contextWindow"],
        "source": record["source"],
        "messageCount": record["messageCount"],
        "tokens": record["tokens"],
        "distillations": record["distillations"],
        "context": usage_of.context_use(record, call.services.config.context.window),
        "cleared": record.get("cleared"),
        "createdAt": record["createdAt"],
        "updatedAt": record["updatedAt"],
        "tokenizer": tokens.TOKENIZER,
    }


async def create(call: Call) -> Reply:
    """Opens a thread. What it begins with is put there now: the memory index, its agent's last notes and digest."""
    asked = call.into(wire.CreateThread)
    services = call.services
    at = services.clock()
    agent = asked.agent or call.agent
    record = threads.blank(
        asked.id or services.new_id("thr"),
        at,
        agent=agent,
        title=asked.title,
        model=asked.model,
        context_window=asked.context_window,
        index=await appending.index_text(services, call.space),
    )
    begins_with = await appending.begins_with(services, call.space, agent)
    write = threads.create(call.space, call.who, record, begins_with, idempotency=call.idempotency)
    made = (await services.submit(write)).value
    return Reply(shown(call, made), status=201, headers={"location": f"/v1/threads/{made['id']}"})


async def list_threads(call: Call) -> Reply:
    """Every thread of the space, by id."""
    return await page(call, Kind.THREAD, lambda _, record: shown(call, record))


async def get_thread(call: Call) -> Reply:
    """One thread."""
    with call.services.store.reader(call.space) as reader:
        return Reply(shown(call, threads.get(reader, call.params["id"])))


async def delete_thread(call: Call) -> Reply:
    """Removes a thread, its messages and everything derived only from them. `confirm` must repeat its id."""
    thread_id = call.params["id"]
    if call.query.get("confirm") != thread_id:
        raise ValidationError(
            "Deleting a thread removes every message in it, and cannot be undone.",
            hint=f"Repeat its id to confirm: DELETE /v1/threads/{thread_id}?confirm={thread_id}",
            field="confirm",
        )
    while True:
        step = await call.services.submit(threads.delete(call.space, call.who, thread_id))
        if step.value["done"]:
            break
    operation = str(step.operation) if step.operation is not None else None
    return Reply({"id": thread_id, "messages": step.value["messages"], "operation": operation})


async def append(call: Call) -> Reply:
    """Appends messages; a thread that has grown past its threshold is distilled at once."""
    asked = call.into(wire.AppendMessages)
    services = call.services
    at = services.clock()
    said = [(message.role, message.content) for message in asked.messages]
    entries = await appending.weighed(said, asked.usage, at, size=len(call.body))
    sealed = [seal(entry_record(entry), services.redactor) for entry in entries]
    write = threads.append(
        call.space,
        call.who,
        call.params["id"],
        entries,
        sealed,
        at=at,
        window=services.config.context.window,
        edits=asked.applied_edits,
        expected_seq=asked.expected_seq,
        idempotency=call.idempotency,
    )
    done = await services.submit(write)
    answer = {**done.value, "applied": usage_of.applied(asked.applied_edits), "distilled": None}
    if not done.replayed:
        services.afterwards.turned(services, call.space, call.params["id"])
        answer |= await appending.followed(services, call.space, call.params["id"], who=call.who)
    return Reply(answer)


async def messages(call: Call) -> Reply:
    """The verbatim messages of the main line, always all of them: distilling deletes nothing."""
    found = await contexts.messages(
        call.services, call.space, call.params["id"], after=call.integer("after", 0), limit=call.limit()
    )
    return Reply(found)


ROUTES = (
    Route("POST", "/v1/threads", create, "Opens a thread.", takes=wire.CreateThread, gives=wire.Thread, status=201),
    Route(
        "GET",
        "/v1/threads",
        list_threads,
        "Every thread of the space.",
        gives=wire.Page[wire.Thread],
        query=("limit", "after"),
    ),
    Route("GET", "/v1/threads/{id}", get_thread, "One thread.", gives=wire.Thread),
    Route(
        "DELETE",
        "/v1/threads/{id}",
        delete_thread,
        "Removes a thread for good.",
        gives=wire.ThreadDeleted,
        query=("confirm",),
    ),
    Route(
        "POST", "/v1/threads/{id}/messages", append, "Appends messages.", takes=wire.AppendMessages, gives=wire.Appended
    ),
    Route(
        "GET",
        "/v1/threads/{id}/messages",
        messages,
        "The verbatim messages of the main line.",
        gives=wire.Page[wire.StoredMessage],
        query=("limit", "after"),
    ),
)
