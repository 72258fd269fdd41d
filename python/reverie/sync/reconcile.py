"""Reconcile folder and store: the states of all paths become one plan that loses no edit; an older folder is noticed.

It is pure: path states in, plan out. A plan may be cut off after any step and the folder may change under it; the next
scan finds what was done and goes on from there.

The order matters. Renames are detected first, because half of a rename is a missing file: counted as a deletion it
would lose the document's ids, and many of them would trip the mass-deletion guard. The guard comes next, on what is
still missing. Only then each path is decided alone, by the table in `decide`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from reverie.documents.layout import is_conflict_copy, type_of_blocks
from reverie.sync.decide import decide, is_unchanged_in_store, written_again
from reverie.sync.merge_base import is_earlier_version
from reverie.sync.merge_plan import converge, three_way_merge
from reverie.sync.plan import Delete, Move, Plan, Rules, ScanContext, Stop, is_own_write, lines_of, sha256
from reverie.sync.rename import (
    Rename,
    copy_plan,
    copy_renames,
    edited_renames,
    exact_plan,
    exact_renames,
    has_baseline_file,
    is_missing,
    is_saved_over,
    moved_over_plan,
    rename_plan,
)
from reverie.sync.unseen_lines import lines_beyond

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from reverie.sync.plan import PathState
    from reverie.sync.redaction import RedactionView

_SAVES_MAX: Final = 200  # in one scan; with more, as at first start, lines that move between them are not followed


class RecentSaves:
    """The lines that people's saves of the last moments brought (`pasted`), and lacked but got by a merge (`kept`).

    A person who moves a line from one file to another saves both, in either order, and both may be scanned apart.
    """

    def __init__(self) -> None:
        self._pasted: dict[str, tuple[int, frozenset[str]]] = {}  # by path, with the time (ms) of the scan
        self._kept: dict[str, tuple[int, frozenset[str]]] = {}

    def sources(self, pasted: Iterable[str]) -> set[str]:
        """Return the paths to be scanned too: those that kept one of these lines, and those that lines came to."""
        lines = set(pasted) if self._kept else set[str]()
        return {path for path, (_, kept) in self._kept.items() if lines & kept} | self._pasted.keys()

    def keep(self, paths: Container[str]) -> None:
        """Forget what was pasted into files that are not at these paths: it may be in none by now."""
        self._pasted = {path: entry for path, entry in self._pasted.items() if path in paths}

    def note_pasted(
        self, states: Sequence[PathState], redact: Callable[[str], RedactionView], now_ms: int, rules: Rules
    ) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
        """Add the lines that saves of a scan bring; return the recent ones that are pasted and kept, by path."""
        for known in (self._pasted, self._kept):
            for path in [path for path, (at, _) in known.items() if not 0 <= now_ms - at < rules.unseen_ms]:
                del known[path]
        for state in states:  # a line that has gone on to yet another file is no longer in this one
            if state.path in self._pasted:
                at, pasted = self._pasted.pop(state.path)
                if state.data and (still := pasted & lines_of(redact(state.data.decode()).text)):
                    self._pasted[state.path] = at, still
        saved = [state for state in states if is_saved(state)]
        for state in saved if len(saved) <= _SAVES_MAX else ():
            if not is_conflict_copy(state.path) and (pasted := lines_pasted(state, redact)):
                self._pasted[state.path] = now_ms, pasted
        return (
            {path: lines for path, (_, lines) in self._pasted.items()},
            {path: lines for path, (_, lines) in self._kept.items()},
        )

    def note_kept(
        self, states: Sequence[PathState], plan: Plan, redact: Callable[[str], RedactionView], now_ms: int
    ) -> None:
        """Add the lines that the saves of a scan lack and that a plan keeps."""
        puts = {put.path: put.text for put in plan.puts}
        saved = [state for state in states if is_saved(state)]
        for state in saved if len(saved) <= _SAVES_MAX else ():
            after = puts.get(state.path, "" if state.document is None else state.document.text)
            if kept := lines_of(after) - lines_of(redact((state.data or b"").decode()).text):
                self._kept[state.path] = now_ms, kept


def is_saved(state: PathState) -> bool:
    """Return True if a person's file is at the path that the store does not have."""
    return (
        bool(state.data) and state.disk_sha256 is None and not is_own_write(state.baseline, sha256(state.data or b""))
    )


def lines_pasted(state: PathState, redact: Callable[[str], RedactionView]) -> frozenset[str]:
    """Return the lines of a saved file that its document does not have."""
    text = redact((state.data or b"").decode()).text
    return lines_of(text) - lines_of("" if state.document is None else state.document.text)


