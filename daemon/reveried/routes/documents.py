"""`/v1/documents`: the markdown files of the space, read and changed; and `/v1/index`, which opens a first turn."""

from __future__ import annotations

import asyncio
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from reverie import wire
from reverie.errors import ValidationError
from reverie.paths import is_reserved
from reverie.usecases import documents, history
from reverie.usecases.listing import index_text
from reveried.actions import writing
from reveried.http.call import Reply
from reveried.http.routing import Route

if TYPE_CHECKING:
    from reverie.usecases.listing import Listed
    from reveried.http.call import Call

__all__ = ["ROUTES"]

_ETAG = re.compile(r'"([0-9a-f]{64})"|(\*)')


def _shown(record: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": record["path"],
        "size": record["size"],
        "etag": record["sha256"],
        "version": record["version"],
        "updatedAt": record["updatedAt"],
        "summary": record["summary"],
    }


def _listed(held: Listed) -> dict[str, Any]:
    return {
        "path": held.path,
        "size": held.size,
        "etag": held.sha256,
        "version": held.version,
        "updatedAt": held.updated_at,
        "summary": held.summary,
    }


def _seen(call: Call) -> str | None:
    """The version that the caller has seen: `If-Match`, or none at all (`If-None-Match: *`), or no matter which."""
    if call.headers.get("if-none-match", "").strip() == "*":
        return ""
    given = call.headers.get("if-match")
    if given is None:
        return None
    found = _ETAG.fullmatch(given.strip().removeprefix("W/"))
    if found is None:
        raise ValidationError("`If-Match` is not an ETag of a document.", hint='Send If-Match: "<etag>", or *.')
    return found[1] or found[2]


async def list_documents(call: Call) -> Reply:
    """Every document by path, with its size and summary."""
    limit, after = call.limit(), call.query.get("after", "")
    held = await call.services.folders.documents(call.space)
    rest = sorted((entry for entry in held if entry.path > after), key=lambda entry: entry.path)
    items = [_listed(entry) for entry in rest[:limit]]
    return Reply({"items": items, "next": items[-1]["path"] if len(rest) > limit else None})


async def get_document(call: Call) -> Reply:
    """One document with its text, now or as it was after an operation (`at`); `ETag` changes with every version."""
    found = await asyncio.to_thread(_found, call, documents.readable(call.params["path"]))
    return Reply({**_shown(found), "content": found["content"]}, headers={"etag": f'"{found["sha256"]}"'})


def _found(call: Call, path: str) -> dict[str, Any]:
    if "at" not in call.query and is_reserved(PurePosixPath(path)):
        projected = call.services.folders.folder(call.space).projected_record(path)
        if projected is not None:
            return projected
    with call.services.store.reader(call.space) as reader:
        if "at" in call.query:
            at = history.number(call.query["at"])
            history.require(reader, at)
            return documents.at_operation(reader, path, at)
        return documents.held_by(reader, path)


async def put_document(call: Call) -> Reply:
    """Writes a document whole; answered when it is on disk."""
    asked = call.into(wire.PutDocument)
    done = await writing.put(
        call.services,
        call.space,
        call.params["path"],
        asked.content,
        summary=asked.summary,
        who=call.who,
        if_match=_seen(call),
    )
    return Reply(_shown(done), headers={"etag": f'"{done["sha256"]}"'})


async def patch_document(call: Call) -> Reply:
    """Replaces exact texts, all or none."""
    asked = call.into(wire.PatchDocument)
    done = await writing.patch(
        call.services,
        call.space,
        call.params["path"],
        [(each.old_text, each.new_text) for each in asked.patches],
        who=call.who,
        if_match=_seen(call),
        idempotency=call.idempotency,
    )
    return Reply(
        {"appliedCount": done["appliedCount"], "etag": done["sha256"], "version": done["version"]},
        headers={"etag": f'"{done["sha256"]}"'},
    )


async def append_entry(call: Call) -> Reply:
    """Puts an entry at the end of a document."""
    asked = call.into(wire.AppendEntry)
    done = await writing.append(
        call.services,
        call.space,
        call.params["path"],
        asked.entry,
        summary=asked.summary,
        who=call.who,
        if_match=_seen(call),
        idempotency=call.idempotency,
    )
    return Reply(_shown(done), headers={"etag": f'"{done["sha256"]}"'})


async def delete_document(call: Call) -> Reply:
    """Deletes a document and its file; undo brings both back."""
    return Reply(
        await writing.delete(call.services, call.space, call.params["path"], who=call.who, if_match=_seen(call))
    )


async def index(call: Call) -> Reply:
    """The memory listing that opens an agent's first turn, as text and as data."""
    entries = await call.services.folders.index_entries(call.space)
    held = {entry.path: entry for entry in await call.services.folders.documents(call.space)}
    items = [_listed(held[entry.path]) for entry in entries if entry.path in held]
    return Reply({"text": index_text(entries) or "", "items": items})


ROUTES = (
    Route(
        "GET",
        "/v1/documents",
        list_documents,
        "Every document.",
        gives=wire.Page[wire.Document],
        query=("limit", "after"),
    ),
    Route(
        "GET",
        "/v1/documents/{path:path}",
        get_document,
        "One document with its text, now or after an operation.",
        gives=wire.DocumentText,
        query=("at",),
    ),
    Route(
        "PUT",
        "/v1/documents/{path:path}",
        put_document,
        "Writes a document whole.",
        takes=wire.PutDocument,
        gives=wire.Document,
    ),
    Route(
        "DELETE",
        "/v1/documents/{path:path}",
        delete_document,
        "Deletes a document and its memories.",
        gives=wire.DocumentDeleted,
    ),
    Route(
        "POST",
        "/v1/documents/{path:path}/patch",
        patch_document,
        "Replaces exact texts, all or none.",
        takes=wire.PatchDocument,
        gives=wire.PatchAnswer,
    ),
    Route(
        "POST",
        "/v1/documents/{path:path}/append",
        append_entry,
        "Puts an entry at the end of a document.",
        takes=wire.AppendEntry,
        gives=wire.Document,
    ),
    Route(
        "GET",
        "/v1/index",
        index,
        "The memory listing that opens an agent's first turn.",
        gives=wire.IndexAnswer,
    ),
)
