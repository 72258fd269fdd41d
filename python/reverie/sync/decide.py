"""What is to be done about one path: the decision table of sync."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from reverie.sync.combine import combine
from reverie.sync.origin import is_unrecorded, origin
from reverie.sync.values import Copy, Delete, Kept, Known, Plan, Put, Remove, Shown, Version, Write

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.sync.values import Case, Held, Region, Rules
    from reverie.sync.veil import Veil

__all__ = ["Look", "decide", "is_ours", "is_unchanged_in_store", "sha256"]

_NAME_BYTES_MAX = 255
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Look:
    """What is the same for all paths of one look at the folder.

    `meant` are files, by path, that are taken as they are although an earlier text would explain them.
    """

    veil: Callable[[str], Veil]
    now_ms: int
    stamp: str
    new_id: Callable[[], str]
    rules: Rules
    meant: frozenset[str] = frozenset()


def sha256(data: bytes) -> str:
    """The address of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def is_unchanged_in_store(case: Case) -> bool:
    """Whether the store says of the path what it said when folder and store last agreed."""
    held, known = case.held, case.known
    if held is None or known is None:
        return held is None and known is None
    then = (version.text for version in case.versions if version.operation == known.operation)
    return held.operation == known.operation or held.text in then


def is_ours(known: Known | None, found: str) -> bool:
    """Whether a file of this SHA-256 is as it was left: nobody but us has written it since."""
    return known is not None and (found == known.sha256 or found in known.intended)


def decide(case: Case, look: Look) -> Plan:
    """What is to be done about a path, whatever is done about others."""
    if case.seen is None:
        return _without_file(case, look)
    if case.held is None:
        return _without_document(case, case.seen, look)
    if is_ours(case.known, sha256(case.seen)):
        return _untouched(case, case.seen, case.held, look)
    return _saved(case, case.seen, case.held, look)


def _without_file(case: Case, look: Look) -> Plan:
    """There is no file: it was never written, it is gone, or it may come back at once."""
    known, held = case.known, case.held
    if held is None:
        return Plan(forgotten=(case.path,)) if known is not None else Plan()
    if known is None or not known.sha256 or not is_unchanged_in_store(case):
        return _written_anew(case, held, look)
    since = _since(known, look)
    if since is None:
        return Plan(
            records=(replace(known, missing_since=look.now_ms),), look_at=look.now_ms + look.rules.delete_quiet_ms
        )
    if look.now_ms - since < look.rules.delete_quiet_ms:
        return Plan(look_at=since + look.rules.delete_quiet_ms)
    return Plan(deletes=(Delete(case.path, held.operation),), forgotten=(case.path,))


def _written_anew(case: Case, held: Held, look: Look) -> Plan:
    """The store's text is written where no file is."""
    known = case.known or Known(case.path, "", 0)
    data = held.text.encode()
    record = replace(known, sha256="", missing_since=None, intended=frozenset({sha256(data)}))
    then = replace(
        record,
        sha256=sha256(data),
        operation=held.operation,
        intended=frozenset(),
        merged=None,
        shown=_shown(known, held.operation, look),
    )
    return Plan(records=_if_new(record, case), writes=(Write(case.path, data, None, then),))


def _without_document(case: Case, seen: bytes, look: Look) -> Plan:
    """There is a file and no document: a new file, one that was edited while its document was deleted, or neither."""
    veil = look.veil(seen.decode())
    ours = is_ours(case.known, sha256(seen)) or is_unrecorded(case, veil.text)
    if ours and not veil.spans:
        return Plan(removals=(Remove(case.path, case.disk or sha256(seen)),))
    return Plan(
        puts=(Put(case.path, veil.text, None),),
        records=(Known(case.path, sha256(seen), None),),
        kept=(Kept(case.path),) if ours else (),
    )


def _untouched(case: Case, seen: bytes, held: Held, look: Look) -> Plan:
    """The file is as it was left: what the store has come to say since is written."""
    known, found = case.known, sha256(seen)
    assert known is not None
    if known.sha256 == found and known.operation == held.operation:
        return Plan(records=_if_new(replace(known, missing_since=None), case))
    veil = look.veil(seen.decode())
    if veil.text == held.text:
        return Plan(records=(_agreed(case, found, held, look),))
    return _settled(case, veil, held, held.text, look)


def _saved(case: Case, seen: bytes, held: Held, look: Look) -> Plan:
    """Somebody saved the file, or made it."""
    veil, found = look.veil(seen.decode()), sha256(seen)
    if veil.text == held.text and case.disk in {None, found}:
        return Plan(records=(_agreed(case, found, held, look),))
    waiting = _wait_for_words(case, seen, held, look)
    if waiting is not None:
        return waiting
    if case.known is None and not seen.removeprefix(_BOM):
        return _settled(case, veil, held, held.text, look)
    if is_unrecorded(case, veil.text):
        return _settled(case, veil, held, held.text, look)
    meant = case.reverted or case.path in look.meant
    base = origin(case, veil.text, saved=found, meant=meant, now_ms=look.now_ms, rules=look.rules)
    if base is None:  # neither text was made from the other
        return _settled(case, veil, held, veil.text, look, conflict=())
    combined = combine(base.text, held.text, veil.text)
    return _settled(case, veil, held, combined.text, look, save=found, conflict=combined.regions or None)


