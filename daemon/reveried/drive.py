"""The driver of one write: a person's save is read first, then the write is committed, then its files are written.

A decided plan has the driver `execute`; sync and upkeep submit by themselves.

Committed before acknowledged: the answer comes when the operation is durable, and the documents that it changed are
files again. What follows a commit is logged and never raised, for the caller would else repeat what is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import accumulate
from typing import Any, ParamSpec, TypeVar

from reverie import texts
from reverie.errors import Conflict, ReverieError
from reverie.paths import existing_spelling
from reverie.redact import current_log
from reverie.store import DocumentRecord, Done, Kind, OperationRecord
from reverie.sync.redaction import has_marker
from reverie.usecases import redactions, review
from reverie.usecases.by import By, Files, Place, UseCase
from reverie.usecases.forgotten import HeldForPerson
from reveried.execute import read, stored_answer
from reveried.services import Services
from reveried.supervise import failures_logged

P = ParamSpec("P")
A = TypeVar("A")
T = TypeVar("T")


async def write(services: Services, do: UseCase[P, A], by: By, *args: P.args, **kwargs: P.kwargs) -> A:
    """Commit a use case as `commit` does, and return its answer."""
    return (await commit(services, do, by, *args, **kwargs)).value


async def commit(services: Services, do: UseCase[P, A], by: By, *args: P.args, **kwargs: P.kwargs) -> Done[A]:
    """Commit a use case as one operation, and return its answer and number once its files are written.

    With an idempotency key that was used before it is the stored answer. What an agent writes though a person forgot it
    waits for the person.

    Raises:
        Conflict: no file can be written there, a person's secret would go, or the key was used for another request.
        HeldForPerson: once the candidate is stored.
        ReverieError: what the use case raises; nothing is written.
    """

    async def attempt(since: int) -> Done[A]:
        return await commit_since(services, since, do, by, *args, **kwargs)

    return await while_outdated(services, attempt)


async def while_outdated(services: Services, attempt: Callable[[int], Awaitable[T]]) -> T:
    """Return the result of `attempt`, made again where what is allowed to stay has changed since it began.

    It gets the generation of the redactor at its beginning, for `commit_since`. Raises what it raises otherwise.
    """
    while True:
        since = services.redactor.generation
        try:
            return await attempt(since)
        except Conflict as conflict:
            if not conflict.details.get("stale") or since == services.redactor.generation:
                raise


async def commit_since(
    services: Services, since: int, do: UseCase[P, A], by: By, *args: P.args, **kwargs: P.kwargs
) -> Done[A]:
    """Commit a use case as `commit` does, of whose arguments some were redacted by that generation of the redactor.

    Raises what `commit` raises, and Conflict with `details["stale"]` where the redactor has another generation by now.
    """
    given = do.named(args, kwargs)
    for name, value in given.items():
        if name in do.texts:
            given[name] = _redacted(services, value)
        elif texts.has_texts(type(value)):
            given[name] = await asyncio.to_thread(texts.redacted, value, services.redactor)
    files = Files()
    if do.files is not None:
        try:
            files = await _files(services, do, by, given)
        except ReverieError:  # such as of a document that the first call with this key has moved away
            if (replay := await stored_answer(services, by.space, by.key, do.answers)) is not None:
                return Done(replay, None, replayed=True)
            raise
        await _prepare(services, by.space, files)
    try:
        made = do.write(replace(by, seen=files.seen), **given)  # type: ignore[call-arg] # by name
        done = await services.submit(redactions.unless_changed(made, services.redactor, since), bulk=do.bulk)
    except HeldForPerson as held:
        await services.submit(review.hold.write(by, held))
        raise
    with failures_logged("write", space=by.space):  # it is committed: an error would have the caller repeat it
        if do.found is not None:
            await note_taken(services, by.space, do.found(done.value, **given))
        if do.projects:
            await services.sync_service.write_all(by.space)
        elif do.files is not None:
            changed = _changed(services, by.space, done.operation)
            await services.sync_service.write_documents(by.space, {*files.paths, *changed})
    return done


async def _files(services: Services, do: UseCase[Any, Any], by: By, given: dict[str, Any]) -> Files:
    assert do.files is not None
    if do.scans:
        files_of = do.files
        return await read(services, by.space, lambda reader: files_of(reader, **given))
    with services.store.reader(by.space) as reader:
        return do.files(reader, **given)


async def _prepare(services: Services, space: str, files: Files) -> None:
    """Commit people's saves, and refuse what the folder cannot have."""
    if files.named is not None:
        await _check_spelling(services, space, files.named)
    if files.paths:
        await services.sync_service.read_saves(space, files.paths)
    for path in files.written:
        refusal = services.sync_service.folder(space).refusal(path)
        if refusal is not None:  # as of the last scan: the person may have done what the hint says since
            await services.sync_service.read_saves(space, accumulate(path.split("/"), "{}/{}".format))
            refusal = services.sync_service.folder(space).refusal(path)
        if refusal is not None:
            raise Conflict(
                f"{path!r} cannot be written: what is at {refusal.path!r} is no file of the folder ({refusal.reason})",
                hint=refusal.hint,
                reason=refusal.reason,
            )
    for path, text in files.deleted.items():
        await _check_secrets(services, space, path, text)


def _changed(services: Services, space: str, number: int | None) -> list[str]:
    if number is None:
        return []
    with services.store.reader(space) as reader:
        operation = reader.load(OperationRecord, (number,))
    return [] if operation is None else [str(one.key[0]) for one in operation.changes if one.kind is Kind.DOCUMENT]


async def note_taken(services: Services, space: str, place: Place) -> None:
    """Record what this request had redacted as found in a memory, a document, or a thread beside its messages."""
    log = current_log()
    taken = [] if log is None else log.drain()
    if taken:
        found = [redactions.Found(one, (*place, 0)) for one in taken]
        await services.submit(redactions.noted.write(By(space, "redaction"), found), bulk=True)


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


async def _check_spelling(services: Services, space: str, path: str) -> None:
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


def _redacted(services: Services, value: Any) -> Any:
    """Return a text, or all texts in a sequence or as values of a mapping, with their secrets replaced."""
    if isinstance(value, str):
        return services.redactor.text(value)
    if isinstance(value, dict):
        return {name: _redacted(services, one) for name, one in value.items()}
    if value is None or isinstance(value, int):
        return value
    return type(value)(_redacted(services, one) for one in value)
