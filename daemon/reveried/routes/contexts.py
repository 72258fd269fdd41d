"""Context, working state, digest and notes of a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from reverie import tokenizer, wire
from reverie.api.contexts import Contexts
from reverie.store import DigestRecord, NoteRecord
from reverie.usecases import threads, working_state
from reveried.actions import contexts
from reveried.drive import write
from reveried.http.openapi import TEXT
from reveried.http.route import reads, serves
from reveried.http.types import Reply
from reveried.routes.pagination import record_page

if TYPE_CHECKING:
    from reverie.store import Reader
    from reveried.http.types import Call


@serves(Contexts.context)
async def context(call: Call) -> Reply:
    """Return the request fragment to splat into a call of the model, and what each tier costs; or one plain text."""
    query = call.query_as(wire.ContextQuery)
    if query.format == "text":
        text = await contexts.context_text(call.services, call.space, call.params["id"], query)
        return Reply(body=text.encode(), media=TEXT)
    return Reply(await contexts.context(call.services, call.space, call.params["id"], query))


@serves(Contexts.working_state)
async def get_state(call: Call) -> wire.WorkingState:
    """Return the working state as of the thread's last message."""
    plan = await contexts.state(call.services, call.space, call.params["id"])
    return working_state.state_answer(plan.state)


@serves(Contexts.replace_working_state)
@serves(Contexts.set_working_state)
async def set_state(call: Call) -> wire.WorkingState:
    """Set the working state in the agent's own words; PUT empties the fields that are left out, PATCH keeps them."""
    fields = contexts.given_fields(call.into(wire.SetWorkingState))
    whole = call.method == "PUT"
    return await contexts.set_state(call.services, call.by, call.params["id"], fields, replace_all=whole)


@reads(Contexts.digest)
def digest(reader: Reader, call: Call) -> wire.ThreadDigest:
    """Return the digest of who the user is and what they usually do; empty until the first distillation."""
    threads.get(reader, call.params["id"])
    stored = reader.load(DigestRecord, (call.params["id"],)) or DigestRecord(text="")
    return wire.ThreadDigest(
        text=stored.text,
        tokens=tokenizer.count(stored.text),
        updated_at=stored.at,
        tokenizer=tokenizer.TOKENIZER,
    )


@serves(Contexts.add_note)
async def add_note(call: Call) -> wire.Note:
    """Write a note that stays in the thread's context."""
    request = call.into(wire.CreateNote)
    note = await write(call.services, threads.add_note, call.by, call.params["id"], request.content, request.category)
    return replace(note, thread=note.thread or wire.ABSENT)


@reads(Contexts.notes)
def list_notes(reader: Reader, call: Call) -> wire.Page[wire.Note]:
    """List the thread's notes, oldest first."""
    thread = threads.get(reader, call.params["id"])
    return record_page(reader, call, NoteRecord, lambda _, note: threads.note_answer(note), prefix=(thread.id,))


@serves(Contexts.delete_note)
async def delete_note(call: Call) -> None:
    """Delete a note; undo brings it back."""
    await write(call.services, threads.delete_note, call.by, call.params["id"], call.params["note"])
