"""`/v1/documents`: the files of the space as the store has them; and `/v1/index`, which opens a first turn."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from reverie import wire
from reverie.engine import documents
from reverie.errors import NotFound
from reverie.store import Kind
from reveried.http.call import Reply
from reveried.http.table import Route

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]


def _shown(record: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": record["path"],
        "size": record["size"],
        "etag": record["sha256"],
        "version": record["version"],
        "updatedAt": record["updatedAt"],
        "summary": record["summary"],
    }


async def list_documents(call: Call) -> Reply:
    """Every document by path, with its size and summary."""
    limit, after = call.limit(), call.query.get("after", "")

    def read() -> list[dict[str, Any]]:
        with call.services.store.reader(call.space) as reader:
            return sorted((record for _, record in reader.scan(Kind.DOCUMENT)), key=lambda record: record["path"])

    rest = [record for record in await asyncio.to_thread(read) if record["path"] > after]
    items = [_shown(record) for record in rest[:limit]]
    return Reply({"items": items, "next": items[-1]["path"] if len(rest) > limit else None})


async def get_document(call: Call) -> Reply:
    """One document with its text; `ETag` changes with every version."""
    path = documents.checked(call.params["path"])
    with call.services.store.reader(call.space) as reader:
        found = reader.get(Kind.DOCUMENT, (path,))
    if found is None:
        raise NotFound(f"there is no document {path!r}", hint="GET /v1/documents lists them")
    return Reply({**_shown(found), "content": found["content"]}, headers={"etag": f'"{found["sha256"]}"'})


async def index(call: Call) -> Reply:
    """The memory listing that opens an agent's first turn, as text and as data."""
    with call.services.store.reader(call.space) as reader:
        text = documents.index_text(reader)
        listed = documents.listed(reader)
    return Reply({"text": text or "", "items": [_shown(record) for record in listed]})


ROUTES = (
    Route(
        "GET",
        "/v1/documents",
        list_documents,
        "Every document.",
        gives=wire.Page[wire.Document],
        query=("limit", "after"),
    ),
    Route("GET", "/v1/documents/{path:path}", get_document, "One document with its text.", gives=wire.DocumentText),
    Route("GET", "/v1/index", index, "The memory listing that opens an agent's first turn."),
)
