"""Detect renames between two scans: a file that is gone and a new file with its bytes, or with most of its lines.

A detected rename keeps the document's block ids, versions and the store's newer edits. Undetected, it is a deletion and
a new file, as in git, whose `--find-renames` works the same way.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from reverie.documents.layout import copy_name, is_conflict_copy
from reverie.documents.parse import parse_document
from reverie.sync.decide import is_unchanged_in_store
from reverie.sync.merge_base import merge_base
from reverie.sync.merge_plan import MergedText, applied, conflict_plan, merge_save, relocated, without_lines
from reverie.sync.plan import (
    Baseline,
    Delete,
    LeftOut,
    Move,
    PathState,
    Plan,
    Put,
    Save,
    SaveNotice,
    Write,
    is_own_write,
    sha256,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reverie.sync.plan import ScanContext
    from reverie.sync.redaction import RedactionView

PAIRS_MAX: Final = 1_000
"""Pairs of missing and new files compared in one scan; with more, an edited rename is a deletion and a new file.

The comparison is quadratic, and a branch switch of hundreds of files would hold up the folder; git bounds the same
search by `diff.renameLimit`.
"""

SIMILARITY_MIN: Final = 0.5
"""Share of the longer text's lines that the other must have: half, as in git's rename detection."""

_VERSIONS_COMPARED: Final = 8
"""Versions of a missing document that are compared: the person may have begun with one that is not the newest."""


@dataclass(frozen=True, slots=True)
class Rename:
    """A document whose file is gone, and the new file that has its content."""

    old: PathState
    new: PathState


def has_baseline_file(state: PathState) -> bool:
    """Return True if there was a file at the path when sync last handled it."""
    return state.baseline is not None and bool(state.baseline.sha256)


def is_missing(state: PathState) -> bool:
    """Return True if a document's file is in the baseline and is missing now."""
    return state.data is None and state.document is not None and has_baseline_file(state)


def is_saved_over(state: PathState, data: bytes) -> bool:
    """Return True if the file was written since the last scan, and not by sync."""
    return state.baseline is not None and state.disk_sha256 is None and not is_own_write(state.baseline, sha256(data))


def _is_new(state: PathState) -> bool:
    """Return True if there is a file, not empty, of which neither store nor baseline know anything."""
    return bool(state.data) and state.disk_sha256 is None and state.baseline is None and state.document is None


def copy_renames(states: Sequence[PathState]) -> list[Rename]:
    """Return the conflict copies whose file is gone while a new file elsewhere has their name, whatever is in it.

    Their names are unique. So no baseline has to say that there was a file: where a crash forgot the record of our own
    write, the moved copy would be a new file, and the copy would be written a second time where it was.
    """
    gone = {
        name: state
        for state in states
        if state.data is None and state.document is not None and (name := copy_name(state.path)) is not None
    }
    new = [state for state in states if gone and _is_new(state) and copy_name(state.path) in gone]
    return [Rename(gone.pop(name), state) for state in new if (name := copy_name(state.path)) in gone]


def exact_renames(states: Sequence[PathState]) -> list[Rename]:
    """Return the files that are gone while a new one has their very bytes; each file is in one pair at most."""
    # By SHA-256 a list, since several documents may have the same bytes: they are matched in the order of their paths.
    missing: dict[str, list[PathState]] = {}
    for state in states:
        if is_missing(state) and state.baseline is not None:
            for digest in {state.baseline.sha256, *state.baseline.intended}:
                missing.setdefault(digest, []).append(state)
    renames, taken = [], set[str]()
    for state in states:
        if _is_new(state) and state.data and missing:
            options = (old for old in missing.get(sha256(state.data), ()) if old.path not in taken)
            if (old := next(options, None)) is not None:
                taken.add(old.path)
                renames.append(Rename(old, state))
    return renames


