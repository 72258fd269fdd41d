"""`/v1/operations` and `/v1/archives`: what happened, taking it back, and what was distilled."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from reverie import wire
from reverie.errors import NotFound
from reverie.store import Kind
from reverie.usecases import documents, history
from reverie.usecases.restore import texts_at
from reveried.actions import undo as reverting
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.routes.listing import page

if TYPE_CHECKING:
    from reverie.usecases.writing import Given
    from reveried.http.call import Call

__all__ = ["ROUTES"]

_SHA256 = re.compile(r"[0-9a-f]{64}")


def _shown(record: dict[str, Any]) -> dict[str, Any]:
    undone = re.fullmatch(r"undo (\d+)", record["why"])
    return {
        "id": str(record["seq"]),
        "seq": record["seq"],
        "at": record["at"],
        "who": record["who"],
        "why": record["why"],
        "parent": str(record["parent"]) if record["parent"] else None,
        "changes": record["changes"],
        "undoable": history.undoable(record),
        "undoes": undone[1] if undone else None,
    }


def _seq(call: Call) -> int:
    return history.number(call.params["id"])


async def list_operations(call: Call) -> Reply:
    """Operations, newest first."""
    return await page(call, Kind.OPERATION, lambda _, record: _shown(record), numbered=True, newest_first=True)


async def get_operation(call: Call) -> Reply:
    """One operation."""
    with call.services.store.reader(call.space) as reader:
        return Reply(_shown(history.get(reader, _seq(call))))


async def undo(call: Call) -> Reply:
    """Takes an operation back, as a new one."""
    seq = _seq(call)
    return Reply(await reverting.undo(call.services, call.space, seq, who=call.who, idempotency=call.idempotency))


async def rollback(call: Call) -> Reply:
    """Brings documents, memories and notes back to what they were, as a new operation."""
    asked = call.into(wire.Rollback)
    done = await reverting.rollback(
        call.services,
        call.space,
        history.number(asked.operation),
        who=call.who,
        path=None if asked.path is None else documents.readable(asked.path),
        memory=asked.memory,
        idempotency=call.idempotency,
    )
    return Reply(done)


async def versions(call: Call) -> Reply:
    """Every version of a document, oldest first, each with the operation that made it."""
    path = documents.readable(call.params["path"])
    return Reply({"items": await asyncio.to_thread(_versions, call, path), "next": None})


def _versions(call: Call, path: str) -> list[dict[str, Any]]:
    with call.services.store.reader(call.space) as reader:
        items = []
        for version in documents.versions(reader, path):
            operation = reader.get(Kind.OPERATION, (version.operation,)) or {"who": "", "why": ""}
            value = version.value or {}
            items.append(
                {
                    "operation": str(version.operation),
                    "at": version.at,
                    "who": operation["who"],
                    "why": operation["why"],
                    "etag": value.get("sha256"),
                    "size": value.get("size"),
                    "summary": value.get("summary"),
                }
            )
        return items


async def difference(call: Call) -> Reply:
    """What changed in documents between two operations."""
    asked = wire.parse_query(wire.DifferenceQuery, call.query)
    return Reply(await asyncio.to_thread(_difference, call, asked))


def _difference(call: Call, asked: wire.DifferenceQuery) -> dict[str, Any]:
    with call.services.store.reader(call.space) as reader:
        start = history.number(asked.from_)
        to = reader.operation() if asked.to is None else history.number(asked.to)
        for seq in (start, to):
            history.require(reader, seq)
        paths = None if asked.path is None else [documents.readable(asked.path)]
        for path in paths or ():
            documents.versions(reader, path)
        begin = min(start, to)
        before = texts_at(reader, start, paths=paths, since=begin)
        after = texts_at(reader, to, paths=paths, since=begin)
        texts = {path: (_text(given), _text(after[path])) for path, given in before.items()}
        items = [{"path": path, "before": old, "after": new} for path, (old, new) in texts.items() if old != new]
        return {"items": items, "from": str(start), "to": str(to)}


def _text(given: Given | None) -> str | None:
    return None if given is None else given.text


async def list_archives(call: Call) -> Reply:
    """What was distilled, by address."""
    return await page(call, Kind.ARCHIVE, lambda _, record: _archive(record))


def _archive(record: dict[str, Any]) -> dict[str, Any]:
    return {name: record.get(name) for name in ("sha256", "kind", "at", "size", "entries", "ref")}


async def get_archive(call: Call) -> Reply:
    """The canonical bytes; the address is their SHA-256."""
    address = call.params["sha256"]
    with call.services.store.reader(call.space) as reader:
        found = reader.get(Kind.ARCHIVE, (address,)) if _SHA256.fullmatch(address) else None
    if found is None:
        raise NotFound(f"there is no archive {address[:64]!r}", hint="reverie archives list shows them")
    return Reply(body=found["body"].encode(), headers={"etag": f'"{address}"'})


ROUTES = (
    Route(
        "GET",
        "/v1/operations",
        list_operations,
        "What happened, newest first.",
        gives=wire.Page[wire.Operation],
        query=("limit", "after"),
    ),
    Route("GET", "/v1/operations/{id}", get_operation, "One operation.", gives=wire.Operation),
    Route("POST", "/v1/operations/{id}/undo", undo, "Takes an operation back.", gives=wire.UndoAnswer),
    Route(
        "POST",
        "/v1/rollback",
        rollback,
        "Returns to any point of the history.",
        takes=wire.Rollback,
        gives=wire.RollbackAnswer,
    ),
    Route(
        "GET",
        "/v1/history/{path:path}",
        versions,
        "Every version of a document.",
        gives=wire.Page[wire.DocumentVersion],
    ),
    Route(
        "GET",
        "/v1/diff",
        difference,
        "What changed in documents between two operations.",
        gives=wire.DifferenceAnswer,
        query=("from", "to", "path"),
    ),
    Route(
        "GET",
        "/v1/archives",
        list_archives,
        "What was distilled.",
        gives=wire.Page[wire.Archive],
        query=("limit", "after"),
    ),
    Route("GET", "/v1/archives/{sha256}", get_archive, "The canonical bytes of an archive."),
)
