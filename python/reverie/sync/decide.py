"""What is to be done about one path: the decision table of sync."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reverie.sync.merge_plan import if_new, settled, shown
from reverie.sync.origin import is_unrecorded, origin
from reverie.sync.scan_context import is_ours, sha256
from reverie.sync.three_way import combine
from reverie.sync.values import Delete, Kept, Known, Plan, Put, Remove, Saved, Write

if TYPE_CHECKING:
    from reverie.sync.redaction_view import Veil
    from reverie.sync.scan_context import Look
    from reverie.sync.values import Case, Held

__all__ = ["decide", "is_unchanged_in_store"]

_BOM = b"\xef\xbb\xbf"


def is_unchanged_in_store(case: Case) -> bool:
    """Whether the store says of the path what it said when folder and store last agreed; not where it began anew."""
    held, known = case.held, case.known
    if held is None or known is None:
        return held is None and known is None
    if known.merged == known.sha256:  # what became of that save is not on the disk yet
        return False
    then = (each.text for each in case.versions if each.operation == known.operation and not each.former)
    return held.operation == known.operation or held.text in then


def decide(case: Case, look: Look) -> Plan:
    """What is to be done about a path, whatever is done about others."""
    if case.seen is None:
        return _without_file(case, look)
    if case.disk not in {None, sha256(case.seen)}:
        return _put_aside(case, case.seen, look)
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
    waiting = _wait(known, look)
    if waiting is not None:
        return waiting
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
        shown=shown(known, held.operation, look),
        made_at=look.now_ms,
    )
    return Plan(records=if_new(record, case), writes=(Write(case.path, data, None, then),))


def _without_document(case: Case, seen: bytes, look: Look) -> Plan:
    """There is a file and no document: a new file, one that was edited while its document was deleted, or neither."""
    veil = look.veil(seen.decode())
    ours = is_ours(case.known, sha256(seen)) or is_unrecorded(case, veil.text)
    if ours and not veil.spans:
        return Plan(removals=(Remove(case.path, sha256(seen)),))
    return Plan(
        puts=(Put(case.path, veil.text, None),),
        records=(Known(case.path, sha256(seen), None, saved=Saved(None)),),
        kept=(Kept(case.path),) if ours else (),
    )


def _untouched(case: Case, seen: bytes, held: Held, look: Look) -> Plan:
    """The file is as it was left: what the store has come to say since is written."""
    known, found = case.known, sha256(seen)
    assert known is not None
    if known.sha256 == found and known.operation == held.operation and not known.intended:
        return Plan(records=if_new(replace(known, missing_since=None), case))
    veil = look.veil(seen.decode())
    if veil.text == held.text:
        return Plan(records=(_agreed(case, found, held, look),))
    return settled(case, veil, held, held.text, look)


def _saved(case: Case, seen: bytes, held: Held, look: Look) -> Plan:
    """Somebody saved the file, or made it."""
    veil, found = look.veil(seen.decode()), sha256(seen)
    if veil.text == held.text:
        return Plan(records=(_agreed(case, found, held, look),))
    waiting = _wait_for_words(case, seen, held, look)
    if waiting is not None:
        return waiting
    if case.known is None and not seen.removeprefix(_BOM):
        return settled(case, veil, held, held.text, look)
    if is_unrecorded(case, veil.text):
        return settled(case, veil, held, held.text, look)
    return _merged(case, veil, held, look)


def _put_aside(case: Case, seen: bytes, look: Look) -> Plan:
    """A save went into a file that was just replaced: its words go where the words of that file went."""
    veil = look.veil(seen.decode())
    if is_ours(case.known, sha256(seen)) or is_unrecorded(case, veil.text):
        return Plan()
    if case.held is not None:
        return _merged(case, veil, case.held, look)
    put, found = Put(case.path, veil.text, None), sha256(seen)
    if case.disk and not is_ours(case.known, case.disk):
        return Plan(puts=(put,))
    known = case.known or Known(case.path, "", 0)
    record = replace(known, sha256=case.disk or "", missing_since=None, intended=frozenset({found}))
    write = Write(case.path, seen, case.disk or None, Known(case.path, found, None, saved=Saved(None)))
    return Plan(puts=(put,), records=if_new(record, case), writes=(write,))


def _merged(case: Case, veil: Veil, held: Held, look: Look) -> Plan:
    """A save is merged with what the store says, on the text that it was made from."""
    found = sha256(veil.raw.encode())
    base = origin(case, veil.text, saved=found, meant=case.path in look.meant, now_ms=look.now_ms, rules=look.rules)
    if base is None:  # neither text was made from the other
        return settled(case, veil, held, veil.text, look, save=found, conflict=())
    combined = combine(base.text, held.text, veil.text)
    return settled(case, veil, held, combined.text, look, save=found, conflict=combined.regions or None)


def _wait_for_words(case: Case, seen: bytes, held: Held, look: Look) -> Plan | None:
    """A file that shrank to nothing may be one that is being written: it is believed when it is quiet."""
    if case.known is None or seen.removeprefix(_BOM) or not held.text:
        return None
    return _wait(case.known, look, since=case.saved_at)


def _wait(known: Known, look: Look, *, since: int | None = None) -> Plan | None:
    """What is done until a file has been missing or empty for the quiet period; None once it has.

    Also None where a person has said that it is meant. It is so since the first look that found it so, or since the
    time `since` if that is later; if the clock went back, since now.
    """
    if look.rules.accepted:
        return None
    first = known.missing_since
    if first is None or first > look.now_ms:
        record = replace(known, missing_since=look.now_ms)
        return Plan(records=(record,), look_at=look.now_ms + look.rules.delete_quiet_ms)
    if since is not None and since <= look.now_ms:
        first = max(first, since)
    quiet_at = first + look.rules.delete_quiet_ms
    return Plan(look_at=quiet_at) if look.now_ms < quiet_at else None


def _agreed(case: Case, found: str, held: Held, look: Look) -> Known:
    """The record of a file that says what the store says: ours, or one that somebody saved so."""
    known = case.known
    if known is None:  # a crash may have forgotten that we wrote it, and that nobody may have seen it yet
        known = Known(case.path, "", 0)
    elif known.operation == held.operation and not is_ours(known, found):
        then = Known(case.path, found, held.operation, saved=known.saved, earlier=known.earlier)
        return then.and_saved(Saved(held.operation))
    return replace(
        known,
        sha256=found,
        operation=held.operation,
        missing_since=None,
        intended=frozenset(),
        merged=known.merged if known.merged == known.sha256 else None,
        shown=known.shown if known.operation == held.operation else shown(known, held.operation, look),
        made_at=known.made_at if known.sha256 else look.now_ms,
    )