def edited_renames(states: Sequence[PathState], paths: set[str]) -> list[Rename]:
    """Return the files that are gone while a new one, not at `paths`, has most of their lines.

    Not considered are files that were moved over existing ones. Example: `mv a.md b.md` where b.md existed, and a new
    c.md resembles a.md: a.md's bytes are at b.md now, so c.md is no rename of it; and b.md's old bytes, if c.md has
    them, were moved there as they are.
    """
    left = [state for state in states if state.path not in paths and not is_conflict_copy(state.path)]
    missing = [state for state in left if is_missing(state)]
    new = [state for state in left if _is_new(state)]
    if not missing or not new:
        return []
    overwritten = [
        state for state in states if state.data is not None and state.baseline and is_saved_over(state, state.data)
    ]
    arrived = {sha256(state.data or b"") for state in overwritten}
    departed = {state.baseline.sha256 for state in overwritten if state.baseline}
    return similar_pairs(
        [state for state in missing if state.baseline is None or state.baseline.sha256 not in arrived],
        [state for state in new if sha256(state.data or b"") not in departed],
    )


def similar_pairs(missing: Sequence[PathState], new: Sequence[PathState]) -> list[Rename]:
    """Return the pairs that are similar enough, the most similar first; each file is in one at most. All are UTF-8."""
    if not missing or not new or len(missing) * len(new) > PAIRS_MAX:
        return []
    lines = {state.path: _line_counts(state.data.decode()) for state in new if state.data is not None}
    similar = [
        (-similarity, old.path, other.path, Rename(old, other))
        for old in missing
        for similarity, other in _similarities(old, new, lines)
        if similarity >= SIMILARITY_MIN
    ]
    # Greedy, best pair first; paths break ties, so that the result does not depend on the order of the scan.
    renames: list[Rename] = []
    taken: set[str] = set()
    for _, old_path, new_path, rename in sorted(similar, key=lambda ranked: ranked[:3]):
        if not {old_path, new_path} & taken:
            taken |= {old_path, new_path}
            renames.append(rename)
    return renames


def is_copy(text: str, original: str) -> bool:
    """Return True if more than half of the lines of two texts are the same."""
    return _similarity(_line_counts(text), _line_counts(original)) > SIMILARITY_MIN


def exact_plan(rename: Rename, context: ScanContext) -> Plan:
    """Return the plan of an exact rename, merged with what agents wrote since."""
    if is_unchanged_in_store(rename.old) and not _moved_on(rename, context):
        return move_plan(rename, context.redact((rename.new.data or b"").decode()).text, context)
    return rename_plan(rename, context)


def moved_over_plan(rename: Rename, context: ScanContext) -> Plan:
    """Return the plan of a file that was moved over another one: as of an exact rename, in one operation.

    The new path's own document is replaced, as by any save; agents must not have written to it since.
    """
    old, new = rename.old, rename.new
    assert new.document is not None
    basis = new.document.operation
    plan = exact_plan(Rename(old, replace(new, document=None, baseline=None)), context)
    puts = tuple(replace(put, basis=basis) if put.path == new.path else put for put in plan.puts)
    return replace(plan, puts=puts, moves=(), together=frozenset({old.path, new.path}))


def _moved_on(rename: Rename, context: ScanContext) -> set[str]:
    """Return the lines that the last save of a moved file lacked and a merge kept, and that another file has now."""
    return context.moved_from(rename.new.path, context.kept.get(rename.old.path, ()))


def move_plan(rename: Rename, text: str, context: ScanContext) -> Plan:
    """Return the plan that moves a document with its file; `text` is the redacted text of the new file."""
    assert rename.old.document is not None
    assert rename.new.data is not None
    memories = _memories_lost(rename, text)
    left_out = LeftOut(None, 0, context.now_ms, memories) if memories else None
    return Plan(
        puts=(Put(rename.new.path, text, None),),
        deletes=(Delete(rename.old.path, rename.old.document.operation),),
        baselines=(Baseline(rename.new.path, sha256(rename.new.data), None, saved=Save(None), left_out=left_out),),
        removed_baselines=(rename.old.path,),
        moves=(Move(rename.old.path, rename.new.path),),
        notices=() if left_out is None else (SaveNotice(rename.new.path, memories=memories),),
    )


def _memories_lost(rename: Rename, text: str) -> int:
    """Return how many memories a moved document had, if it has none at its new path, as outside of `facts/`; else 0."""
    assert rename.old.document is not None
    if parse_document(rename.new.path, text).items:
        return 0
    return len(parse_document(rename.old.path, rename.old.document.text).items)