def reconcile(
    states: Iterable[PathState],
    *,
    redact: Callable[[str], RedactionView],
    now_ms: int,
    stamp: str,
    new_id: Callable[[], str],
    rules: Rules | None = None,
    files: int | None = None,
    held: frozenset[str] = frozenset(),
    is_full: bool = True,
    recent: RecentSaves | None = None,
) -> Plan:
    """Return the plan for all paths that were scanned; others need not be among them.

    `redact` makes the redaction view of a raw text. `now_ms` is the clock that people and files are timed with; where
    it jumps, quiet periods are longer or shorter. Conflict copies are named by `stamp` (`20261121-093000`) and
    `new_id`. `files` is the number of files with a baseline, if more than those of `states`. `held` are the paths that
    wait for a person's decision about older files; `is_full` is False for a scan of some paths. `recent` has the lines
    of earlier scans' saves, and gets those of this one.
    """
    rules, redact = rules or Rules(), cache(redact)
    ordered = sorted(states, key=lambda state: state.path)
    # What is certain comes first: a copy's name, then equal bytes; only what is left is compared by lines.
    copies = copy_renames(ordered)
    copied = _paths(copies)
    exact = exact_renames([state for state in ordered if state.path not in copied])
    edited = edited_renames(ordered, copied | _paths(exact))
    renamed_paths = copied | _paths(exact) | _paths(edited)
    missing = [state for state in ordered if is_missing(state) and state.path not in renamed_paths]
    # The mass-deletion guard: a lost mount or a wrong checkout looks like a person who deletes everything. Edits and
    # new files of the same scan are still handled.
    total = files if files is not None else sum(has_baseline_file(state) for state in ordered)
    is_mass = rules.answer is None and len(missing) > max(rules.mass_min, rules.mass_fraction * total)
    others = [state for state in ordered if state.path not in renamed_paths]
    # Files of an edited or exact rename are new at their path, so they are no edit of what was there.
    moved, restored = _deliberate(others, redact)
    undecided = [] if rules.deletions_accepted else missing
    gone = [state for state in undecided if is_mass or _is_long_gone(state, now_ms, rules)]
    older = _find_older_files(
        [state for state in others if state.path not in moved],
        restored,
        gone,
        undecided,
        held,
        redact=redact,
        now_ms=now_ms,
        rules=rules,
        is_full=is_full,
    )
    deliberate = (
        moved | (restored if len(restored) > 1 else set()) | (older.chosen if rules.answer == "older" else set())
    )
    recent = RecentSaves() if recent is None else recent
    pasted, kept = recent.note_pasted(ordered, redact, now_ms, rules)
    context = ScanContext(redact, now_ms, stamp, new_id, rules, frozenset(deliberate), pasted, kept)
    plans = [_guarded_plan(missing, older, is_mass=is_mass)]
    put_back: list[PathState] = []
    if rules.answer == "put_back":
        # One whose document was deleted meanwhile has nothing to be put back: it is decided like any other file.
        put_back = [state for state in others if state.path in older.chosen and state.document is not None]
        plans += [
            *(_put_back_plan(state, context) for state in put_back),
            *(written_again(s, context) for s in missing),
        ]
    elif rules.answer == "older":
        plans.append(Plan(together=older.chosen | {state.path for state in missing}))
    left_alone = older.stopped | older.waiting
    free = [state for state in others if state.path not in left_alone]
    over = [] if is_mass or rules.answer is not None else _moved_over(free, moved)
    plans += [moved_over_plan(rename, context) for rename in over]
    excluded = renamed_paths | _paths(over) | left_alone | {state.path for state in put_back}
    excluded |= {state.path for state in missing} if is_mass or rules.answer == "put_back" else set()
    plans += [exact_plan(rename, context) for rename in exact]
    plans += [copy_plan(rename, context) for rename in copies]
    plans += [rename_plan(rename, context) for rename in edited]
    # Nothing counts as split where an earlier folder or a lost one may be at work.
    may_be_split = not (is_mass or restored or held or left_alone) and rules.answer is None
    gone_in_part = [state for state in missing if may_be_split and is_unchanged_in_store(state)]
    excluded |= {state.path for state in gone_in_part}
    plan = Plan().joined(*plans, *(decide(state, context) for state in ordered if state.path not in excluded))
    come = _lines_put(plan, ordered) if gone_in_part else {}
    plan = plan.joined(*(_absorbed(state, come) or decide(state, context) for state in gone_in_part))
    recent.note_kept(ordered, plan, redact, now_ms)
    return plan


