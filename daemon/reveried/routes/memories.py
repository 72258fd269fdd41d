"""`/v1/memories` and `/v1/recall`: what is known, how it came about, and what of it answers a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import tokens, wire
from reverie.documents.document_kind import type_of_blocks
from reverie.errors import NotFound
from reverie.models import Candidate, MemoryType
from reverie.store import Kind
from reverie.usecases import memories
from reverie.usecases.memory_index import with_access
from reveried.actions import writing
from reveried.actions.recall import recalled
from reveried.execution import answer_once
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.routes.listing import page

if TYPE_CHECKING:
    from reverie.recall import Hit
    from reveried.http.call import Call

__all__ = ["ROUTES", "shown"]


def shown(record: dict[str, Any]) -> dict[str, Any]:
    """A stored memory as the wire shows it."""
    return {
        "id": record["id"],
        "type": record["type"],
        "content": record["content"],
        "tags": record["tags"],
        "document": record["document"],
        "createdAt": record["created_at"],
        "updatedAt": record["updated_at"],
        "accessCount": record["access_count"],
        "lastAccessedAt": record["last_accessed_at"],
        "trust": record["trust"],
        "provenance": record["provenance"],
        "title": record["title"],
        "fields": dict(record["fields"]),
    }


async def list_memories(call: Call) -> Reply:
    """Memories by id, of one type or with one tag where that is asked."""
    asked = wire.parse_query(wire.MemoryQuery, call.query)
    return await page(
        call,
        Kind.MEMORY,
        lambda reader, record: shown(with_access(reader, record)),
        keep=lambda record: (
            (asked.type is None or record["type"] == asked.type) and (asked.tag is None or asked.tag in record["tags"])
        ),
    )


async def get_memory(call: Call) -> Reply:
    """One memory."""
    return Reply(_one(call, call.params["id"]))


async def create(call: Call) -> Reply:
    """Remembers something: a new block of the document that its type belongs to."""
    asked = call.into(wire.CreateMemory)
    told, _ = call.services.redactor.value({"content": asked.content, "title": asked.title, "fields": asked.fields})
    candidate = Candidate(
        type=_type_of(asked),
        content=told["content"],
        tags=tuple(asked.tags),
        subject="user" if asked.document == "facts/user.md" else "project",
        title=told["title"],
        fields=tuple(told["fields"].items()),
    )
    made = await writing.remember(
        call.services,
        call.space,
        candidate,
        who=call.who,
        author=asked.author,
        document=asked.document,
        idempotency=call.idempotency,
    )
    return Reply(_one(call, made["id"]), status=201, headers={"location": f"/v1/memories/{made['id']}"})


def _type_of(asked: wire.CreateMemory) -> MemoryType:
    if asked.type is not None:
        return MemoryType(asked.type)
    return (asked.document and type_of_blocks(asked.document)) or MemoryType.FACT


async def change(call: Call) -> Reply:
    """Other words or tags for a memory; nothing else of its document changes but summary and day."""
    asked = call.into(wire.ChangeMemory)
    memory_id = call.params["id"]
    await writing.change(
        call.services,
        call.space,
        memory_id,
        content=asked.content,
        tags=asked.tags,
        who=call.who,
        author=asked.author,
    )
    return Reply(_one(call, memory_id))


async def forget(call: Call) -> Reply:
    """Takes a memory out of its document; undo brings it back."""
    return Reply(await writing.forget(call.services, call.space, call.params["id"], who=call.who, author="agent"))


async def history(call: Call) -> Reply:
    """Every version of a memory, oldest first, each with the operation that made it."""
    memory_id = call.params["id"]
    with call.services.store.reader(call.space) as reader:
        versions = reader.history(Kind.MEMORY, (memory_id,))
        if not versions:
            raise _absent(memory_id)
        items = []
        for number, version in enumerate(versions, 1):
            operation = reader.get(Kind.OPERATION, (version.operation,)) or {"who": "", "why": ""}
            items.append(
                {
                    "version": number,
                    "operation": str(version.operation),
                    "at": version.at,
                    "who": operation["who"],
                    "why": operation["why"],
                    "memory": None if version.value is None else shown(version.value),
                }
            )
    return Reply({"items": items, "next": None})


async def recall(call: Call) -> Reply:
    """The memories that answer a query, best first; counts as an access of each."""
    asked = call.into(wire.RecallRequest)
    return Reply(await answer_once(call.services, call.space, call.idempotency, lambda: _recalled(call, asked)))


async def _recalled(call: Call, asked: wire.RecallRequest) -> dict[str, Any]:
    found = await recalled(
        call.services,
        call.space,
        asked.query,
        limit=asked.limit,
        token_budget=asked.token_budget,
        types=asked.types,
        tags=asked.tags,
    )
    items = [{"memory": shown(record), "score": round(hit.score, 4), "why": _why(hit)} for hit, record in found]
    return {"hits": items, "tokens": sum(hit.tokens for hit, _ in found), "tokenizer": tokens.TOKENIZER}


def _why(hit: Hit) -> str:
    return ", ".join(f"{term} {added:.2f}" for term, added in hit.why)


def _one(call: Call, memory_id: str) -> dict[str, Any]:
    with call.services.store.reader(call.space) as reader:
        return shown(with_access(reader, memories.get(reader, memory_id)))


def _absent(memory_id: str) -> NotFound:
    return NotFound(f"no memory is called {memory_id!r}", hint="reverie memories lists them")


ROUTES = (
    Route(
        "GET",
        "/v1/memories",
        list_memories,
        "What is known.",
        gives=wire.Page[wire.Memory],
        query=("type", "tag", "limit", "after"),
    ),
    Route(
        "POST",
        "/v1/memories",
        create,
        "Remembers something.",
        takes=wire.CreateMemory,
        gives=wire.Memory,
        status=201,
    ),
    Route("GET", "/v1/memories/{id}", get_memory, "One memory.", gives=wire.Memory),
    Route("PATCH", "/v1/memories/{id}", change, "Changes a memory.", takes=wire.ChangeMemory, gives=wire.Memory),
    Route("DELETE", "/v1/memories/{id}", forget, "Forgets a memory.", gives=wire.MemoryDeleted),
    Route(
        "GET", "/v1/memories/{id}/history", history, "Every version of a memory.", gives=wire.Page[wire.MemoryVersion]
    ),
    Route(
        "POST",
        "/v1/recall",
        recall,
        "The memories that answer a query.",
        takes=wire.RecallRequest,
        gives=wire.RecallAnswer,
    ),
)
