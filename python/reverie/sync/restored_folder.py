"""An older folder put back: several files with earlier texts at once, which ask a person before they count.

A backup that is restored over the folder, a checkout of an old commit, and a sync tool that rolls back all give files
the exact texts of earlier versions, and may remove files that came later. Taken as saves they would revert every write
of agents since. One file alone is an ordinary save: somebody put its old text back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.sync.merge_base_search import lines_beyond
from reverie.sync.merge_plan import converge, three_way_merge
from reverie.sync.path_state import sha256
from reverie.sync.rename_detection import is_saved_over

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.sync.path_state import PathState, Rules, ScanContext
    from reverie.sync.plan import Plan
    from reverie.sync.redaction_view import RedactionView

__all__ = ["OlderFiles", "find_older_files", "put_back_plan"]


@dataclass(frozen=True, slots=True)
class OlderFiles:
    """The paths that an older folder may have brought: `stopped` until a person decides, or `waiting` for more.

    `chosen` are those that a person has decided about.
    """

    stopped: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    chosen: frozenset[str] = frozenset()


def find_older_files(
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


def put_back_plan(state: PathState, context: ScanContext) -> Plan:
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
    """Return True if the file has the document's text."""
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
