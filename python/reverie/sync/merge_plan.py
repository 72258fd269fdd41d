"""Plan the write and the put that bring file and document of one path to one text; secrets stay in the file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from reverie.documents.edit import with_blocks_of
from reverie.documents.layout import conflict_copy
from reverie.lazy_regex import lazy_regex
from reverie.merge import merge3
from reverie.sync.plan import (
    Baseline,
    ConflictCopy,
    ConflictRegion,
    DiskWrite,
    LeftOut,
    Plan,
    Put,
    Save,
    SaveNotice,
    Write,
    is_own_write,
    lines_of,
    sha256,
)

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from reverie.sync.merge_base import MergeBase
    from reverie.sync.plan import PathState, ScanContext, StoredDocument
    from reverie.sync.redaction import RedactionView

_SUMMARY: Final = lazy_regex(r"^> Summary:[^\n]*", re.MULTILINE)
_SHOWN_MAX: Final = 20  # texts of which it is kept when they came to disk: far more than come within two seconds


@dataclass(frozen=True, slots=True)
class MergedText:
    """The result of a three-way merge: text without conflict markers, and the regions that kept the person's side."""

    text: str
    regions: tuple[ConflictRegion, ...] = ()


def three_way_merge(base: str, store: str, person: str) -> MergedText:
    """Merge the store's and a person's edits of `base`; where both insert at one place, the store's lines come first.

    Markers like `<<<<<<<` never enter a file that agents read: a conflicting region keeps the person's text, and the
    caller writes the store's whole text beside the file.
    """
    base, store, person = _with_one_summary(base, store, person)
    merged = merge3(base, store, person)
    if merged.clean:
        return MergedText(merged.text)
    # In a conflicting region the merged text has the side of "ours", the second argument. So for a conflict the person
    # goes second; in the clean case above the order only decides whose insertion comes first.
    merged = merge3(base, person, store)
    text, shift, regions = merged.text, 0, []
    for conflict in merged.conflicts:
        added = _added_lines(conflict.base.text, conflict.theirs.text)
        at = conflict.span[1] + shift
        if added is None or (added and at and text[at - 1] != "\n"):
            regions.append(ConflictRegion(conflict.ours.text, conflict.theirs.text, conflict.span[0] + shift))
        else:
            text, shift = text[:at] + added + text[at:], shift + len(added)
    return MergedText(text, tuple(regions))


def merge_save(path: str, base: MergeBase, store: str, person: str, context: ScanContext) -> MergedText | None:
    """Return a person's save merged with the store's text; None without a base where not both texts can be kept.

    Lines that the person has moved to another file are left out: the save lacks them and another one has them, so they
    had been seen, however new they are. Example: an agent writes "- c" to a.md, and a second later a person cuts it out
    there and pastes it into b.md.
    """
    if base.version is not None:
        merged = three_way_merge(base.version.text, store, person)
    elif base.is_lost or (both := with_blocks_of(path, person, store)) is None:
        return None
    else:
        merged = MergedText(both)
    moved = context.moved_from(path, lines_of(merged.text) - lines_of(person))
    return MergedText(without_lines(merged.text, moved)) if moved and not merged.regions else merged


def without_lines(text: str, lines: Container[str]) -> str:
    """Return a text without these lines."""
    return "".join(line for line in text.splitlines(keepends=True) if line.rstrip() not in lines)


def _added_lines(base: str, store: str) -> str | None:
    """Return the lines that the store added to a region, "" if it changed generated lines alone; else None.

    Such a region is no conflict, whatever the person made of it: what was added is kept behind that. Example: an agent
    writes "- c" between "- a" and "- b", and a person cuts both out: the c stays.
    """
    old, new = ([line for line in text.splitlines(keepends=True) if _has_own_words(line)] for text in (base, store))
    added = []
    for line in new:
        if old and line.rstrip() == old[0].rstrip():
            del old[0]
        else:
            added.append(line)
    if old or not all(line.endswith("\n") for line in added):
        return None
    return "".join(added)