def _lines_put(plan: Plan, states: Sequence[PathState]) -> dict[str, frozenset[str]]:
    """Return the lines that each file of memories gets by its save in `plan`; none of a save that left lines out.

    An undo of such a save's operation is for those lines alone. A conflict copy keeps no memories.
    """
    saved = {state.path: state for state in states if is_saved(state)}
    named = {notice.path for notice in plan.notices}
    come = {}
    for put in plan.puts if len(plan.puts) <= _SAVES_MAX else ():
        has_memories = type_of_blocks(put.path) is not None and not is_conflict_copy(put.path)
        if has_memories and put.path in saved and put.path not in named:
            document = saved[put.path].document
            come[put.path] = _all_lines(put.text) - _all_lines("" if document is None else document.text)
    return come


def _absorbed(gone: PathState, come: Mapping[str, frozenset[str]]) -> Plan | None:
    """Return the plan of a missing file of memories whose every line comes to other files; None if not so.

    It was split, or joined with others: in one operation with these files its lines keep their ids and authors, and
    none of them is forgotten. It need not wait, since every line is in the store by then. Example: `cat a.md b.md >
    all.md; rm a.md b.md`, of which a rename has b.md alone.
    """
    assert gone.document is not None
    lines = _all_lines(gone.document.text)
    takers = [path for path, put in come.items() if put & lines]
    if (
        type_of_blocks(gone.path) is None
        or not lines
        or not lines <= frozenset[str]().union(*(come[path] for path in takers))
    ):
        return None
    return Plan(
        deletes=(Delete(gone.path, gone.document.operation),),
        removed_baselines=(gone.path,),
        joins=tuple(Move(gone.path, path) for path in takers),
    )


def _all_lines(text: str) -> frozenset[str]:
    """Return the lines of a text with its headings, but for that of the file: an episode's is its title."""
    head, _, rest = text.removeprefix("\ufeff").partition("\n")
    return lines_of(rest if head.startswith("# ") else text, without=())


def _paths(renames: Iterable[Rename]) -> set[str]:
    return {state.path for rename in renames for state in (rename.old, rename.new)}


def _guarded_plan(missing: Sequence[PathState], older: OlderFiles, *, is_mass: bool) -> Plan:
    """Return the plan that leaves files alone: until a person decides, or until a later scan."""
    if older.stopped:
        return Plan(stops=(Stop("older_files", tuple(sorted(older.stopped))),))
    stops = (Stop("mass_deletion", tuple(state.path for state in missing)),) if is_mass else ()
    return Plan(stops=stops, waiting=tuple(sorted(older.waiting)))


def _moved_over(states: Sequence[PathState], moved: set[str]) -> list[Rename]:
    """Return the files moved over others that agents wrote to before: alone, the old one would be written again.

    Example: `mv a.md b.md`, and a line that an agent wrote to a.md is not on disk yet.
    """
    written = {
        (state.baseline.sha256, state.baseline_file_id): state
        for state in states
        if is_missing(state) and state.baseline is not None and not is_unchanged_in_store(state)
    }
    return [
        Rename(old, state)
        for state in states
        if state.path in moved and state.document is not None and is_unchanged_in_store(state)
        if (old := written.pop((sha256(state.data or b""), state.file_id), None)) is not None
    ]


def _is_long_gone(state: PathState, now_ms: int, rules: Rules) -> bool:
    """Return True if a file has been missing for the quiet period, so that no save is under way."""
    since = state.baseline.missing_since if state.baseline is not None else None
    return since is not None and since + rules.delete_quiet_ms <= now_ms


def _deliberate(states: Sequence[PathState], redact: Callable[[str], RedactionView]) -> tuple[set[str], set[str]]:
    """Return the paths of files moved over existing ones, and of files that have exactly an earlier version's text.

    Moved over: the file has the bytes of one that is not there any more, or that was itself moved over; and it is the
    same file (inode and time) where both are known. With the bytes alone it may be a stale editor's save of what
    somebody else had moved away and deleted. Example: `mv draft.md user.md` leaves draft.md missing and its inode at
    user.md.

    Restored: the file has exactly an earlier version's text, as `git checkout` makes it. Two at once are a tool's work;
    a single one may be a stale editor.
    """
    saved = [(state, state.data) for state in states if state.data is not None and is_saved_over(state, state.data)]
    baseline_sha256s = {
        state.baseline.sha256 for state in states if state.baseline is not None and state.baseline.sha256
    }
    file_sha256 = {state.path: sha256(data) for state, data in saved}
    # By SHA-256, the files that left their path: missing, or replaced by the bytes of another known file.
    departed: dict[str, set[tuple[int, int] | None]] = {}
    for state in states:
        if state.baseline is not None and (state.data is None or file_sha256.get(state.path) in baseline_sha256s):
            departed.setdefault(state.baseline.sha256, set()).add(state.baseline_file_id)
    moved = {
        state.path
        for state, data in saved
        if (origins := departed.get(sha256(data))) and (None in {state.file_id, *origins} or state.file_id in origins)
    }
    restored = {state.path for state, data in saved if data and is_earlier_version(state, redact(data.decode()).text)}
    return moved, restored


