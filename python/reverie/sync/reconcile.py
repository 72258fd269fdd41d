"""Decides what one look at the folder leads to, so that folder and store agree and nobody's words are lost.

It is pure: cases in, plan out. A plan may be cut off after any step and the folder may change under it; the next look
finds what was done and goes on from there.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from reverie.documents.document_kind import is_conflict_copy
from reverie.sync.decide import decide, is_unchanged_in_store
from reverie.sync.origin import is_earlier
from reverie.sync.renamed import Renamed, moved, renamed, renamed_plan
from reverie.sync.scan_context import Look, is_ours, sha256
from reverie.sync.values import Case, Plan, Rules, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reverie.sync.redaction_view import Veil

__all__ = ["reconcile"]


def reconcile(
    cases: Iterable[Case],
    *,
    veil: Callable[[str], Veil],
    now_ms: int,
    stamp: str,
    new_id: Callable[[], str],
    rules: Rules | None = None,
    files: int | None = None,
) -> Plan:
    """The plan for all paths that were looked at; others need not be among them.

    `veil` sees a text through the redactor. `now_ms` is any clock that people and files are timed with; where it jumps,
    quiet periods are longer or shorter. Conflict copies are named by `stamp` (`20261121-093000`) and `new_id`. `files`
    is how many files are known altogether, if more than those of the cases.
    """
    rules, veil = rules or Rules(), cache(veil)
    ordered = sorted(cases, key=lambda case: case.path)
    moves = _moves(ordered)
    edited = _edited(ordered, {case.path for pair in moves for case in (pair.old, pair.new)})
    moved_paths = {case.path for pair in (*moves, *edited) for case in (pair.old, pair.new)}
    gone = [case for case in ordered if _is_gone(case) and case.path not in moved_paths]
    total = files if files is not None else sum(_had_file(case) for case in ordered)
    stopped = not rules.accepted and len(gone) > max(rules.mass_min, rules.mass_fraction * total)
    out = moved_paths | {case.path for case in gone if stopped}
    left = [case for case in ordered if case.path not in out]
    look = Look(
        veil, now_ms, stamp, new_id, rules, _meant([case for case in ordered if case.path not in moved_paths], veil)
    )
    plan = Plan(stops=(Stop("mass_deletion", tuple(case.path for case in gone)),) if stopped else ())
    whole = (moved(pair, veil((pair.new.seen or b"").decode()).text) for pair in moves)
    return plan.joined(*whole, *(renamed_plan(pair, look) for pair in edited), *(decide(case, look) for case in left))


def _had_file(case: Case) -> bool:
    return case.known is not None and bool(case.known.sha256)


def _is_gone(case: Case) -> bool:
    """Whether a file that stands for a document is not there any more."""
    return case.seen is None and case.held is not None and _had_file(case)


def _is_new(case: Case) -> bool:
    """Whether there is a file of which nothing is known."""
    return bool(case.seen) and case.disk is None and case.known is None and case.held is None


def _moves(cases: Sequence[Case]) -> list[Renamed]:
    """Files that are gone while new ones have their bytes: the same file, under another name."""
    homeless: dict[str, list[Case]] = {}
    for case in cases:
        if _is_gone(case) and is_unchanged_in_store(case) and case.known is not None:
            homeless.setdefault(case.known.sha256, []).append(case)
    found = []
    for case in cases:
        if _is_new(case) and case.seen and homeless:
            options = homeless.get(sha256(case.seen))
            if options:
                found.append(Renamed(options.pop(0), case))
    return found


def _edited(cases: Sequence[Case], paths: set[str]) -> list[Renamed]:
    """Files that are gone while new ones, not those at `paths`, have much of what they said.

    One whose very bytes are in another's place now was moved there, and the other's are where they are found.
    """
    left = [case for case in cases if case.path not in paths and not is_conflict_copy(case.path)]
    gone = [case for case in left if _is_gone(case) and is_unchanged_in_store(case)]
    new = [case for case in left if _is_new(case)]
    if not gone or not new:
        return []
    over = [case for case in cases if case.seen is not None and case.known and _is_saved(case, case.seen)]
    came = {sha256(case.seen or b"") for case in over}
    went = {case.known.sha256 for case in over if case.known}
    return renamed(
        [case for case in gone if case.known is None or case.known.sha256 not in came],
        [case for case in new if sha256(case.seen or b"") not in went],
    )


def _meant(cases: Sequence[Case], veil: Callable[[str], Veil]) -> frozenset[str]:
    """Files that were put where they are, whatever was there: moved ones, and several earlier texts at once.

    A file was moved if it is another that is not there any more, or that was itself moved over: the same bytes, and the
    same file where both are known. Else it may be a stale editor's save of what had been moved away and deleted.
    """
    saved = [(case, case.seen) for case in cases if case.seen is not None and _is_saved(case, case.seen)]
    known = {case.known.sha256 for case in cases if case.known is not None and case.known.sha256}
    now = {case.path: sha256(seen) for case, seen in saved}
    left: dict[str, set[tuple[int, int] | None]] = {}
    for case in cases:
        if case.known is not None and (case.seen is None or now.get(case.path) in known):
            left.setdefault(case.known.sha256, set()).add(case.was_file)
    moved = {
        case.path
        for case, seen in saved
        if (gone := left.get(sha256(seen))) and (None in {case.file, *gone} or case.file in gone)
    }
    earlier = {case.path for case, seen in saved if seen and is_earlier(case, veil(seen.decode()).text)}
    return frozenset(moved | (earlier if len(earlier) > 1 else set()))


def _is_saved(case: Case, seen: bytes) -> bool:
    """Whether somebody else has written the file since the last look."""
    return case.known is not None and case.disk is None and not is_ours(case.known, sha256(seen))
