"""`/v1/conflicts` and `/v1/sync`: where a person and the store disagree, and how folder and store stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import wire
from reverie.usecases import conflicts
from reveried.actions import settling
from reveried.http.call import Reply
from reveried.http.routing import Route

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]


def _shown(held: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": held["id"],
        "path": held["path"],
        "copy": held["copy"],
        "openedAt": held["openedAt"],
        "reason": "both_changed",
        "operation": str(held["operation"]),
        "regions": len(held["regions"]),
    }


async def list_conflicts(call: Call) -> Reply:
    """The open conflicts, oldest first."""
    with call.services.store.reader(call.space) as reader:
        found = conflicts.opened(reader)
    after, limit = call.query.get("after", ""), call.limit()
    rest = [held for held in found if held["id"] > after]
    items = [_shown(held) for held in rest[:limit]]
    return Reply({"items": items, "next": items[-1]["id"] if len(rest) > limit else None})


async def get_conflict(call: Call) -> Reply:
    """One conflict with both texts."""
    with call.services.store.reader(call.space) as reader:
        held = conflicts.get(reader, call.params["id"])
        file_text, store_text = conflicts.both_texts(reader, held)
    differences = [{"file": region["file"], "store": region["store"]} for region in held["regions"]]
    return Reply({**_shown(held), "fileText": file_text, "storeText": store_text, "differences": differences})


async def resolve(call: Call) -> Reply:
    """Settles a conflict."""
    asked = call.into(wire.Resolve)
    done = await settling.resolve(
        call.services,
        call.space,
        call.params["id"],
        keep=asked.keep,
        content=asked.content,
        who=call.who,
        idempotency=call.idempotency,
    )
    return Reply({name: done[name] for name in ("id", "path", "etag", "operation")})


async def status(call: Call) -> Reply:
    """How folder and store stand to each other."""
    return Reply(await settling.status(call.services, call.space))


async def sync(call: Call) -> Reply:
    """Looks at the whole folder now."""
    asked = call.into(wire.SyncNow)
    return Reply(
        await settling.sync(
            call.services,
            call.space,
            accept_deletions=asked.accept_deletions,
            accept_folder=asked.accept_folder,
            deep=asked.deep,
        )
    )


ROUTES = (
    Route(
        "GET",
        "/v1/conflicts",
        list_conflicts,
        "Where a person and the store disagree.",
        gives=wire.Page[wire.Conflict],
        query=("limit", "after"),
    ),
    Route("GET", "/v1/conflicts/{id}", get_conflict, "One conflict with both texts.", gives=wire.ConflictText),
    Route(
        "POST",
        "/v1/conflicts/{id}/resolve",
        resolve,
        "Settles a conflict.",
        takes=wire.Resolve,
        gives=wire.Resolved,
    ),
    Route("GET", "/v1/sync", status, "How the folder stands.", gives=wire.SyncStatus),
    Route("POST", "/v1/sync", sync, "Looks at the folder now.", takes=wire.SyncNow, gives=wire.SyncOutcome),
)
