"""Undo: put back the versions that an operation replaced, provided that nothing in it has changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.errors import Conflict, NotFound
from reverie.store.kinds import RULES, Key, Kind
from reverie.store.prune import THREAD_KINDS
from reverie.store.records import OperationRecord

if TYPE_CHECKING:
    from collections.abc import Collection

    from reverie.store.records import ChangeRecord
    from reverie.store.writer import Writer


def undo_operation(
    writer: Writer, operation: int, *, leave: Collection[Kind] = (), keep: Collection[tuple[Kind, Key]] = ()
) -> list[ChangeRecord]:
    """Undo `operation` inside `writer`, whose write becomes a new operation; return the changes that were put back.

    Kinds in `leave` are skipped: the caller makes them anew from what is put back. The records in `keep`, and those of
    kinds that an undo leaves alone (`schema.Rule.undo`), stay as they are.

    Raises NotFound where there is no such operation or an earlier version is no longer kept; Conflict where it appended
    messages or purged, where its thread was deleted, where nothing in it can be put back, or, naming the keys, where
    something changed since.
    """
    record = writer.load(OperationRecord, (operation,))
    if record is None:
        raise NotFound(f"there is no operation {operation}", hint="`reverie log` lists them")
    changes = _restorable(
        operation, record.why, [change for change in record.changes if _kind_and_key(change) not in keep], leave
    )
    _require_threads(writer, operation, changes)
    # All of it or nothing: undoing half of an operation would make a state that never existed.
    changed = [change for change in changes if writer.latest(*_kind_and_key(change)) != operation]
    if changed:
        raise Conflict(
            f"operation {operation} cannot be undone: {len(changed)} of its records changed since",
            hint="undo the later operations first, or edit the records",
            keys=[{"kind": change.kind.value, "key": change.key} for change in changed],
        )
    for change in changes:
        _put_back(writer, change)
    return changes


def _restorable(operation: int, why: str, changes: list[ChangeRecord], leave: Collection[Kind]) -> list[ChangeRecord]:
    """Return the changes that are to be put back. Raises Conflict where one forbids the undo, or there is none."""
    for change in changes:
        if RULES[change.kind].undo == "refuse":
            raise Conflict(
                f"operation {operation} ({why}) cannot be undone: it appended {change.kind} records",
                hint="delete the thread if it is not wanted",
            )
        if change.purged:
            raise Conflict(
                f"operation {operation} ({why}) cannot be undone: what it purged is gone for good",
                hint="restore a backup",
            )
    restorable = [change for change in changes if change.kind not in leave and RULES[change.kind].undo == "restore"]
    if not restorable:
        raise Conflict(f"operation {operation} ({why}) cannot be undone", hint="`reverie log` says which can be undone")
    return restorable


def _require_threads(writer: Writer, operation: int, changes: list[ChangeRecord]) -> None:
    """Raise Conflict where a change belongs to a deleted thread: no part of it may come back without the rest."""
    threads = {str(change.key[0]) for change in changes if change.kind in THREAD_KINDS}
    deleted = sorted(thread for thread in threads if not writer.exists(Kind.THREAD, (thread,)))
    if deleted:
        raise Conflict(
            f"operation {operation} belongs to thread {deleted[0]!r}, which is deleted",
            hint="a deleted thread does not come back; restore a backup if it must",
            threads=deleted,
        )


def _kind_and_key(change: ChangeRecord) -> tuple[Kind, Key]:
    return change.kind, tuple(change.key)


def _put_back(writer: Writer, change: ChangeRecord) -> None:
    """Make a record what it was before the change: delete it, or write the earlier version again."""
    kind, key = _kind_and_key(change)
    if change.before is None:
        writer.delete(kind, key)
    else:
        writer.put_sealed(kind, key, writer.at_version(kind, key, change.before))