def _wait_for_words(case: Case, seen: bytes, held: Held, look: Look) -> Plan | None:
    """A file that shrank to nothing may be one that is being written: it is believed when it is quiet."""
    known = case.known
    if known is None or seen.removeprefix(_BOM) or not held.text:
        return None
    since = _since(known, look)
    if since is None:
        return Plan(
            records=(replace(known, missing_since=look.now_ms),), look_at=look.now_ms + look.rules.delete_quiet_ms
        )
    if look.now_ms - since < look.rules.delete_quiet_ms:
        return Plan(look_at=since + look.rules.delete_quiet_ms)
    return None


def _settled(
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
    after = _carried(veil, target, look)
    if after is None:  # the person's text is taken whole, and the store's is kept beside it
        after, conflict = veil, conflict or ()
    disk, data = case.disk or sha256(veil.raw.encode()), after.raw.encode()
    put = after.text != held.text
    operation = None if put else held.operation
    record = Known(case.path, disk, operation, saves=known.saves)
    writes: tuple[Write, ...] = ()
    if sha256(data) != disk:
        merged = save or (known.merged if known.merged == known.sha256 else None)
        saves = _saves(case, known, held, veil.text, look) if save else known.saves
        then = Known(
            case.path,
            sha256(data),
            operation,
            merged=merged,
            shown=_shown(known, operation, look),
            saves=saves,
        )
        record = replace(
            known,
            sha256=disk,
            missing_since=None,
            intended=frozenset({sha256(data)}),
            merged=merged,
            saves=saves,
        )
        writes = (Write(case.path, data, disk, then),)
    elif case.disk:
        record = replace(record, merged=save, shown=known.shown, saves=_saves(case, known, held, veil.text, look))
    plan = Plan(
        puts=(Put(case.path, after.text, held.operation),) if put else (),
        records=_if_new(record, case),
        writes=writes,
        kept=(Kept(case.path),) if after.text != target else (),
    )
    return plan if conflict is None else plan.joined(_copied(case.path, held.text, conflict, look))


def _carried(veil: Veil, target: str, look: Look) -> Veil | None:
    """The person's text made to say `target`, veiled again; None if that would lose a secret or show one."""
    raw = veil.apply(target)
    if raw is None:
        return None
    after = look.veil(raw)
    return None if veil.leaks(after.text) else after


def _copied(path: str, text: str, regions: tuple[Region, ...], look: Look) -> Plan:
    """The store's text becomes a document of its own, beside the person's file."""
    name = PurePosixPath(path)
    end = f".sync-conflict-{look.stamp}-{look.new_id()}{name.suffix}"
    stem = name.name.removesuffix(name.suffix).encode()[: _NAME_BYTES_MAX - len(end.encode())].decode(errors="ignore")
    copy_path, data = str(name.with_name(f"{stem}{end}")), text.encode()
    record = Known(copy_path, "", 0, intended=frozenset({sha256(data)}))
    then = Known(copy_path, sha256(data), None)
    return Plan(
        puts=(Put(copy_path, text, None),),
        records=(record,),
        writes=(Write(copy_path, data, None, then),),
        copies=(Copy(path, copy_path, text, regions),),
    )


def _agreed(case: Case, found: str, held: Held, look: Look) -> Known:
    """The record of a file that says what the store says."""
    known = case.known or Known(case.path, "", held.operation)
    shown = known.shown if known.operation == held.operation else _shown(known, held.operation, look)
    merged = known.merged if known.merged == known.sha256 else None
    return Known(case.path, found, held.operation, merged=merged, shown=shown, saves=known.saves)


def _shown(known: Known, operation: int | None, look: Look) -> tuple[Shown, ...]:
    """What the disk has shown lately, with what it is about to show."""
    lately = (each for each in known.shown if look.now_ms - each.at < look.rules.unseen_ms)
    return (Shown(operation, look.now_ms), *lately)[: look.rules.versions_max]


def _saves(case: Case, known: Known, held: Held, text: str, look: Look) -> tuple[Version, ...]:
    """The merged saves, with this one unless the store has its text as a version."""
    if any(each.text == text for each in (*case.versions, *known.saves)):
        return known.saves
    return (Version(held.operation, text), *known.saves)[: look.rules.saves_max]


def _since(known: Known, look: Look) -> int | None:
    """Since when the file is missing or empty; None if it was not so at the last look, or if the clock went back."""
    since = known.missing_since
    return None if since is None or since > look.now_ms else since


def _if_new(record: Known, case: Case) -> tuple[Known, ...]:
    return () if record == case.known else (record,)
