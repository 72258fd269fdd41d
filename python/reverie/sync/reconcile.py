"""Reconcile folder and store: turn the states of all scanned paths into one plan that loses no edit.

It is pure: path states in, plan out. A plan may be cut off after any step and the folder may change under it; the next
scan finds what was done and goes on from there.

The order matters. Renames are detected first, because half of a rename is a missing file: counted as a deletion it
would lose the document's ids, and many of them would trip the mass-deletion guard. The guard comes next, on what is
still missing. Only then each path is decided alone, by the table in `decide`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from reverie.sync.decide import decide
from reverie.sync.merge_base import is_earlier_version
from reverie.sync.plan import Plan, Stop
from reverie.sync.rename_detection import (
    edited_renames,
    exact_renames,
    has_baseline_file,
    is_missing,
    is_saved_over,
    move_plan,
    rename_plan,
)
from reverie.sync.state import Rules, ScanContext, sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reverie.sync.redaction_view import RedactionView
    from reverie.sync.state import PathState

__all__ = ["reconcile"]


def reconcile(
    states: Iterable[PathState],
    *,
    redact: Callable[[str], RedactionView],
    now_ms: int,
    stamp: str,
    new_id: Callable[[], str],
    rules: Rules | None = None,
    files: int | None = None,
) -> Plan:
    """Return the plan for all paths that were scanned; others need not be among them.

    `redact` makes the redaction view of a raw text. `now_ms` is the clock that people and files are timed with; where
    it jumps, quiet periods are longer or shorter. Conflict copies are named by `stamp` (`20261121-093000`) and
    `new_id`. `files` is the number of files with a baseline, if more than those of `states`.
    """
    rules, redact = rules or Rules(), cache(redact)
    ordered = sorted(states, key=lambda state: state.path)
    exact = exact_renames(ordered)  # first, since equal bytes are certain; only what is left is compared by lines
    edited = edited_renames(ordered, {state.path for rename in exact for state in (rename.old, rename.new)})
    renamed_paths = {state.path for rename in (*exact, *edited) for state in (rename.old, rename.new)}
    missing = [state for state in ordered if is_missing(state) and state.path not in renamed_paths]
    # The mass-deletion guard: a lost mount or a wrong checkout looks like a person who deletes everything. Edits and
    # new files of the same scan are still handled.
    total = files if files is not None else sum(has_baseline_file(state) for state in ordered)
    is_stopped = not rules.deletions_accepted and len(missing) > max(rules.mass_min, rules.mass_fraction * total)
    excluded = renamed_paths | {state.path for state in missing if is_stopped}
    remaining = [state for state in ordered if state.path not in excluded]
    # Files of an edited or exact rename are new at their path, so they are no edit of what was there.
    deliberate = _deliberate([state for state in ordered if state.path not in renamed_paths], redact)
    context = ScanContext(redact, now_ms, stamp, new_id, rules, deliberate)
    plan = Plan(stops=(Stop("mass_deletion", tuple(state.path for state in missing)),) if is_stopped else ())
    return plan.joined(
        *(move_plan(rename, redact((rename.new.data or b"").decode()).text) for rename in exact),
        *(rename_plan(rename, context) for rename in edited),
        *(decide(state, context) for state in remaining),
    )


def _deliberate(states: Sequence[PathState], redact: Callable[[str], RedactionView]) -> frozenset[str]:
    """Return the paths whose file was put there on purpose: moved over an existing one, or restored with others.

    Moved over: the file has the bytes of one that is not there any more, or that was itself moved over; and it is the
    same file (inode and time) where both are known. With the bytes alone it may be a stale editor's save of what
    somebody else had moved away and deleted. Example: `mv draft.md user.md` leaves draft.md missing and its inode at
    user.md.

    Restored: at least two files at once have exactly an earlier version's text, as `git checkout` makes them. A single
    one may be a stale editor.
    """
    saved = [(state, state.data) for state in states if state.data is not None and is_saved_over(state, state.data)]
    known = {state.baseline.sha256 for state in states if state.baseline is not None and state.baseline.sha256}
    file_sha256 = {state.path: sha256(data) for state, data in saved}
    # By SHA-256, the files that left their path: missing, or replaced by the bytes of another known file.
    departed: dict[str, set[tuple[int, int] | None]] = {}
    for state in states:
        if state.baseline is not None and (state.data is None or file_sha256.get(state.path) in known):
            departed.setdefault(state.baseline.sha256, set()).add(state.baseline_file_id)
    moved = {
        state.path
        for state, data in saved
        if (origins := departed.get(sha256(data))) and (None in {state.file_id, *origins} or state.file_id in origins)
    }
    restored = {state.path for state, data in saved if data and is_earlier_version(state, redact(data.decode()).text)}
    return frozenset(moved | (restored if len(restored) > 1 else set()))
