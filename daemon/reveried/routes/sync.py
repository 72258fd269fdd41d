"""`/v1/conflicts` and `/v1/sync`: conflicts between files and the store, and the sync status of the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import wire
from reverie.usecases import conflicts
from reveried.actions import sync
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.use_case_runner import answer_once

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]


async def list_conflicts(call: Call) -> Reply:
    """Return the open conflicts, oldest first."""
    query = call.query_as(wire.ListQuery)
    with call.services.store.reader(call.space) as reader:
        return Reply(conflicts.conflict_page(reader, after=query.after or "", limit=query.limit))


async def get_conflict(call: Call) -> Reply:
    """Return one conflict with both texts."""
    with call.services.store.reader(call.space) as reader:
        return Reply(conflicts.conflict_answer(reader, call.params["id"]))


async def resolve(call: Call) -> Reply:
    """Resolve a conflict."""
    body = call.into(wire.Resolve)
    answer = await sync.resolve(
        call.services,
        call.space,
        call.params["id"],
        keep=body.keep,
        content=body.content,
        who=call.who,
        author="person" if call.agent is None else "agent",
        idempotency=call.idempotency,
    )
    return Reply(answer)


async def get_status(call: Call) -> Reply:
    """Return the sync status of the folder."""
    return Reply(await sync.status(call.services, call.space))


async def scan_now(call: Call) -> Reply:
    """Scan the whole folder now."""
    body = call.into(wire.SyncNow)

    async def scan() -> wire.SyncOutcome:
        return await sync.scan_now(
            call.services, call.space, answer=sync.answer_of(body), accept_folder=body.accept_folder, deep=body.deep
        )

    return Reply(await answer_once(call.services, call.space, call.idempotency, scan, wire.SyncOutcome))


ROUTES = (
    Route(
        "GET",
        "/v1/conflicts",
        list_conflicts,
        "Lists the open conflicts between files and the store.",
        answer=wire.Page[wire.Conflict],
        query=wire.ListQuery,
    ),
    Route("GET", "/v1/conflicts/{id}", get_conflict, "Returns one conflict with both texts.", answer=wire.ConflictText),
    Route(
        "POST",
        "/v1/conflicts/{id}/resolve",
        resolve,
        "Resolves a conflict.",
        body=wire.Resolve,
        answer=wire.Resolved,
    ),
    Route("GET", "/v1/sync", get_status, "Returns the sync status of the folder.", answer=wire.SyncStatus),
    Route("POST", "/v1/sync", scan_now, "Scans the folder now.", body=wire.SyncNow, answer=wire.SyncOutcome),
)
