"""Context, working state, digest, notes and summaries of a thread; distilling it and learning from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from reverie import token_counter, wire
from reverie.store import DigestRecord, DistillationRecord, NoteRecord
from reverie.usecases import distill, notes, threads, working_state
from reveried.actions import distill as distill_actions
from reveried.actions import threads as actions
from reveried.http.call import Reply
from reveried.http.openapi import TEXT
from reveried.http.routing import Route
from reveried.model_transports.transport import request_tokens
from reveried.routes import jobs
from reveried.routes.pagination import record_page
from reveried.use_case_runner import answer_once

if TYPE_CHECKING:
    from reveried.http.call import Call
    from reveried.jobs import Progress

__all__ = ["ROUTES"]


async def context(call: Call) -> Reply:
    """Return the request fragment to splat into a call of the model, and what each tier costs; or one plain text."""
    query = call.query_as(wire.ContextQuery)
    if query.format == "text":
        text = await actions.context_text(
            call.services,
            call.space,
            call.params["id"],
            query=query.query,
            max_tokens=query.max_tokens,
            max_chars=query.max_chars,
            tiers=query.tier_names,
        )
        return Reply(body=text.encode(), media=TEXT)
    answer = await actions.context(
        call.services,
        call.space,
        call.params["id"],
        query=query.query,
        placement=query.placement,
        max_tokens=query.max_tokens,
    )
    return Reply(answer)


async def get_state(call: Call) -> Reply:
    """Return the working state as of the thread's last message."""
    plan = await actions.state(call.services, call.space, call.params["id"])
    return Reply(working_state.state_answer(plan.state))


async def set_state(call: Call) -> Reply:
    """Set the working state in the agent's own words; PUT empties the fields that are left out, PATCH keeps them."""
    fields = actions.given_fields(call.into(wire.SetWorkingState))
    state = await actions.set_state(
        call.services, call.space, call.params["id"], fields, replace_all=call.method == "PUT", who=call.who
    )
    return Reply(state)


async def digest(call: Call) -> Reply:
    """Return the digest of who the user is and what they usually do; empty until the first distillation."""
    with call.services.store.reader(call.space) as reader:
        threads.get(reader, call.params["id"])
        stored = reader.load(DigestRecord, (call.params["id"],)) or DigestRecord(text="")
    answer = wire.ThreadDigest(
        text=stored.text,
        tokens=token_counter.count(stored.text),
        updated_at=stored.at,
        tokenizer=token_counter.TOKENIZER,
    )
    return Reply(answer)


async def summaries(call: Call) -> Reply:
    """List the structured summaries of the thread, imported ones among them, oldest first."""
    _require_thread(call)
    return await record_page(
        call,
        DistillationRecord,
        lambda _, distillation: distill.past_answer(distillation),
        prefix=(call.params["id"],),
        numbered=True,
    )


async def distill_thread(call: Call) -> Reply:
    """Replace the thread's older messages by a summary in its context; the messages themselves stay stored."""
    request, idempotency = call.into(wire.DistillRequest), call.idempotency
    _require_thread(call)

    async def work(_: Progress) -> wire.DistillAnswer:
        return await distill_actions.distill(
            call.services,
            call.space,
            call.params["id"],
            who=call.who,
            token_budget=request.token_budget,
            idempotency=idempotency,
        )

    return await jobs.start_job(call, "distill", work)


async def model_requests(call: Call) -> Reply:
    """Return the requests to a model that a distillation, or a reflection, would begin with; nothing is sent."""
    _require_thread(call)
    reflect = call.query_as(wire.ModelRequestsQuery).reflect
    requests = await distill_actions.model_requests(call.services, call.space, call.params["id"], reflect=reflect)
    items = [
        wire.ModelRequest(
            id=request.id,
            purpose=request.purpose,
            role=request.role,
            prompt_version=request.prompt_version,
            system=request.system,
            messages=[wire.ModelMessage(role=message.role, content=message.content) for message in request.messages],
            schema=request.schema,
            max_output_tokens=request.max_output_tokens,
            tokens=request_tokens(request),
            tools=[msgspec.to_builtins(tool) for tool in request.tools] or wire.ABSENT,
        )
        for request in requests
    ]
    return Reply(wire.ModelRequests(kind=call.services.config.distiller.kind, items=items))


