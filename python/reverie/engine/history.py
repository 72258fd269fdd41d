"""What happened, and how to take it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.engine import consolidation
from reverie.engine.distillation import last_own
from reverie.errors import NotFound
from reverie.models import EntryKind
from reverie.store import RULES, Kind, Write
from reverie.store.undo import restore

if TYPE_CHECKING:
    from reverie.store import Reader, Writer

__all__ = ["get", "undo", "undoable"]

_DRAWN = (Kind.DOCUMENT,)  # made anew from the memories that are put back


def get(reader: Reader, seq: int) -> dict[str, Any]:
    """One operation.

    Raises:
        NotFound: no operation of that number in this space.
    """
    found = reader.get(Kind.OPERATION, (seq,))
    if found is None:
        raise NotFound(f"there is no operation {seq}", hint="reverie log lists them")
    return found


def undoable(operation: dict[str, Any]) -> bool:
    """Whether an operation holds something to put back, and nothing that forbids it."""
    changes = operation["changes"]
    ways = {RULES[kind].undo for change in changes if (kind := Kind(change["kind"])) not in _DRAWN}
    return "restore" in ways and "refuse" not in ways and not any("purged" in change for change in changes)


def undo(space: str, seq: int, *, who: str, idempotency: tuple[str, str] | None = None) -> Write[dict[str, Any]]:
    """Puts back what operation `seq` changed, as a new operation.

    The body raises Conflict naming what a later operation changed, ValidationError for what cannot be undone.
    """

    def body(writer: Writer) -> dict[str, Any]:
        undone = get(writer, seq)
        changes = restore(writer, seq, leave=_DRAWN)
        if any(change["kind"] == Kind.MEMORY.value for change in changes):
            consolidation.redraw(writer, at=writer.at)
        for change in undone["changes"]:
            if change["kind"] == Kind.DISTILLATION.value:
                _rewind(writer, str(change["key"][0]))
        return {"operation": str(writer.number), "undone": str(seq), "changes": changes}

    return Write(space=space, who=who, why=f"undo {seq}", body=body, idempotency=idempotency)


def _rewind(writer: Writer, thread_id: str) -> None:
    """Sets a thread back to the newest distillation that it still has."""
    thread = writer.get(Kind.THREAD, (thread_id,))
    if thread is None:
        return
    last = writer.last(Kind.DISTILLATION, (thread_id,))
    # An imported summary has a number and no more: all that was said around it still counts.
    own = last_own(writer, thread) or {"throughSeq": 0, "lastSeq": 0, "tokensAfter": 0}
    since = writer.scan(Kind.ENTRY, (thread_id,), after=(thread_id, own["lastSeq"]))
    said = sum(entry.get("tokens", 0) for _, entry in since if entry["kind"] == EntryKind.SPEECH.value)
    writer.put(
        Kind.THREAD,
        (thread_id,),
        {
            **thread,
            "distillations": last[1]["number"] if last else 0,
            "throughSeq": own["throughSeq"],
            "extractedSeq": own["lastSeq"],
            "liveTokens": own["tokensAfter"] + said,
            "usage": None,
        },
    )
