"""`/v1/conflicts` and `/v1/sync`: conflicts between files and the store, and the sync status of the folder."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from reverie import wire
from reverie.api.documents import Documents
from reverie.decode import mapped
from reverie.errors import Forbidden, ValidationError
from reverie.usecases import conflicts
from reveried.drive import write
from reveried.http.route import reads, serves

if TYPE_CHECKING:
    from reverie.store import Reader
    from reverie.sync.plan import Answer
    from reveried.http.types import Call


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


@reads(Documents.conflicts)
def list_conflicts(reader: Reader, call: Call) -> wire.Page[wire.Conflict]:
    """Return the open conflicts, oldest first."""
    query = call.query_as(wire.ListQuery)
    return conflicts.conflict_page(reader, after=query.after or "", limit=query.limit)


reads(Documents.conflict)(lambda reader, call: conflicts.conflict_answer(reader, call.params["id"]))


@serves(Documents.resolve)
async def resolve(call: Call) -> wire.Resolved:
    """Resolve a conflict."""
    body = call.into(wire.Resolve)
    by = replace(call.by, author="person" if call.agent is None else "agent")
    return await write(call.services, conflicts.resolve, by, call.params["id"], keep=body.keep, content=body.content)


@serves(Documents.sync_status)
async def get_status(call: Call) -> wire.SyncStatus:
    """Return the sync status of the folder."""
    return await asyncio.to_thread(call.services.sync_service.status, call.space)


@serves(Documents.sync_now, once=True)
async def scan_now(call: Call) -> wire.SyncOutcome:
    """Scan the whole folder now; with `accept_folder` first accept the present folder as the space's.

    Raises:
        Forbidden: an agent's token decides about missing or older files, or about the folder.
    """
    body, sync = call.into(wire.SyncNow), call.services.sync_service
    answer = _answer_of(body)
    if call.agent is not None and (answer is not None or body.accept_folder):
        # The scan makes of it what a person deleted or saved, which outranks and forgets.
        raise Forbidden(
            "an agent's token may not decide about missing or older files, nor accept a folder",
            hint="a person decides: reverie sync status, without the agent's token",
        )
    if body.accept_folder:
        await sync.accept_folder(call.space)
    outcome = await sync.sync(call.space, None, whole=True, deep=body.deep, answer=answer)
    await sync.update_projections(call.space)
    return mapped(outcome, wire.SyncOutcome, status=await asyncio.to_thread(sync.status, call.space))
