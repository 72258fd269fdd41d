"""Actions on documents: commit a person's save first, then the write, then update the file.

Routes, tools and the command line share them. The order is the same everywhere: what a person has saved is committed
first, so that a caller's change is checked against it, and the answer comes when the file is on disk again.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

from reverie import wire
from reverie.documents.project_paths import PERSON
from reverie.errors import Conflict, Forbidden
from reverie.paths import existing_spelling
from reverie.redact import current_log
from reverie.store import DocumentRecord, Write
from reverie.sync.redaction import has_marker
from reverie.usecases import documents, moves, redactions, review
from reverie.usecases.authors import is_agent
from reverie.usecases.forgotten_writes import HeldForPerson
from reverie.usecases.projections import LIST
from reveried.execute import read, stored_answer

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from reverie.store import Writer
    from reveried.services import Services

T = TypeVar("T")


async def put(
    services: Services,
    space: str,
    path: str,
    text: str,
    *,
    who: str,
    summary: str | None,
    if_match: str | None,
    idempotency: tuple[str, str] | None = None,
    project: str = PERSON,
    origin: Mapping[str, str] | None = None,
) -> DocumentRecord:
    """Write the whole text of a document, whose new memories are of `project`; return the record as stored."""
    write = documents.put(
        space,
        path,
        services.redactor.text(text),
        who=who,
        author="agent",
        new_id=partial(services.new_id, "mem"),
        if_match=if_match,
        summary=redacted(services, summary),
        idempotency=idempotency,
        project=project,
        origin=origin,
    )
    await check_spelling(services, space, path)
    return await commit_write(services, space, path, write)


async def patch(
    services: Services,
    space: str,
    path: str,
    patches: Sequence[tuple[str, str]],
    *,
    who: str,
    if_match: str | None,
    idempotency: tuple[str, str] | None,
    project: str = PERSON,
    origin: Mapping[str, str] | None = None,
) -> documents.PatchedDocument:
    """Replace exact texts of a document, searched for in its redacted form; return the document and their number."""
    redact = services.redactor.text
    write = documents.patched(
        space,
        path,
        [(redact(old), redact(new)) for old, new in patches],
        sent=[old for old, _ in patches],
        who=who,
        author="agent",
        new_id=partial(services.new_id, "mem"),
        if_match=if_match,
        idempotency=idempotency,
        project=project,
        origin=origin,
    )
    return await commit_write(services, space, path, write)


async def append(
    services: Services,
    space: str,
    path: str,
    entry: str,
    *,
    who: str,
    summary: str | None,
    if_match: str | None,
    idempotency: tuple[str, str] | None,
    project: str = PERSON,
    origin: Mapping[str, str] | None = None,
) -> DocumentRecord:
    """Append an entry to a document; return the record as stored."""
    write = documents.append(
        space,
        path,
        services.redactor.text(entry),
        who=who,
        author="agent",
        new_id=partial(services.new_id, "mem"),
        summary=redacted(services, summary),
        if_match=if_match,
        idempotency=idempotency,
        project=project,
        origin=origin,
    )
    await check_spelling(services, space, path)
    return await commit_write(services, space, path, write)


async def delete(
    services: Services,
    space: str,
    path: str,
    *,
    who: str,
    if_match: str | None,
    origin: Mapping[str, str] | None = None,
) -> wire.DocumentDeleted:
    """Delete a document and its file. Raises Forbidden where an agent deletes the list of all files."""
    if path == LIST and is_agent(who):
        raise Forbidden(f"{LIST} lists the memory files, and is written again", hint="delete the files that are to go")
    write = documents.delete(space, path, who=who, author="agent", if_match=if_match, origin=origin)
    return await commit_write(services, space, path, write, deletes="")


async def insert(
    services: Services,
    space: str,
    path: str,
    line: int,
    text: str,
    *,
    who: str,
    if_match: str | None = None,
    idempotency: tuple[str, str] | None = None,
    project: str = PERSON,
    origin: Mapping[str, str] | None = None,
) -> DocumentRecord:
    """Insert lines after a line of a document; return the record as stored."""
    write = moves.insert(
        space,
        path,
        line,
        services.redactor.text(text),
        who=who,
        author="agent",
        new_id=partial(services.new_id, "mem"),
        if_match=if_match,
        idempotency=idempotency,
        project=project,
        origin=origin,
    )
    return await commit_write(services, space, path, write)


async def move(
    services: Services,
    space: str,
    path: str,
    to: str,
    *,
    who: str,
    idempotency: tuple[str, str] | None = None,
    origin: Mapping[str, str] | None = None,
) -> wire.DocumentsMoved:
    """Move a document, or a folder with all that is below it, and their files."""
    replay = await stored_answer(services, space, idempotency, wire.DocumentsMoved)
    if replay is not None:
        return replay
    moved = await read(services, space, partial(moves.moved_paths, path=path, to=to))
    write = moves.move(
        space,
        path,
        to,
        who=who,
        author="agent",
        new_id=partial(services.new_id, "mem"),
        idempotency=idempotency,
        origin=origin,
    )
    for new in moved.values():
        check_writable(services, space, new)
    return await _commit_all(services, space, [*moved, *moved.values()], write, deleted=moved)


async def delete_folder(
    services: Services, space: str, path: str, *, who: str, origin: Mapping[str, str] | None = None
) -> wire.DocumentDeleted:
    """Delete every document below a folder, and their files."""
    paths = [record.path for record in await read(services, space, partial(moves.below, folder=path))]
    write = moves.delete_folder(space, path, who=who, author="agent", origin=origin)
    return await _commit_all(services, space, paths, write, deleted=paths)


async def _commit_all(
    services: Services, space: str, paths: Collection[str], write: Write[T], *, deleted: Collection[str]
) -> T:
    """Commit people's saves at all `paths`, then the write, and update the files; return the write's value.

    Raises Conflict if one of the files that are `deleted` holds a secret.
    """
    await services.sync_service.read_saves(space, paths)
    for path in deleted:
        await _check_secrets(services, space, path, "")
    value = await submit_or_hold(services, space, write)
    await services.sync_service.write_documents(space, paths)
    return value


# What every write does around its commit


async def commit_write(services: Services, space: str, path: str, write: Write[T], *, deletes: str | None = None) -> T:
    """Commit a person's save at `path`, then the write if it fits, and update the file; return the write's value.

    `deletes` is the text that the write deletes, "" for the whole document. Raises Conflict if no file can be written
    there, or if a person's secret would be deleted.
    """
    await services.sync_service.read_saves(space, {path})
    check_writable(services, space, path)
    if deletes is not None:
        await _check_secrets(services, space, path, deletes)
    value = await submit_or_hold(services, space, write)
    await note_taken(services, space, "document", path)
    await services.sync_service.write_documents(space, {path})
    return value


async def submit_or_hold(services: Services, space: str, write: Write[T]) -> T:
    """Commit a write and return its value; what an agent writes though a person forgot it waits for the person.

    Raises HeldForPerson then, once the candidate is stored.
    """
    try:
        return (await services.submit(write)).value
    except HeldForPerson as error:
        refusal = error

        def body(writer: Writer) -> list[str]:
            return review.keep_waiting(writer, [review.refused(writer, refusal, at=writer.at)])

        await services.submit(Write(space=space, who=write.who, why="candidate.add", body=body))
        raise


def check_writable(services: Services, space: str, path: str) -> None:
    """Refuse a path at which no file can be written, for example because a directory is there."""
    refusal = services.sync_service.refusal(space, path)
    if refusal is not None:
        raise Conflict(
            f"{path!r} cannot be written: what is at {refusal.path!r} is no file of the folder ({refusal.reason})",
            hint=refusal.hint,
            reason=refusal.reason,
        )


async def _check_secrets(services: Services, space: str, path: str, deletes: str) -> None:
    """Refuse to delete a secret: it is in the file alone, so no undo could restore it."""
    if deletes and not has_marker(deletes):
        return
    if any(not deletes or marker in deletes for marker in await services.sync_service.secret_markers(space, path)):
        raise Conflict(
            f"{path!r} holds a secret there, which only you can remove",
            hint=f"edit or delete the file: {services.sync_service.root_of(space) / path}",
            reason="secret",
        )


async def check_spelling(services: Services, space: str, path: str) -> None:
    """Refuse a new path that differs from an existing one only in case or Unicode form.

    On systems where both name one file, only one of the two would be read.
    """
    with services.store.reader(space) as reader:
        if reader.load(DocumentRecord, (path,)) is not None:
            return
    existing = existing_spelling(path, [document.path for document in await services.sync_service.documents(space)])
    if existing is not None:
        raise Conflict(
            f"{path!r} is on other systems the same name as one that is there",
            hint=f"spell it as it is there: {existing}",
            reason="collision",
        )


async def note_taken(services: Services, space: str, kind: Literal["thread", "memory", "document"], key: str) -> None:
    """Record what this request had redacted as found in a memory, a document, or a thread beside its messages."""
    log = current_log()
    taken = [] if log is None else log.drain()
    if taken:
        found = [redactions.Found(one, (kind, key, 0)) for one in taken]
        await services.submit(redactions.noted(space, found), bulk=True)


def redacted(services: Services, text: str | None) -> str | None:
    """Return the text with its secrets replaced, None for None."""
    return None if text is None else services.redactor.text(text)
