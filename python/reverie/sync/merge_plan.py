"""Makes file and document of one path say the same, as far as the secrets of the file let them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reverie.documents.document_kind import conflict_copy
from reverie.sync.scan_context import is_ours, sha256
from reverie.sync.three_way import relocated
from reverie.sync.values import Copy, Kept, Known, Plan, Put, Saved, Shown, Write

if TYPE_CHECKING:
    from reverie.sync.redaction_view import Veil
    from reverie.sync.scan_context import Look
    from reverie.sync.values import Case, Held, Region

__all__ = ["carried", "copied", "if_new", "settled", "shown"]


def settled(
    case: Case,
    veil: Veil,
    held: Held,
    target: str,
    look: Look,
    *,
    save: str | None = None,
    conflict: tuple[Region, ...] | None = None,
) -> Plan:
    """File and document both get `target`, as far as the file's secrets let them.

    `save` is the SHA-256 of the person's save that `target` was made of. A `conflict` gives the store's text a copy.
    """
    known = case.known or Known(case.path, "", 0)
    after = carried(veil, target, look)
    if after is None:  # the person's text is taken whole, and the store's is kept beside it
        after, conflict = veil, ()
    disk, data = sha256(veil.raw.encode()) if case.disk is None else case.disk, after.raw.encode()
    operation = None if after.text != held.text else held.operation
    made_at = known.made_at if known.sha256 else look.now_ms
    then = Known(case.path, sha256(data), operation, made_at=made_at, saved=known.saved, earlier=known.earlier)
    if save is not None and case.replaced_by is not None and _is_later(known, case.replaced_by):
        then = replace(then.and_earlier(Saved(case.replaced_by - 1, veil.text)), merged=known.merged)
    elif save is not None and sha256(data) != save:  # an editor that does not load it again goes on from what was saved
        then = replace(then.and_saved(Saved(operation, veil.text)), merged=save)
    elif save is not None:
        then = then.and_saved(Saved(operation))
    elif known.merged == known.sha256:
        then = replace(then, merged=known.merged)
    writes: tuple[Write, ...] = ()
    if case.disk and not is_ours(known, case.disk):  # somebody has saved since: that is looked at next
        record = replace(known, saved=then.saved, earlier=then.earlier)
    elif sha256(data) == disk:
        record = replace(then, shown=known.shown) if case.disk else then
    else:
        then = replace(then, shown=shown(known, operation, look))
        writes = (Write(case.path, data, disk or None, then),)
        record = replace(
            known,
            sha256=disk,
            missing_since=None,
            intended=frozenset({then.sha256}),
            merged=then.merged,
            saved=then.saved,
            earlier=then.earlier,
        )
    plan = Plan(
        puts=(Put(case.path, after.text, held.operation),) if operation is None else (),
        records=if_new(record, case),
        writes=writes,
        kept=(Kept(case.path),) if after.text != target else (),
    )
    if conflict is None:
        return plan
    return plan.joined(copied(case.path, held.text, relocated(conflict, target, after.text), look))


def _is_later(known: Known, replaced_by: int) -> bool:
    """Whether the last save was made later than one that went into a file which that operation's text replaced."""
    saved = known.saved.operation if known.saved is not None else None
    return saved is not None and saved >= replaced_by


def carried(veil: Veil, target: str, look: Look) -> Veil | None:
    """The person's text made to say `target`, veiled again; None if that would lose a secret or show one."""
    raw = veil.apply(target)
    if raw is None:
        return None
    after = look.veil(raw)
    return None if veil.leaks(after.text) else after


def copied(path: str, text: str, regions: tuple[Region, ...], look: Look) -> Plan:
    """The store's text becomes a document of its own, beside the person's file."""
    copy_path, data = conflict_copy(path, look.stamp, look.new_id()), text.encode()
    record = Known(copy_path, "", 0, intended=frozenset({sha256(data)}))
    then = Known(copy_path, sha256(data), None)
    return Plan(
        puts=(Put(copy_path, text, None),),
        records=(record,),
        writes=(Write(copy_path, data, None, then),),
        copies=(Copy(path, copy_path, text, regions),),
    )


def shown(known: Known, operation: int | None, look: Look) -> tuple[Shown, ...]:
    """What the disk has shown lately, with what it is about to show."""
    lately = (each for each in known.shown if look.now_ms - each.at < look.rules.unseen_ms)
    return (Shown(operation, look.now_ms), *lately)[: look.rules.versions_max]


def if_new(record: Known, case: Case) -> tuple[Known, ...]:
    """The record, unless it is what is known already."""
    return () if record == case.known else (record,)
