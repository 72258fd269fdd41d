"""Actions on the sync of a folder: its status, a scan now, and the resolution of a conflict."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from reverie import wire
from reverie.errors import ValidationError
from reverie.store import ConflictRecord
from reverie.usecases import conflicts

if TYPE_CHECKING:
    from reverie.sync.path_state import Answer
    from reverie.usecases.conflicts import Keep
    from reverie.usecases.document_writes import Author
    from reveried.services import Services

__all__ = ["answer_of", "resolve", "scan_now", "status"]


async def resolve(
    services: Services,
    space: str,
    conflict_id: str,
    *,
    keep: Keep | None,
    content: str | None,
    who: str,
    author: Author,
    idempotency: tuple[str, str] | None,
) -> wire.Resolved:
    """Resolve a conflict, and write its files to disk.

    The texts are read before saves of people are committed: the caller cannot have read what was saved only now, so
    the write is refused if that changes one of them.
    """
    with services.store.reader(space) as reader:
        conflict = reader.load(ConflictRecord, (conflict_id,))
        read_texts = None if conflict is None else conflicts.both_texts(reader, conflict)
    paths = {conflict.path, conflict.copy} if conflict is not None else set()
    await services.sync_service.read_saves(space, paths)
    write = conflicts.resolve(
        space,
        conflict_id,
        keep=keep,
        content=None if content is None else services.redactor.text(content),
        who=who,
        author=author,
        read_texts=read_texts,
        new_id=partial(services.new_id, "mem"),
        idempotency=idempotency,
    )
    answer = (await services.submit(write)).value
    await services.sync_service.write_documents(space, paths)
    return answer


def answer_of(body: wire.SyncNow) -> Answer | None:
    """Return a person's decision about missing and older files.

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


async def scan_now(
    services: Services, space: str, *, answer: Answer | None, accept_folder: bool, deep: bool
) -> wire.SyncOutcome:
    """Scan the whole folder now; with `accept_folder` the folder that is there becomes the space's."""
    if accept_folder:
        await services.sync_service.accept_folder(space)
    outcome = await services.sync_service.sync(space, None, whole=True, deep=deep, answer=answer)
    await services.sync_service.update_projections(space)
    return wire.SyncOutcome(
        read=outcome.read,
        adopted=outcome.adopted,
        written=outcome.written,
        deleted=outcome.deleted,
        conflicts=outcome.conflicts,
        status=await status(services, space),
    )


async def status(services: Services, space: str) -> wire.SyncStatus:
    """Return the sync status of a folder."""
    return await asyncio.to_thread(services.sync_service.status, space)
