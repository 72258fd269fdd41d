"""What a thread's agent gets: its context, working state, notes and digest."""

from collections.abc import Sequence
from types import NoneType

from msgspec import UNSET

from reverie.api.endpoint import Endpoint, at
from reverie.wire import contexts as types
from reverie.wire.base import ListQuery, NoQuery, Page


def _text(
    *,
    query: str | None = None,
    max_tokens: int | None = None,
    max_chars: int | None = None,
    tiers: Sequence[str] | None = None,
) -> types.ContextQuery:
    """Return the query of a context as one text: the tiers named, else all, in at most `max_chars` characters."""
    names = None if tiers is None else ",".join(tiers)
    return types.ContextQuery(query, max_tokens=max_tokens, format="text", max_chars=max_chars, tiers=names)


def _state(
    *,
    current_task: str | None = None,
    task_chain: Sequence[str] | None = None,
    completed_steps: Sequence[str] | None = None,
    next_steps: Sequence[str] | None = None,
    open_files: Sequence[str] | None = None,
    recent_decisions: Sequence[str] | None = None,
    blockers: Sequence[str] | None = None,
) -> types.SetWorkingState:
    lists = (task_chain, completed_steps, next_steps, open_files, recent_decisions, blockers)
    task = UNSET if current_task is None else current_task
    return types.SetWorkingState(task, *(UNSET if items is None else list(items) for items in lists))


class Contexts:
    """Operations on contexts. `set_working_state` keeps the fields that are left out, `replace_…` empties them."""

    # fmt: off
    context = Endpoint("GET /v1/threads/{id}/context", at(types.ContextQuery), types.ContextAnswer,
        "The request fragment with the thread's context.", text=True)
    context_text = context.like(at(_text), str, "The thread's context as one text.")
    working_state = Endpoint("GET /v1/threads/{id}/working-state", at(NoQuery), types.WorkingState,
        "The working state as of the last message.")
    set_working_state = Endpoint("PATCH /v1/threads/{id}/working-state", at(_state), types.WorkingState,
        "Sets fields of the working state.")
    replace_working_state = Endpoint("PUT /v1/threads/{id}/working-state", at(_state), types.WorkingState,
        "Sets fields of the working state.")
    digest = Endpoint("GET /v1/threads/{id}/digest", at(NoQuery), types.ThreadDigest,
        "The digest of the user and their usual work.")
    add_note = Endpoint("POST /v1/threads/{id}/notes", at(types.CreateNote), types.Note, "Writes a note.", status=201)
    notes = Endpoint("GET /v1/threads/{id}/notes", at(ListQuery), Page[types.Note], "The thread's notes.")
    delete_note = Endpoint("DELETE /v1/threads/{id}/notes/{note}", at(at(NoQuery)), NoneType, "Deletes a note.",
        status=204)
