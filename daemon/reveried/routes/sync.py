"""`/v1/conflicts` and `/v1/sync`: conflicts between files and the store, and the sync status of the folder."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from reverie import wire
from reverie.api.documents import Documents
from reverie.decode import mapped
from reverie.errors import ValidationError
from reverie.usecases import conflicts
from reveried.drive import write
from reveried.execute import answer_once
from reveried.http.route import serves

if TYPE_CHECKING:
    from reverie.sync.inputs import Answer
    from reveried.http.types import Call
    from reveried.services import Services


def _answer_of(body: wire.SyncNow) -> Answer | None:
    """Return the person's decision about missing and older files that a request has: one name, or None.

    Raises:
        ValidationError: there is more than one.
    """
    answers: dict[Answer, bool] = {
        "deletions": body.accept_deletions,
        "older": body.accept_older,
        "put_back": body.put_back,
    }
    given = [answer for answer, is_given in answers.items() if is_given]
    if len(given) > 1:
        raise ValidationError(
            "acceptDeletions, acceptOlder and putBack exclude each other",
            hint="give one of them: `reverie sync status` shows what is missing or older",
        )
    return given[0] if given else None


async def _scan_folder(
    services: Services, space: str, *, answer: Answer | None, accept_folder: bool, deep: bool
) -> wire.SyncOutcome:
    """Scan the whole folder now; with `accept_folder` first accept the present folder as the space's."""
    if accept_folder:
        await services.sync_service.accept_folder(space)
    outcome = await services.sync_service.sync(space, None, whole=True, deep=deep, answer=answer)
    await services.sync_service.update_projections(space)
    return mapped(outcome, wire.SyncOutcome, status=await _sync_status(services, space))


async def _sync_status(services: Services, space: str) -> wire.SyncStatus:
    """Return the sync status of a folder."""
    return await asyncio.to_thread(services.sync_service.status, space)


@serves(Documents.conflicts)
async def list_conflicts(call: Call) -> wire.Page[wire.Conflict]:
    """Return the open conflicts, oldest first."""
    query = call.query_as(wire.ListQuery)
    with call.services.store.reader(call.space) as reader:
        return conflicts.conflict_page(reader, after=query.after or "", limit=query.limit)


@serves(Documents.conflict)
async def get_conflict(call: Call) -> wire.ConflictText:
    """Return one conflict with both texts."""
    with call.services.store.reader(call.space) as reader:
        return conflicts.conflict_answer(reader, call.params["id"])


@serves(Documents.resolve)
async def resolve(call: Call) -> wire.Resolved:
    """Resolve a conflict."""
    body = call.into(wire.Resolve)
    by = replace(call.by, author="person" if call.agent is None else "agent")
    return await write(call.services, conflicts.resolve, by, call.params["id"], keep=body.keep, content=body.content)


@serves(Documents.sync_status)
async def get_status(call: Call) -> wire.SyncStatus:
    """Return the sync status of the folder."""
    return await _sync_status(call.services, call.space)


@serves(Documents.sync_now)
async def scan_now(call: Call) -> wire.SyncOutcome:
    """Scan the whole folder now."""
    body = call.into(wire.SyncNow)

    async def scan() -> wire.SyncOutcome:
        return await _scan_folder(
            call.services, call.space, answer=_answer_of(body), accept_folder=body.accept_folder, deep=body.deep
        )

    return await answer_once(call.services, call.space, call.idempotency, scan, wire.SyncOutcome)