async def learn(call: Call) -> Reply:
    """Learn memories from the thread's messages since the last time, without distilling it."""
    idempotency = call.idempotency
    _require_thread(call)

    async def work(_: Progress) -> wire.MemoryChanges:
        return await answer_once(
            call.services,
            call.space,
            idempotency,
            lambda: distill_actions.learn(call.services, call.space, call.params["id"], who=call.who),
            wire.MemoryChanges,
        )

    return await jobs.start_job(call, "learn", work)


async def reflect(call: Call) -> Reply:
    """Let a model change the memory files by calls of tools, after the thread's messages since the last time."""
    idempotency = call.idempotency
    _require_thread(call)
    distill_actions.require_tools(call.services)

    async def work(_: Progress) -> wire.MemoryChanges:
        return await answer_once(
            call.services,
            call.space,
            idempotency,
            lambda: distill_actions.learn(call.services, call.space, call.params["id"], who=call.who, reflect=True),
            wire.MemoryChanges,
        )

    return await jobs.start_job(call, "reflect", work)


async def add_note(call: Call) -> Reply:
    """Write a note that stays in the thread's context."""
    request = call.into(wire.CreateNote)
    note = await actions.add_note(
        call.services,
        call.space,
        call.params["id"],
        content=request.content,
        category=request.category,
        who=call.who,
        idempotency=call.idempotency,
    )
    return Reply(note, status=201)


async def list_notes(call: Call) -> Reply:
    """List the thread's notes, oldest first."""
    _require_thread(call)
    return await record_page(call, NoteRecord, lambda _, note: notes.note_answer(note), prefix=(call.params["id"],))


async def delete_note(call: Call) -> Reply:
    """Delete a note; undo brings it back."""
    await call.services.submit(notes.delete(call.space, call.who, call.params["id"], call.params["note"]))
    return Reply(status=204)


def _require_thread(call: Call) -> None:
    """Raise NotFound unless the thread exists: before a job starts, or where a list would only be empty."""
    with call.services.store.reader(call.space) as reader:
        threads.get(reader, call.params["id"])


_ID = "/v1/threads/{id}"

ROUTES = (
    Route(
        "GET",
        f"{_ID}/context",
        context,
        "The request fragment with the thread's context.",
        answer=wire.ContextAnswer,
        query=wire.ContextQuery,
        may_be_text=True,
    ),
    Route(
        "GET", f"{_ID}/working-state", get_state, "The working state as of the last message.", answer=wire.WorkingState
    ),
    *(
        Route(
            method,
            f"{_ID}/working-state",
            set_state,
            "Sets fields of the working state.",
            body=wire.SetWorkingState,
            answer=wire.WorkingState,
        )
        for method in ("PUT", "PATCH")
    ),
    Route("GET", f"{_ID}/digest", digest, "The digest of the user and their usual work.", answer=wire.ThreadDigest),
    Route(
        "GET",
        f"{_ID}/summaries",
        summaries,
        "The structured summaries of the thread.",
        answer=wire.Page[wire.PastDistillation],
        query=wire.SequenceQuery,
    ),
    Route(
        "POST",
        f"{_ID}/distill",
        distill_thread,
        "Distills the thread.",
        body=wire.DistillRequest,
        answer=wire.DistillAnswer,
        query=wire.WaitQuery,
        is_job=True,
    ),
    Route(
        "GET",
        f"{_ID}/model-requests",
        model_requests,
        "What a distillation would send to a model.",
        answer=wire.ModelRequests,
        query=wire.ModelRequestsQuery,
    ),
    Route(
        "POST",
        f"{_ID}/learn",
        learn,
        "Learns memories from the thread without distilling it.",
        answer=wire.MemoryChanges,
        query=wire.WaitQuery,
        is_job=True,
    ),
    Route(
        "POST",
        f"{_ID}/reflect",
        reflect,
        "Lets a model change the memory files by calls of tools.",
        answer=wire.MemoryChanges,
        query=wire.WaitQuery,
        is_job=True,
    ),
    Route("POST", f"{_ID}/notes", add_note, "Writes a note.", body=wire.CreateNote, answer=wire.Note, status=201),
    Route("GET", f"{_ID}/notes", list_notes, "The thread's notes.", answer=wire.Page[wire.Note], query=wire.ListQuery),
    Route("DELETE", f"{_ID}/notes/{{note}}", delete_note, "Deletes a note.", status=204),
)
