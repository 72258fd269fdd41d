"""A caller's change of a document or a memory: what the file says first, then one commit, then the file on disk."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from reverie.errors import Conflict
from reverie.paths import existing_spelling
from reverie.store import Kind
from reverie.sync.redaction_view import has_marker
from reverie.usecases import documents, memories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Candidate
    from reverie.store import Write
    from reverie.usecases.writing import Author
    from reveried.services import Services

__all__ = ["append", "change", "delete", "forget", "patch", "put", "remember"]


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
) -> dict[str, Any]:
    """What `PUT /v1/documents/{path}` answers from: the record as stored."""
    write = documents.put(
        space,
        path,
        services.redactor.text(text),
        who=who,
        author="agent",
        new_id=partial(services.new_id, "mem"),
        if_match=if_match,
        summary=_clean(services, summary),
        idempotency=idempotency,
    )
    await _is_new_or_there(services, space, path)
    return await _written(services, space, path, write)


async def patch(
    services: Services,
    space: str,
    path: str,
    patches: Sequence[tuple[str, str]],
    *,
    who: str,
    if_match: str | None,
    idempotency: tuple[str, str] | None,
) -> dict[str, Any]:
    """The record as stored, and `appliedCount`. An old text is looked for as the document shows it: redacted."""
    clean = services.redactor.text
    write = documents.patched(
        space,
        path,
        [(clean(old), clean(new)) for old, new in patches],
        who=who,
        author="agent",
        new_id=partial(services.new_id, "mem"),
        if_match=if_match,
        idempotency=idempotency,
    )
    return await _written(services, space, path, write)


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
) -> dict[str, Any]:
    """The record as stored."""
    write = documents.append(
        space,
        path,
        services.redactor.text(entry),
        who=who,
        author="agent",
        new_id=partial(services.new_id, "mem"),
        summary=_clean(services, summary),
        if_match=if_match,
        idempotency=idempotency,
    )
    await _is_new_or_there(services, space, path)
    return await _written(services, space, path, write)


async def delete(services: Services, space: str, path: str, *, who: str, if_match: str | None) -> dict[str, Any]:
    """What `DELETE /v1/documents/{path}` answers."""
    write = documents.delete(space, path, who=who, author="agent", if_match=if_match)
    return await _written(services, space, path, write, deletes="")


async def remember(
    services: Services,
    space: str,
    candidate: Candidate,
    *,
    who: str,
    author: Author,
    document: str | None,
    idempotency: tuple[str, str] | None,
) -> dict[str, Any]:
    """The record of a new memory."""
    write = memories.remember(
        space,
        candidate,
        who=who,
        author=author,
        new_id=partial(services.new_id, "mem"),
        document=document,
        idempotency=idempotency,
    )
    if document is not None:
        await _is_new_or_there(services, space, document)
        _refuse_blocked(services, space, document)
    done = (await services.submit(write)).value
    await services.folders.write_documents(space, {done["document"]})
    return dict(done)


async def change(
    services: Services,
    space: str,
    memory_id: str,
    *,
    content: str | None,
    tags: Sequence[str] | None,
    who: str,
    author: Author,
) -> dict[str, Any]:
    """The record of a memory as it reads now."""
    seen = _seen(services, space, memory_id)
    write = memories.change(
        space, memory_id, content=_clean(services, content), tags=tags, who=who, author=author, seen=seen
    )
    return await _written(services, space, seen["document"], write)


async def forget(services: Services, space: str, memory_id: str, *, who: str, author: Author) -> dict[str, Any]:
    """What `DELETE /v1/memories/{id}` answers."""
    seen = _seen(services, space, memory_id)
    write = memories.forget(space, memory_id, who=who, author=author, seen=seen)
    return await _written(services, space, seen["document"], write, deletes=seen["content"])


async def _written(
    services: Services, space: str, path: str, write: Write[dict[str, Any]], *, deletes: str | None = None
) -> dict[str, Any]:
    """Takes in what a person saved there, commits, and puts the document on disk before anyone is told.

    `deletes` are the words that go, "" stands for all of them. Raises Conflict where no file can be written, and where
    a person's secret would go.
    """
    await services.folders.read_saves(space, {path})
    _refuse_blocked(services, space, path)
    if deletes is not None:
        await _refuse_secret(services, space, path, deletes)
    done = (await services.submit(write)).value
    await services.folders.write_documents(space, {path})
    return dict(done)


def _refuse_blocked(services: Services, space: str, path: str) -> None:
    found = services.folders.refusal(space, path)
    if found is not None:
        raise Conflict(
            f"{path!r} cannot be written: what is at {found.path!r} is no file of the folder ({found.reason})",
            hint=found.hint,
            reason=found.reason,
        )


async def _refuse_secret(services: Services, space: str, path: str, words: str) -> None:
    """A secret is in the file alone: nobody could bring it back, so only a person takes it out."""
    if words and not has_marker(words):
        return
    if any(not words or marker in words for marker in await services.folders.secret_markers(space, path)):
        raise Conflict(
            f"{path!r} holds a secret there, which only you can remove",
            hint=f"edit or delete the file: {services.folders.root_of(space) / path}",
            reason="secret",
        )


async def _is_new_or_there(services: Services, space: str, path: str) -> None:
    """A caller makes no second spelling of a name that is there: of such two files, one would no longer be read."""
    with services.store.reader(space) as reader:
        if reader.get(Kind.DOCUMENT, (path,)) is not None:
            return
    there = existing_spelling(path, [entry.path for entry in await services.folders.documents(space)])
    if there is not None:
        raise Conflict(
            f"{path!r} is on other systems the same name as one that is there",
            hint=f"spell it as it is there: {there}",
            reason="collision",
        )


def _seen(services: Services, space: str, memory_id: str) -> dict[str, Any]:
    """What the caller can have read of a memory; what a person saved meanwhile they have not."""
    with services.store.reader(space) as reader:
        return memories.get(reader, memory_id)


def _clean(services: Services, text: str | None) -> str | None:
    return None if text is None else services.redactor.text(text)