def copy_plan(rename: Rename, context: ScanContext) -> Plan:
    """Return the plan of a moved conflict copy: as `move_plan`, merged where the store has another text since."""
    assert rename.old.document is not None
    text = context.redact((rename.new.data or b"").decode()).text
    if text == rename.old.document.text or is_unchanged_in_store(rename.old):
        return move_plan(rename, text, context)
    return rename_plan(rename, context)


def rename_plan(rename: Rename, context: ScanContext) -> Plan:
    """Return the plan of an edited rename: as `move_plan`, merged with edits of agents that the person had not seen.

    The merge is that of a save at the old path. Where nothing can be merged, or the merge would lose or reveal a
    secret, the person's text is taken whole and a conflict copy has the store's.
    """
    document, data = rename.old.document, rename.new.data
    assert document is not None
    assert data is not None
    view, file_sha256 = context.redact(data.decode()), sha256(data)
    saved_in_place = PathState(
        rename.old.path,
        document,
        rename.old.baseline,
        data,
        rename.old.versions,
        saved_at=rename.new.saved_at,
    )
    base = merge_base(
        saved_in_place,
        view.text,
        file_sha256=file_sha256,
        deliberate=False,
        now_ms=context.now_ms,
        rules=context.rules,
    )
    plan = move_plan(rename, view.text, context)
    moved = _moved_on(rename, context)
    if base.version is None or base.version.text != document.text:
        merged = merge_save(rename.new.path, base, document.text, view.text, context)
    elif moved:
        merged = MergedText(view.text)
    else:
        return plan  # nothing was written since the text that the person edited
    if merged is not None and not merged.regions:
        merged = MergedText(without_lines(merged.text, moved))
    after = None if merged is None else applied(view, merged.text, context)
    if merged is None or after is None:
        return plan.joined(conflict_plan(rename.new.path, document.text, (), context))
    if after.raw != view.raw:
        plan = _with_merged_text(plan, view, after, context)
    regions = relocated(merged.regions, merged.text, after.text)
    return plan.joined(conflict_plan(rename.new.path, document.text, regions, context)) if regions else plan


def _with_merged_text(plan: Plan, saved: RedactionView, after: RedactionView, context: ScanContext) -> Plan:
    """Return the plan of a move whose file and document get the merged text instead of the saved one."""
    path, file_sha256, data = plan.moves[0].new, sha256(saved.raw.encode()), after.raw.encode()
    save = Save(None, saved.text)  # the editor goes on from this text unless it reloads
    then = Baseline(path, sha256(data), None, merged=file_sha256, made_at=context.now_ms, saved=save)
    then = replace(then, left_out=plan.baselines[0].left_out)
    record = Baseline(path, file_sha256, 0, intended=frozenset({then.sha256}), merged=file_sha256, saved=save)
    return replace(
        plan,
        puts=(Put(path, after.text, None),),
        baselines=(record,),
        writes=(Write(path, data, file_sha256, then),),
    )


def _similarities(
    old: PathState, new: Sequence[PathState], lines: Mapping[str, Counter[str]]
) -> Iterator[tuple[float, PathState]]:
    """Yield each new file with its similarity to the recent version of the missing document that it is nearest to.

    `lines` are the line counts of the new files by path. Those of the old document are counted once for all pairs and
    dropped afterwards.
    """
    current = [version for version in old.versions if not version.former][:_VERSIONS_COMPARED]
    # What was there before the person's last save is no text that they go on from. Example: they cut half of a.md into
    # b.md, and rename a.md: b.md is no rename of it.
    last = next((at for at, version in enumerate(current, 1) if version.by_person), None)
    versions = [_line_counts(version.text) for version in current[:last]]
    for other in new:
        yield max((_similarity(version, lines[other.path]) for version in versions), default=0.0), other


def _line_counts(text: str) -> Counter[str]:
    """Return the lines of a text with their counts, without empty lines and the summary line, which writes change."""
    return Counter(
        stripped for line in text.split("\n") if (stripped := line.strip()) and not stripped.startswith("> Summary:")
    )


def _similarity(one: Counter[str], other: Counter[str]) -> float:
    """Return the share of lines (0 to 1) that two texts have in common, of the longer one."""
    common = sum(min(one[line], other[line]) for line in one.keys() & other.keys())  # `one & other` asks for every line
    return common / max(one.total(), other.total(), 1)
