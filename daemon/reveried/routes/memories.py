"""`/v1/memories`, `/v1/recall`, `/v1/search` and `/v1/candidates`: memories, searches, what waits for a decision."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from reverie import wire
from reverie.api.memories import Memories
from reverie.api.search import Search
from reverie.decode import mapped
from reverie.documents.layout import type_of_blocks
from reverie.errors import Forbidden
from reverie.models import Candidate, MemoryType
from reverie.store import MemoryRecord, PendingPurge
from reverie.usecases import memories as use_memories
from reverie.usecases import purge_targets, review
from reverie.usecases.by import ANY_AGENT
from reveried.actions import memories, projects
from reveried.actions.search import search_space
from reveried.drive import write
from reveried.execute import read
from reveried.http.route import reads, serves
from reveried.http.types import Reply
from reveried.routes.pagination import record_page
from reveried.routes.purge import run_purge

if TYPE_CHECKING:
    from reverie.store import Reader
    from reverie.usecases.by import By, UseCase
    from reveried.http.types import Call

T = TypeVar("T")


@serves(Memories.memories)
async def list_memories(call: Call) -> wire.MemoryPage:
    """Return the memories by id: all, or of one type, with one tag, of one project and the person."""
    query = call.query_as(wire.MemoryQuery)
    selection = await projects.selected(call.services, call.space, query)
    if query.kind is None and query.tag is None and selection.visible is None:
        answer = partial(_answer, call)
        page = await read(call.services, call.space, lambda reader: record_page(reader, call, MemoryRecord, answer))
        return wire.MemoryPage(page.items, page.next, wire.ABSENT)
    rows = await asyncio.to_thread(
        call.services.recall.listed,
        call.space,
        partial(_answer, call),
        types=None if query.kind is None else {MemoryType(query.kind)},
        tags=None if query.tag is None else [query.tag],
        projects=selection.visible,
        after=query.after or "",
        limit=query.limit + 1,  # one more shows that there is a next page
    )
    items = [answer for _, answer in rows[: query.limit]]
    following = rows[query.limit - 1][0] if len(rows) > query.limit else None
    return wire.MemoryPage(items=items, next=following, project=selection.project or wire.ABSENT)


def _answer(call: Call, reader: Reader, record: MemoryRecord) -> wire.Memory:
    return use_memories.memory_answer(call.services.accesses.with_access(reader, record))


reads(Memories.memory)(lambda reader, call: _answer(call, reader, use_memories.get(reader, call.params["id"])))


@serves(Memories.remember)
async def create(call: Call) -> Reply:
    """Create a memory: a new block of the document for its type."""
    body = call.into(wire.CreateMemory)
    candidate = Candidate(
        type=_type_of(body),
        content=body.content,
        tags=tuple(body.tags),
        subject="user" if body.document == "facts/user.md" else "project",
        title=body.title,
        fields=tuple(body.fields.items()),
        project="" if body.project is None else await projects.registered(call.services, call.by, body.project),
    )
    record = await write(call.services, use_memories.remember, _by(call, body), candidate, body.document)
    # From the write and not from the store: another caller, or a person's save, may have deleted it again meanwhile.
    with call.services.store.reader(call.space) as reader:
        answer = mapped(_answer(call, reader, record), wire.RememberedMemory, existed=record.existed)
    return Reply(
        answer, status=200 if record.existed else 201, headers={"location": f"/v1/memories/{quote(record.id)}"}
    )


def _by(call: Call, body: wire.CreateMemory | wire.ChangeMemory) -> By:
    """Return whose write of a memory it is: a person's, unless the token or the request says that it is an agent's."""
    if call.agent is not None:
        return call.by
    return replace(call.by, who=call.who if body.author == "person" else ANY_AGENT, author=body.author)


def _type_of(body: wire.CreateMemory) -> MemoryType:
    if body.type is not None:
        return MemoryType(body.type)
    return (body.document and type_of_blocks(body.document)) or MemoryType.FACT


@serves(Memories.change_memory)
async def change(call: Call) -> wire.Memory:
    """Change the content or the tags of a memory; of its document nothing else changes but summary and day."""
    body = call.into(wire.ChangeMemory)
    record = await write(
        call.services, use_memories.change, _by(call, body), call.params["id"], content=body.content, tags=body.tags
    )
    with call.services.store.reader(call.space) as reader:
        return _answer(call, reader, record)


@serves(Memories.forget)
async def forget(call: Call) -> wire.MemoryDeleted:
    """Delete a memory from its document; undo restores it, unless `purge` removes it for good."""
    memory_id = call.params["id"]
    if not call.query_as(wire.PurgeQuery).purge:
        return await write(call.services, use_memories.forget, call.by, memory_id)
    document = await read(call.services, call.space, lambda reader: purge_targets.document_of(reader, memory_id))
    purged = await run_purge(call, PendingPurge("memory", memory_id))
    return wire.MemoryDeleted(id=memory_id, document=document, operation=purged.operation, purged=purged)


reads(Memories.memory_history)(lambda reader, call: use_memories.history(reader, call.params["id"]))


@serves(Memories.recall, once=True)
async def recall(call: Call) -> wire.RecallAnswer:
    """Return the memories that answer a query, best first; counts an access of each."""
    body = call.into(wire.RecallRequest)
    selection = await projects.selected(call.services, call.space, body)
    found = await memories.recall(call.services, call.space, body, selection.visible)
    return use_memories.recall_answer(found, selection.project)


@serves(Search.search, once=True)
async def search(call: Call) -> wire.SearchAnswer:
    """Return the messages, memories or sections that answer a question, best first; nothing is counted or written."""
    return await search_space(call.services, call.space, call.into(wire.SearchRequest))


@reads(Memories.candidates)
def list_candidates(reader: Reader, call: Call) -> wire.Page[wire.Candidate]:
    """Return the candidates, oldest first: those that wait, unless another state is asked for."""
    query = call.query_as(wire.CandidateQuery)
    state = None if query.state == "all" else query.state
    return review.page(reader, state=state, after=query.after or "", limit=query.limit)


@reads(Memories.candidate)
def get_candidate(reader: Reader, call: Call) -> wire.Candidate:
    """Return one candidate."""
    return review.candidate_answer(reader, review.get(reader, call.params["id"]))


@serves(Memories.accept_candidate)
async def accept(call: Call) -> wire.CandidateDecided:
    """Accept a candidate: make its changes, and write the documents to disk."""
    return await _decide(call, review.accept)


@serves(Memories.reject_candidate)
async def reject(call: Call) -> wire.CandidateDecided:
    """Reject a candidate: none of its changes is made, and the same change is not proposed again."""
    return await _decide(call, review.reject)


async def _decide(call: Call, decision: UseCase[[str], wire.CandidateDecided]) -> wire.CandidateDecided:
    if call.agent is not None:
        # Text that came from outside could otherwise ask the agent that reads it to accept it.
        raise Forbidden("candidates are decided by a person, not by an agent", hint="reverie review, without a token")
    return await write(call.services, decision, call.by, call.params["id"])