def _has_own_words(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("> Summary:")


def _with_one_summary(base: str, store: str, person: str) -> tuple[str, str, str]:
    """Return the texts with the same summary line: the person's where they changed it, else the store's.

    The line is made from the newest memory, so two sides with a new memory each differ in it, and would be in conflict
    down to those memories.
    """
    found = [_SUMMARY.findall(text) for text in (base, store, person)]
    if any(len(lines) != 1 for lines in found):
        return base, store, person
    (old,), (stored,), (saved,) = found
    line = saved if saved != old else stored
    same = [_SUMMARY.sub(lambda _: line, text) for text in (base, store, person)]
    return same[0], same[1], same[2]


def converge(
    state: PathState,
    view: RedactionView,
    document: StoredDocument,
    target: str,
    context: ScanContext,
    *,
    save: str | None = None,
    conflict: tuple[ConflictRegion, ...] | None = None,
) -> Plan:
    """Return the plan that gives both file and document the text `target`, as far as the file's secrets allow.

    `view` is the redaction view of the file, `save` the SHA-256 of the person's save that `target` was merged from;
    None if no person saved. A `conflict` writes the store's text to a conflict copy; None: there is none, (): nothing
    could be merged.

    What is written depends on three texts: `target`, the document, and the file after the target was applied to it
    (`after`). They are equal unless a secret stands in the way:

    | after = document | after = file | result                                                    |
    |------------------|--------------|-----------------------------------------------------------|
    | yes              | yes          | the baseline alone                                        |
    | yes              | no           | a write                                                   |
    | no               | yes          | a put                                                     |
    | no               | no           | a put and a write (a merge changed both sides)            |
    """
    baseline = state.baseline or Baseline(state.path, "", 0)
    after = applied(view, target, context)
    if after is None:  # it would lose or reveal a secret: the person's text is taken whole, the store's becomes a copy
        after, conflict = view, ()
    # The file to be replaced: the one at the path, which is not the text of `view` when that is a late write.
    disk = sha256(view.raw.encode()) if state.disk_sha256 is None else state.disk_sha256
    data = after.raw.encode()
    operation = None if after.text != document.text else document.operation
    made_at = baseline.made_at if baseline.sha256 else context.now_ms
    shown = disk_writes(
        baseline, operation, context, at=None if save is None else state.saved_at, saved=save is not None
    )
    then = Baseline(state.path, sha256(data), operation, made_at=made_at, shown=shown)
    then = _with_saves(state, baseline, then, view, save)
    writes: tuple[Write, ...] = ()
    if state.disk_sha256 is not None and not is_own_write(baseline, state.disk_sha256):
        # A late write, and the file that is there now is another unhandled save, or was moved away: that is the next
        # scan's. Nothing may be written there, so only the merge-base candidates are recorded.
        record = replace(baseline, saved=then.saved, earlier=then.earlier)
    elif sha256(data) == disk:
        record = replace(then, shown=baseline.shown) if state.disk_sha256 else then
    else:
        then = replace(then, shown=disk_writes(baseline, operation, context, saved=save is not None))
        writes = (Write(state.path, data, disk or None, then),)
        # Until the write is made the file is what it was. `intended` names the bytes about to be written: found there
        # after a crash, they are not taken for a person's save. Those of a write that a save raced stay in it: they
        # were on disk for a moment, and the next save may be made from them.
        record = replace(
            baseline,
            sha256=disk,
            missing_since=None,
            intended=baseline.intended | {then.sha256},
            merged=then.merged,
            saved=then.saved,
            earlier=then.earlier,
        )
    plan = Plan(
        puts=(Put(state.path, after.text, document.operation),) if operation is None else (),
        baselines=if_changed(record, state),
        writes=writes,
    )
    if conflict is None:
        return plan
    return plan.joined(conflict_plan(state.path, document.text, relocated(conflict, target, after.text), context))


def with_notice(plan: Plan, notice: SaveNotice, before: str | None, now_ms: int) -> Plan:
    """Return the plan of a save with a notice of the lines that the save lacks, and of what became of them.

    `before` is the document's text with the lines that are left out, and with everything else that the save changed.
    """
    path = notice.path
    puts = tuple(
        replace(put, before=before) if put.path == path and before not in {None, put.text} else put for put in plan.puts
    )
    if not any(put.path == path for put in puts):  # the document has all of these lines, and no other change
        return plan
    left_out = LeftOut(None, notice.left_out, now_ms) if notice.left_out else None
    return replace(
        plan,
        puts=puts,
        baselines=tuple(replace(item, left_out=left_out) if item.path == path else item for item in plan.baselines),
        writes=tuple(
            replace(write, then=replace(write.then, left_out=left_out)) if write.path == path else write
            for write in plan.writes
        ),
        notices=(*plan.notices, notice),
    )


def _with_saves(
    state: PathState, baseline: Baseline, then: Baseline, view: RedactionView, save: str | None
) -> Baseline:
    """Return the path's next baseline `then` with the texts of saves that an open editor may continue from."""
    then = replace(then, saved=baseline.saved, earlier=baseline.earlier)
    if save is None:
        # No person saved. What was known about a merged save stays true until the file changes.
        then = replace(then, left_out=baseline.left_out)
        return replace(then, merged=baseline.merged) if baseline.merged == baseline.sha256 else then
    if state.replaced_by is not None and _saved_later(baseline, state.replaced_by):
        # A late write from before the last known save: it is one more merge-base candidate, and not the last save.
        return replace(then.with_earlier_saves(Save(state.replaced_by - 1, view.text)), merged=baseline.merged)
    if then.sha256 != save:
        # The merge changed the text. An editor that does not reload goes on from what it saved, not from our result.
        return replace(then.with_save(Save(then.operation, view.text)), merged=save)
    return then.with_save(Save(then.operation))


def _saved_later(baseline: Baseline, replaced_by: int) -> bool:
    """Return True if the path's last save came with the operation `replaced_by` or after it."""
    saved = baseline.saved.operation if baseline.saved is not None else None
    return saved is not None and saved >= replaced_by


def applied(view: RedactionView, target: str, context: ScanContext) -> RedactionView | None:
    """Return the view of the file after `target` was applied; None if that would lose a secret or reveal one."""
    raw = view.apply(target)
    if raw is None:
        return None
    after = context.redact(raw)
    return None if view.leaks(after.text) else after


def conflict_plan(path: str, text: str, regions: tuple[ConflictRegion, ...], context: ScanContext) -> Plan:
    """Return the plan that stores the store's text as a conflict copy: a document and a file beside the person's."""
    copy_path, data = conflict_copy(path, context.stamp, context.new_id()), text.encode()
    record = Baseline(copy_path, "", 0, intended=frozenset({sha256(data)}))
    then = Baseline(copy_path, sha256(data), None)
    return Plan(
        puts=(Put(copy_path, text, None),),
        baselines=(record,),
        writes=(Write(copy_path, data, None, then),),
        copies=(ConflictCopy(path, copy_path, text, regions),),
    )


def disk_writes(
    baseline: Baseline, operation: int | None, context: ScanContext, *, at: int | None = None, saved: bool = False
) -> tuple[DiskWrite, ...]:
    """Return the last operations whose text came to disk, newest first, after adding `operation` at `at` (ms) or now.

    Each operation counts once, by its last text: the merge result of a save replaces the save within moments.
    """
    earlier_writes = tuple(write for write in baseline.shown if write.operation != operation)
    newest = DiskWrite(operation, context.now_ms if at is None else at, saved)
    return (newest, *earlier_writes)[:_SHOWN_MAX]


def if_changed(baseline: Baseline, state: PathState) -> tuple[Baseline, ...]:
    """Return the baseline in a tuple, or an empty tuple if it equals the path's present baseline."""
    return () if baseline == state.baseline else (baseline,)


def relocated(regions: tuple[ConflictRegion, ...], text: str, stored: str) -> tuple[ConflictRegion, ...]:
    """Return conflict regions of `text` with their offsets in `stored`, in which lines with secrets stayed unchanged.

    An offset that cannot be found becomes None. Example: the target "a, c" was applied as "a, SECRET, c" because the
    line with the secret stays; a region at line 1 of the target is then at line 2.
    """
    if text == stored or not regions:
        return regions
    lines, stored_lines = text.split("\n"), stored.split("\n")
    line_offsets = [0, *accumulate(len(line) + 1 for line in stored_lines)]
    matches = {
        block.a + number: block.b + number
        for block in SequenceMatcher(None, lines, stored_lines).get_matching_blocks()
        for number in range(block.size)
    }
    numbers = [
        None if region.at is None else _line_number(text.count("\n", 0, region.at), lines, matches)
        for region in regions
    ]
    offsets = [None if number is None else line_offsets[number] for number in numbers]
    return tuple(
        replace(region, at=at if at is None or stored.startswith(region.person, at) else None)
        for region, at in zip(regions, offsets, strict=True)
    )


def _line_number(line: int, lines: Sequence[str], matches: Mapping[int, int]) -> int | None:
    """Return the new number of a line, by its own match or the line after its predecessor's match; None: unknown.

    An empty line matches anywhere, so it counts only together with its predecessor.
    """
    here, before = matches.get(line), matches.get(line - 1)
    if here is not None and (lines[line].strip() or before == here - 1):
        return here
    return before + 1 if before is not None and lines[line - 1].strip() else None
