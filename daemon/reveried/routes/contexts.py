"""What an agent gets back of a thread: context, working state, digest, notes, summaries; and distilling it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import tokens, wire
from reverie.store import Kind
from reverie.usecases import notes, threads
from reveried.actions import contexts, distillation, learning, states
from reveried.actions import notes as noting
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.routes import jobs
from reveried.routes.listing import page

if TYPE_CHECKING:
    from reverie.store import Reader
    from reveried.http.call import Call
    from reveried.jobs import Progress

__all__ = ["ROUTES"]


async def context(call: Call) -> Reply:
    """The request fragment to splat into a call of the model, and what each tier costs."""
    asked = wire.parse_query(wire.ContextQuery, call.query)
    answer = await contexts.context(
        call.services,
        call.space,
        call.params["id"],
        query=asked.query,
        placement=asked.placement,
        max_tokens=asked.max_tokens,
    )
    return Reply(answer)


async def working_state(call: Call) -> Reply:
    """What is going on in the thread, read from its last messages."""
    plan = await contexts.state(call.services, call.space, call.params["id"])
    return Reply(states.shown(plan.state))


async def set_state(call: Call) -> Reply:
    """The agent's own words for what is going on; PUT empties what is left out, PATCH leaves it as it is."""
    asked = call.into(wire.SetWorkingState)
    state = await states.change(
        call.services,
        call.space,
        call.params["id"],
        states.given(asked),
        whole=call.method == "PUT",
        who=call.who,
    )
    return Reply(states.shown(state))


async def digest(call: Call) -> Reply:
    """Who this is and what we usually do; empty until the first distillation."""
    with call.services.store.reader(call.space) as reader:
        threads.get(reader, call.params["id"])
        held = reader.get(Kind.DIGEST, (call.params["id"],)) or {"text": "", "at": None}
    text = held["text"]
    return Reply({"text": text, "tokens": tokens.count(text), "updatedAt": held["at"], "tokenizer": tokens.TOKENIZER})


async def summaries(call: Call) -> Reply:
    """Every structured summary so far, the imported ones among them, oldest first."""
    with call.services.store.reader(call.space) as reader:
        threads.get(reader, call.params["id"])
    return await page(call, Kind.DISTILLATION, _summary, prefix=(call.params["id"],), numbered=True)


def _summary(_: Reader, record: dict[str, Any]) -> dict[str, Any]:
    sections = record.get("sections", {})
    return {
        "number": record["number"],
        "summary": {"number": record["number"], "sections": sections, "text": record["text"]},
        "throughSeq": record["throughSeq"],
        "at": record["at"],
        "archive": record.get("archive"),
        "imported": record.get("imported", False),
    }


async def distil(call: Call) -> Reply:
    """Replaces the thread's older messages by a summary in its context; the messages themselves stay."""
    asked, idempotency = call.into(wire.DistillRequest), call.idempotency
    with call.services.store.reader(call.space) as reader:
        threads.get(reader, call.params["id"])

    async def work(_: Progress) -> dict[str, Any]:
        return await distillation.distil(
            call.services,
            call.space,
            call.params["id"],
            who=call.who,
            token_budget=asked.token_budget,
            idempotency=idempotency,
        )

    return await jobs.answer(call, "distill", work)


async def learn(call: Call) -> Reply:
    """Draws memories from the thread's messages since the last time, without distilling it."""
    with call.services.store.reader(call.space) as reader:
        threads.get(reader, call.params["id"])

    async def work(_: Progress) -> dict[str, Any]:
        return await learning.learn(call.services, call.space, call.params["id"], who=call.who)

    return await jobs.answer(call, "learn", work)


async def add_note(call: Call) -> Reply:
    """Writes a note that stays in the thread's context."""
    asked = call.into(wire.CreateNote)
    made = await noting.note(
        call.services,
        call.space,
        call.params["id"],
        content=asked.content,
        category=asked.category,
        who=call.who,
        idempotency=call.idempotency,
    )
    return Reply(made, status=201)


async def list_notes(call: Call) -> Reply:
    """The thread's notes, oldest first."""
    with call.services.store.reader(call.space) as reader:
        threads.get(reader, call.params["id"])
    return await page(call, Kind.NOTE, lambda _, record: record, prefix=(call.params["id"],))


async def delete_note(call: Call) -> Reply:
    """Takes a note away; undo brings it back."""
    await call.services.submit(notes.delete(call.space, call.who, call.params["id"], call.params["note"]))
    return Reply(status=204)


_ID = "/v1/threads/{id}"

ROUTES = (
    Route(
        "GET",
        f"{_ID}/context",
        context,
        "The request fragment that gives an agent its memory back.",
        gives=wire.ContextAnswer,
        query=("query", "placement", "maxTokens"),
    ),
    Route("GET", f"{_ID}/working-state", working_state, "What is going on in the thread.", gives=wire.WorkingState),
    *(
        Route(
            method,
            f"{_ID}/working-state",
            set_state,
            "The agent's own words for what is going on.",
            takes=wire.SetWorkingState,
            gives=wire.WorkingState,
        )
        for method in ("PUT", "PATCH")
    ),
    Route("GET", f"{_ID}/digest", digest, "Who this is and what we usually do.", gives=wire.ThreadDigest),
    Route(
        "GET",
        f"{_ID}/summaries",
        summaries,
        "Every structured summary so far.",
        gives=wire.Page[wire.PastDistillation],
        query=("limit", "after"),
    ),
    Route(
        "POST",
        f"{_ID}/distill",
        distil,
        "Distils the thread.",
        takes=wire.DistillRequest,
        gives=wire.DistillAnswer,
        query=("wait",),
    ),
    Route(
        "POST",
        f"{_ID}/learn",
        learn,
        "Draws memories from the thread without distilling it.",
        gives=wire.MemoryChanges,
        query=("wait",),
    ),
    Route("POST", f"{_ID}/notes", add_note, "Writes a note.", takes=wire.CreateNote, gives=wire.Note, status=201),
    Route(
        "GET", f"{_ID}/notes", list_notes, "The thread's notes.", gives=wire.Page[wire.Note], query=("limit", "after")
    ),
    Route("DELETE", f"{_ID}/notes/{{note}}", delete_note, "Takes a note away.", status=204),
)
