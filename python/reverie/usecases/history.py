"""What happened, and how to take it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.errors import Conflict, NotFound, ValidationError
from reverie.models import EntryKind
from reverie.store import RULES, Kind, Write
from reverie.store.undo import undo_operation
from reverie.usecases import conflicts, documents
from reverie.usecases import restore as reverting
from reverie.usecases.distill import last_own
from reverie.usecases.projections import LIST, LISTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.store import Reader, Writer
    from reverie.usecases.writing import Author

__all__ = ["get", "number", "require", "rollback", "undo", "undoable"]

_TEXTS = (Kind.DOCUMENT, Kind.MEMORY, Kind.CONFLICT)  # documents are merged; memories and conflicts follow them
_DIGITS_MAX = 18
_RETURNED = (Kind.STATE, Kind.NOTE, Kind.DIGEST)


def get(reader: Reader, seq: int) -> dict[str, Any]:
    """One operation.

    Raises:
        NotFound: no operation of that number in this space.
    """
    found = reader.get(Kind.OPERATION, (seq,))
    if found is None:
        raise NotFound(f"there is no operation {seq}", hint="reverie log lists them")
    return found


def number(text: str) -> int:
    """The number that names an operation; 0 is the very beginning.

    Raises:
        ValidationError: it is not one.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX):
        raise ValidationError(f"{text[:40]!r} is not the number of an operation", hint="reverie log lists them")
    return int(text)


def require(reader: Reader, seq: int) -> None:
    """Lets pass the number of an operation, and 0, which is the very beginning.

    Raises:
        NotFound: no operation of that number in this space.
    """
    if seq:
        get(reader, seq)


def undoable(operation: dict[str, Any]) -> bool:
    """Whether an operation holds something to put back, and nothing that forbids it.

    A list that was brought up to date is nothing to take back: it would be made anew at once.
    """
    changes = operation["changes"]
    ways = {RULES[kind].undo for change in changes if (kind := Kind(change["kind"])) is not Kind.MEMORY}
    return (
        operation["why"] != LISTED
        and "restore" in ways
        and "refuse" not in ways
        and not any("purged" in change for change in changes)
    )


def undo(
    space: str,
    seq: int,
    *,
    who: str,
    author: Author,
    new_id: Callable[[], str],
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Takes back what operation `seq` did, as a new operation; what others did since stays where it goes together.

    The body answers `operation` None where nothing of it stands any more, so that nothing was written. It raises
    Conflict naming what a later operation changed in the same place, or that cannot be undone.
    """

    def body(writer: Writer) -> dict[str, Any]:
        undone = get(writer, seq)
        if undone["why"] == LISTED:
            raise Conflict(
                f"operation {seq} brought the list in {LIST} up to date, which nothing else would make different",
                hint="undo the operation before it, which changed what is listed",
            )
        texts = [change for change in undone["changes"] if Kind(change["kind"]) in (Kind.DOCUMENT, Kind.CONFLICT)]
        others = [change for change in undone["changes"] if Kind(change["kind"]) not in _TEXTS]
        if any(RULES[Kind(change["kind"])].undo != "leave" for change in others) or not texts:
            undo_operation(writer, seq, leave=_TEXTS)
        paths = reverting.undo_documents(writer, undone, author=author, new_id=new_id)
        conflicts.take_back(writer, undone, paths)
        for change in undone["changes"]:
            if change["kind"] == Kind.DISTILLATION.value:
                _rewind(writer, str(change["key"][0]))
        return {
            "operation": _became(writer),
            "undone": str(seq),
            "changes": undone["changes"] if writer.changed else [],
        }

    return Write(space=space, who=who, why=f"undo {seq}", body=body, idempotency=idempotency)


def rollback(
    space: str,
    seq: int,
    *,
    who: str,
    author: Author,
    new_id: Callable[[], str],
    path: str | None = None,
    memory: str | None = None,
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Brings documents, memories, notes and working states back to what they were when operation `seq` was committed.

    Of one document (`path`) or one `memory` alone, where that is asked. Messages, archives, purges and the ledger stay;
    so does the history, and an undo takes the rollback back. The body answers `operation` None where all is as it was
    then; it raises NotFound where there is no such operation or never was such a document or memory, or what the
    operation left is no longer kept.
    """
    if path is not None and memory is not None:
        raise ValidationError("say a path or a memory, not both", hint="leave one of them out")

    def body(writer: Writer) -> dict[str, Any]:
        require(writer, seq)
        if path is not None:
            documents.versions(writer, path)
        returned = 0
        if memory is not None:
            paths = reverting.return_memory(writer, memory, seq, author=author)
        else:
            only = None if path is None else [path]
            paths = reverting.return_documents(writer, seq, author=author, new_id=new_id, paths=only)
            returned = 0 if path is not None else _return_records(writer, seq)
        conflicts.return_to(writer, seq, paths, whole=path is None and memory is None)
        return {"operation": _became(writer), "to": str(seq), "documents": paths, "records": returned}

    return Write(space=space, who=who, why=f"rollback to {seq}", body=body, idempotency=idempotency)


def _became(writer: Writer) -> str | None:
    """The number of the operation that this write becomes; None where it changed nothing, and becomes none."""
    return str(writer.number) if writer.changed else None


def _return_records(writer: Writer, seq: int) -> int:
    """Puts back notes, states and digests that changed since; those of threads that are gone stay away."""
    changed = {
        (Kind(change["kind"]), tuple(change["key"]))
        for _, later in writer.scan(Kind.OPERATION, after=(seq,))
        for change in later["changes"]
        if Kind(change["kind"]) in _RETURNED and "purged" not in change
    }
    returned = 0
    for kind, key in sorted(changed):
        if writer.get(Kind.THREAD, (key[0],)) is None:
            continue
        past = [version for version in writer.history(kind, key) if version.operation <= seq]
        if past and past[-1].value is not None:
            returned += writer.put(kind, key, past[-1].value)
        else:
            returned += writer.delete(kind, key)
    return returned


def _rewind(writer: Writer, thread_id: str) -> None:
    """Sets a thread back to the newest distillation that it still has."""
    thread = writer.get(Kind.THREAD, (thread_id,))
    if thread is None:
        return
    last = writer.last(Kind.DISTILLATION, (thread_id,))
    # An imported summary has a number and no more: all that was said around it still counts.
    own = last_own(writer, thread_id)
    last_seq = (own.last_seq or 0) if own else 0
    since = writer.scan(Kind.ENTRY, (thread_id,), after=(thread_id, last_seq))
    said = sum(entry.get("tokens", 0) for _, entry in since if entry["kind"] == EntryKind.SPEECH.value)
    writer.put(
        Kind.THREAD,
        (thread_id,),
        {
            **thread,
            "distillations": last[1]["number"] if last else 0,
            "throughSeq": own.through_seq if own else 0,
            "extractedSeq": last_seq,
            "liveTokens": ((own.tokens_after or 0) if own else 0) + said,
            "usage": None,
        },
    )
