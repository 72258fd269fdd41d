"""Puts back what an operation replaced, where nobody has changed it since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.errors import Conflict, NotFound
from reverie.store.purge import THREAD_KINDS
from reverie.store.schema import RULES, Key, Kind

if TYPE_CHECKING:
    from collections.abc import Collection

    from reverie.store.writer import Writer

__all__ = ["restore"]


def restore(writer: Writer, operation: int, *, leave: Collection[Kind] = ()) -> list[dict[str, Any]]:
    """Undoes `operation` inside `writer`, whose write becomes the operation that does so; the changes put back.

    Kinds in `leave` are passed over: the caller makes them anew from what is put back.

    Each change has `kind`, `key`, `before` and `after` as the operation listed them. Records of kinds that an undo
    leaves alone (schema.Rule.undo) stay as they are. Raises NotFound where there is no such operation or an earlier
    version is no longer kept; Conflict where it appended messages or purged, where its thread was deleted, where
    nothing in it can be put back, or, naming the keys, where something changed since.
    """
    record = writer.get(Kind.OPERATION, (operation,))
    if record is None:
        raise NotFound(f"there is no operation {operation}", hint="`reverie log` lists them")
    changes = _restorable(operation, record["changes"], leave)
    _threads_there(writer, operation, changes)
    changed = [change for change in changes if writer.latest(*_place(change)) != operation]
    if changed:
        raise Conflict(
            f"operation {operation} cannot be undone: {len(changed)} of its records changed since",
            hint="undo the later operations first, or edit the records",
            keys=[{"kind": change["kind"], "key": change["key"]} for change in changed],
        )
    for change in changes:
        _put_back(writer, change)
    return changes


def _restorable(operation: int, changes: list[dict[str, Any]], leave: Collection[Kind]) -> list[dict[str, Any]]:
    for change in changes:
        if RULES[Kind(change["kind"])].undo == "refuse":
            raise Conflict(
                f"operation {operation} appended {change['kind']} records, which are never taken back",
                hint="delete the thread if it is not wanted",
            )
        if "purged" in change:
            raise Conflict(f"operation {operation} purged records, which are gone for good", hint="restore a backup")
    kept = [change for change in changes if Kind(change["kind"]) not in leave]
    found = [change for change in kept if RULES[Kind(change["kind"])].undo == "restore"]
    if not found:
        raise Conflict(
            f"operation {operation} changed nothing that can be put back", hint="`reverie log` says which can be undone"
        )
    return found


def _threads_there(writer: Writer, operation: int, changes: list[dict[str, Any]]) -> None:
    """Raises Conflict where a change belongs to a thread that was deleted: nothing of it may come back by itself."""
    owned = {str(change["key"][0]) for change in changes if Kind(change["kind"]) in THREAD_KINDS}
    gone = sorted(thread for thread in owned if writer.get(Kind.THREAD, (thread,)) is None)
    if gone:
        raise Conflict(
            f"operation {operation} belongs to thread {gone[0]!r}, which is deleted",
            hint="a deleted thread does not come back; restore a backup if it must",
            threads=gone,
        )


def _place(change: dict[str, Any]) -> tuple[Kind, Key]:
    return Kind(change["kind"]), tuple(change["key"])


def _put_back(writer: Writer, change: dict[str, Any]) -> None:
    kind, key = _place(change)
    if change["before"] is None:
        writer.delete(kind, key)
    else:
        writer.put_sealed(kind, key, writer.at_version(kind, key, change["before"]))