@dataclass(frozen=True, slots=True)
class OlderFiles:
    """The paths that an older folder may have brought: `stopped` until a person decides, or `waiting` for more.

    `chosen` are those that a person has decided about.
    """

    stopped: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    chosen: frozenset[str] = frozenset()


def _find_older_files(
    states: Sequence[PathState],
    restored: set[str],
    gone: Sequence[PathState],
    missing: Sequence[PathState],
    held: frozenset[str],
    *,
    redact: Callable[[str], RedactionView],
    now_ms: int,
    rules: Rules,
    is_full: bool,
) -> OlderFiles:
    """Return the files of a scan that an older folder may have brought; `states` are without moved files.

    `restored` are those with an earlier text, also where only the person wrote since, `gone` those of `missing` that
    were not there for a quiet period, `held` the paths that already wait for a person. The cases, in this order:

    | known                                                       | result                                             |
    |-------------------------------------------------------------|----------------------------------------------------|
    | a person has decided about older files                      | they are `chosen`                                  |
    | a partial scan                                              | older and held files wait for a full one           |
    | held files that still differ                                | stopped, with all that is older, gone or suspicious|
    | an older file, and another one that is restored or gone     | the same                                           |
    | one older file, saved or another missing a moment ago       | it waits: a tool may be at work                    |
    | one older file                                              | nothing: it is an ordinary save                    |

    Example: of four files two have texts of yesterday, one is missing, and one has a text of yesterday with an edit:
    all four are stopped.
    """
    changed = [state for state in states if state.data and is_saved_over(state, state.data)]
    older = frozenset(state.path for state in changed if state.older is not None)
    differing = {state.path for state in changed if not _is_current(state, redact)}
    still_held = held & (differing | {state.path for state in missing})
    if rules.answer == "older":
        return OlderFiles(chosen=older)  # held ones that a person has edited are ordinary saves
    if rules.answer == "put_back":
        return OlderFiles(chosen=older | (held & differing))
    if not is_full:
        return OlderFiles(waiting=older | (held & {state.path for state in states}))
    if still_held or (older and len(older | restored) + len(gone) > 1):
        suspicious = {state.path for state in changed if state.path not in older and _is_nearer_to_older(state, redact)}
        return OlderFiles(stopped=older | still_held | suspicious | {state.path for state in gone})
    since = now_ms - rules.delete_quiet_ms
    is_recent = any(since < (state.saved_at or 0) <= now_ms for state in changed if state.path in older)
    return OlderFiles(waiting=older if is_recent or len(missing) > len(gone) else frozenset())


def _put_back_plan(state: PathState, context: ScanContext) -> Plan:
    """Return the plan that gives an older file the document's text again.

    A file that somebody has edited since is no exact version: the edit is merged, against the version it is nearest to.
    """
    assert state.document is not None
    assert state.data is not None
    view = context.redact(state.data.decode())
    if state.older is not None or not state.versions:
        return converge(state, view, state.document, state.document.text, context)
    base = min(state.versions, key=lambda version: _distance(version.text, view.text))
    merged = three_way_merge(base.text, state.document.text, view.text)
    digest, regions = sha256(state.data), merged.regions or None
    return converge(state, view, state.document, merged.text, context, save=digest, conflict=regions)


def _is_current(state: PathState, redact: Callable[[str], RedactionView]) -> bool:
    return state.document is not None and redact((state.data or b"").decode()).text == state.document.text


def _is_nearer_to_older(state: PathState, redact: Callable[[str], RedactionView]) -> bool:
    """Return True if a saved file is nearer to an earlier version than to the text that the disk showed last."""
    if state.document is None or state.baseline is None or state.data is None:
        return False
    text, shown = redact(state.data.decode()).text, state.baseline.operation or 0
    last = next((version for version in state.versions if version.operation == shown), None)
    if last is None:
        return False
    nearest = _distance(last.text, text)
    return any(_distance(version.text, text) < nearest for version in state.versions if version.operation < shown)


def _distance(one: str, other: str) -> int:
    """Return the number of lines that only one of two texts has."""
    return lines_beyond(one, other) + lines_beyond(other, one)
