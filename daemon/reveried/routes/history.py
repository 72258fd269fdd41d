"""`/v1/operations` and `/v1/archives`: what happened, taking it back, and what was distilled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from reverie import wire
from reverie.engine import history
from reverie.errors import NotFound, ValidationError
from reverie.store import Kind
from reveried.flows import publication
from reveried.http.call import Reply
from reveried.http.table import Route
from reveried.routes.listing import page

if TYPE_CHECKING:
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
    text = call.params["id"]
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise ValidationError(f"{text[:40]!r} is not the number of an operation", hint="reverie log lists them")
    return int(text)


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
    done = await call.services.submit(history.undo(call.space, seq, who=call.who, idempotency=call.idempotency))
    await publication.publish(call.services, call.space)
    return Reply(done.value)


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
        raise NotFound(f"there is no archive {address[:64]!r}", hint="GET /v1/archives lists them")
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
        "GET",
        "/v1/archives",
        list_archives,
        "What was distilled.",
        gives=wire.Page[wire.Archive],
        query=("limit", "after"),
    ),
    Route("GET", "/v1/archives/{sha256}", get_archive, "The canonical bytes of an archive."),
)
