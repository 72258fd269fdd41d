"""The decision table of sync: from the state of one path to its plan.

Three states are compared: the baseline (the last agreed state), the file, and the stored document. "Ours" is a file
whose bytes sync handled or wrote itself, so that no person has changed it since the baseline.

| baseline     | file            | document          | action                                                          |
|--------------|-----------------|-------------------|-----------------------------------------------------------------|
| any          | none            | none              | remove the baseline                                             |
| none, or no  | none            | present           | write the file: it was never on disk, or never agreed on        |
| file agreed  |                 |                   |                                                                 |
| file agreed  | none            | changed since     | after the quiet period, in which a moved file would be found:   |
|              |                 |                   | write the file again, a change beats a deletion                 |
| file agreed  | none            | as agreed         | after the quiet period: delete the document                     |
| any          | ours, no secret | none              | remove the file: the document was deleted                       |
| any          | ours, secret    | none              | put the document back: nobody else has the secret               |
| any          | other           | none              | put the document: a new file, or an edit, which beats deletion  |
| as agreed    | ours            | as agreed         | nothing                                                         |
| as agreed    | ours            | changed since     | write the document's text to the file                           |
| any          | = document      | present           | the baseline alone: both sides have the same text               |
| any          | emptied         | present           | after the quiet period: as any other save                       |
| none         | empty           | present           | write: an empty file is no text of a person                     |
| any          | our lost write  | present           | write the document's text: a crash forgot the baseline          |
| any          | other           | present           | three-way merge with the merge base; none: the memories of both |
|              |                 |                   | are kept, or the file wins, and a copy has the store's text     |

A late write (a save into a file that sync had replaced, found when that file was looked at again) is decided by
`_late_write`: its text is merged too, but the file at the path is another one.

Why a deletion waits: many editors save by deleting and creating, and a scan between the two would delete a document and
its memories. Why an edit beats a deletion on either side: what is deleted by mistake is more trouble than what stays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reverie.sync.merge_base import is_unrecorded_write, merge_base
from reverie.sync.merge_plan import (
    converge,
    disk_writes,
    if_changed,
    merge_save,
    three_way_merge,
    with_notice,
    without_lines,
)
from reverie.sync.plan import (
    Baseline,
    Delete,
    Plan,
    Put,
    Remove,
    Save,
    SaveNotice,
    Write,
    is_own_write,
    lines_of,
    sha256,
)
from reverie.sync.redaction import RedactionView
from reverie.sync.unseen_lines import lines_beyond, lines_only_in, without_unsure_lines

if TYPE_CHECKING:
    from reverie.sync.merge_base import MergeBase
    from reverie.sync.plan import PathState, ScanContext, StoredDocument

_BOM = b"\xef\xbb\xbf"


def is_unchanged_in_store(state: PathState) -> bool:
    """Return True if the document has the text of the baseline; False if it was created again since.

    A change that was undone counts as none: the text is compared, not only the operation.
    """
    document, baseline = state.document, state.baseline
    if document is None or baseline is None:
        return document is None and baseline is None
    if baseline.merged == baseline.sha256:
        # The last save was merged, and the result is not on disk yet: the document has lines that the person has not
        # seen, so deleting the file cannot have been meant for them.
        return False
    agreed = (
        version.text for version in state.versions if version.operation == baseline.operation and not version.former
    )
    return document.operation == baseline.operation or document.text in agreed


def decide(state: PathState, context: ScanContext) -> Plan:
    """Return the plan for one path, whatever is done about others (moves are detected before)."""
    if state.data is None:
        return _no_file(state, context)
    # From here on there are bytes. They are the file at the path unless `disk_sha256` names another one: this test must
    # come before any that compares them with the baseline, which is about the file at the path.
    if state.disk_sha256 not in {None, sha256(state.data)}:
        return _late_write(state, state.data, context)
    if state.document is None:
        return _no_document(state, state.data, context)
    # Both sides exist. Whether a person wrote the file decides between copying and merging.
    if is_own_write(state.baseline, sha256(state.data)):
        return _unchanged_file(state, state.data, state.document, context)
    return _saved_file(state, state.data, state.document, context)


def _no_file(state: PathState, context: ScanContext) -> Plan:
    """Return the plan for a path without a file: never written, deleted, or missing for a moment."""
    baseline, document = state.baseline, state.document
    if document is None:
        return Plan(removed_baselines=(state.path,)) if baseline is not None else Plan()
    # Without a baseline of a file nobody can have deleted it: it was never on disk. With one, the deletion counts only
    # against the text that was on disk: whoever deleted the file has not seen what the store got later.
    if baseline is None or not baseline.sha256:
        return _created_file(state, document, context)
    waiting = _quiet_period(baseline, context)
    if waiting is not None:
        return waiting
    if not is_unchanged_in_store(state):
        return _created_file(state, document, context)
    return Plan(deletes=(Delete(state.path, document.operation),), removed_baselines=(state.path,))


def written_again(state: PathState, context: ScanContext) -> Plan:
    """Return the plan that writes the document to its missing file again, as a person chose instead of the deletion."""
    assert state.document is not None
    return _created_file(state, state.document, context)


def _created_file(state: PathState, document: StoredDocument, context: ScanContext) -> Plan:
    """Return the plan that writes the document's text to a path without a file."""
    baseline = state.baseline or Baseline(state.path, "", 0)
    data = document.text.encode()
    # As in every write: the baseline that is committed first names the bytes as intended, the one after the write
    # (`then`) has them as agreed.
    record = replace(baseline, sha256="", missing_since=None, intended=frozenset({sha256(data)}))
    then = replace(
        record,
        sha256=sha256(data),
        operation=document.operation,
        intended=frozenset(),
        merged=None,
        shown=disk_writes(baseline, document.operation, context),
        made_at=context.now_ms,
    )
    return Plan(baselines=if_changed(record, state), writes=(Write(state.path, data, None, then),))


def _no_document(state: PathState, data: bytes, context: ScanContext) -> Plan:
    """Return the plan for a file without a document: a new file, or one whose document was deleted meanwhile.

    The untouched file of a deleted document is removed with it; an edited one becomes a document again. A file with a
    secret is never removed by sync, because no other copy of the secret exists.
    """
    view = context.redact(data.decode())
    ours = is_own_write(state.baseline, sha256(data)) or is_unrecorded_write(state, view.text)
    if ours and not view.spans:
        return Plan(removals=(Remove(state.path, sha256(data)),))
    return Plan(
        puts=(Put(state.path, view.text, None),),
        baselines=(Baseline(state.path, sha256(data), None, saved=Save(None)),),
    )


def _unchanged_file(state: PathState, data: bytes, document: StoredDocument, context: ScanContext) -> Plan:
    """Return the plan for a file that no person changed: changes of the store are written to it."""
    baseline, file_sha256 = state.baseline, sha256(data)
    assert baseline is not None
    # What a save a moment ago had lacked, and the merge kept, may turn up in the file that it was moved to.
    moved = context.moved_from(state.path, context.kept.get(state.path, ()))
    # The common case of a full scan. `intended` must be empty: with a write under way the bytes are known, but not yet
    # recorded as agreed.
    if (
        not moved
        and baseline.sha256 == file_sha256
        and baseline.operation == document.operation
        and not baseline.intended
    ):
        return Plan(baselines=if_changed(replace(baseline, missing_since=None), state))
    raw = data.decode()
    # A text that the store has word for word is no only copy of a secret, so nothing in it needs protection. Example: a
    # name that Reverie wrote into a summary is taken for a password since a later session had it behind "password:".
    # Were its line kept, it would come back beside each new one, and for ever into a list that is written anew.
    stored = any(version.text == raw for version in state.versions)
    view = RedactionView(raw) if stored else context.redact(raw)
    if view.text == document.text and not moved:  # our write was not recorded, or the store got this text
        return Plan(baselines=(_agreed_baseline(state, file_sha256, document, context),))
    return converge(state, view, document, without_lines(document.text, moved), context)


def _saved_file(state: PathState, data: bytes, document: StoredDocument, context: ScanContext) -> Plan:
    """Return the plan for a file that a person saved or created, where a document exists."""
    view, file_sha256 = context.redact(data.decode()), sha256(data)
    if view.text == document.text:
        return Plan(baselines=(_agreed_baseline(state, file_sha256, document, context),))
    waiting = _empty_file_quiet_period(state, data, document, context)
    if waiting is not None:
        return waiting
    if state.baseline is None and not data.removeprefix(_BOM):
        # `touch` where a document is about to be written: an empty file says nothing about the document.
        return converge(state, view, document, document.text, context)
    if is_unrecorded_write(state, view.text):
        # Merged as a save it would "restore" an old version over the newer document.
        return converge(state, view, document, document.text, context)
    return _merged(state, view, document, context)


def _late_write(state: PathState, data: bytes, context: ScanContext) -> Plan:
    """Return the plan for a late write: a save into a file that was replaced a moment before."""
    view = context.redact(data.decode())
    if is_own_write(state.baseline, sha256(data)) or is_unrecorded_write(state, view.text):
        return Plan()  # the displaced file has our own text: nobody saved into it
    if state.document is not None:
        return _merged(state, view, state.document, context)
    # The document was deleted, and somebody saved into its removed file: the edit brings the document back.
    put, file_sha256 = Put(state.path, view.text, None), sha256(data)
    if state.disk_sha256 and not is_own_write(state.baseline, state.disk_sha256):
        return Plan(puts=(put,))  # yet another save is at the path: the next scan merges it with this one
    baseline = state.baseline or Baseline(state.path, "", 0)
    record = replace(
        baseline, sha256=state.disk_sha256 or "", missing_since=None, intended=baseline.intended | {file_sha256}
    )
    then = Baseline(state.path, file_sha256, None, saved=Save(None))
    write = Write(state.path, data, state.disk_sha256 or None, then)
    return Plan(puts=(put,), baselines=if_changed(record, state), writes=(write,))


def _merged(state: PathState, view: RedactionView, document: StoredDocument, context: ScanContext) -> Plan:
    """Return the plan of a three-way merge of a save with the document, against the text that the save derives from."""
    file_sha256 = sha256(view.raw.encode())
    base = merge_base(
        state,
        view.text,
        file_sha256=file_sha256,
        deliberate=state.path in context.deliberate,
        now_ms=context.now_ms,
        rules=context.rules,
    )
    merged = merge_save(state.path, base, document.text, view.text, context)
    if merged is None:  # no common ancestor: the file wins, and the store's text goes to a conflict copy
        return converge(state, view, document, view.text, context, save=file_sha256, conflict=())
    plan = converge(state, view, document, merged.text, context, save=file_sha256, conflict=merged.regions or None)
    notice, before = _notice(state.path, base, document.text, view.text, merged.text, context=context)
    return plan if notice is None else with_notice(plan, notice, before, context.now_ms)


def _notice(
    path: str, base: MergeBase, document: str, save: str, merged: str, *, context: ScanContext
) -> tuple[SaveNotice | None, str | None]:
    """Return a notice if lines that a save lacks are kept or left out, and the text to undo a leaving out.

    That text has the lines that are left out because it is unknown whether the writer had seen them; a line that the
    person has moved to another file is none of them.
    """
    kept = 0
    if base.last is not None and base.version is not None and base.version != base.last:
        kept = lines_beyond(base.last.text, save) - lines_beyond(base.last.text, merged)
    before, left_out = None, 0
    if base.unsure is not None and base.version is not None:
        # To merge against a base without the lines in question is to take them for unseen; all else is merged as it is.
        # Where that is a conflict the document is what an undo restores.
        sure = (base.unsure.text, base.edited)
        other = three_way_merge(without_unsure_lines(base.version.text, save, *sure), document, save)
        before = document if other.regions else other.text
        gone = lines_only_in(before, merged, *sure)
        moved = context.moved_from(path, gone)
        before, left_out = without_lines(before, moved - lines_of(merged)), sum(line not in moved for line in gone)
    return (SaveNotice(path, kept, left_out) if kept > 0 or left_out else None), before if left_out else None


def _empty_file_quiet_period(
    state: PathState, data: bytes, document: StoredDocument, context: ScanContext
) -> Plan | None:
    """Return the plan that waits for an emptied file's content; None if it has any, or was empty for long.

    A tool that truncates a file and then writes it leaves it empty for a moment; taken at once, every memory in it
    would be deleted.
    """
    if state.baseline is None or data.removeprefix(_BOM) or not document.text:
        return None
    return _quiet_period(state.baseline, context, since=state.saved_at)


def _quiet_period(baseline: Baseline, context: ScanContext, *, since: int | None = None) -> Plan | None:
    """Return the plan that waits until a file was missing or empty for the quiet period; None once it was.

    None too if a person accepted the deletions. The period starts with the first scan that saw the file so, or at
    `since` (ms) if that is later. If the clock went back it starts again now: so nothing is deleted early, and nothing
    waits for the old time to come again.
    """
    if context.rules.deletions_accepted:
        return None
    start = baseline.missing_since
    if start is None or start > context.now_ms:
        record = replace(baseline, missing_since=context.now_ms)
        return Plan(baselines=(record,))
    if since is not None and since <= context.now_ms:
        start = max(start, since)  # emptied again after the first scan that saw it empty: the period starts again
    return Plan() if context.now_ms < start + context.rules.delete_quiet_ms else None


def _agreed_baseline(state: PathState, file_sha256: str, document: StoredDocument, context: ScanContext) -> Baseline:
    """Return the baseline for a file whose text equals the stored document: our own write, or a person's save.

    A person's save of the very text that the baseline agreed on becomes the last save.
    """
    baseline = state.baseline
    if baseline is None:  # a crash may have lost the record of our write, so an editor may not have seen it yet
        baseline = Baseline(state.path, "", 0)
    elif baseline.operation == document.operation and not is_own_write(baseline, file_sha256):
        then = Baseline(state.path, file_sha256, document.operation, shown=baseline.shown)
        return replace(then, saved=baseline.saved, earlier=baseline.earlier).with_save(Save(document.operation))
    shown = baseline.shown
    if baseline.operation != document.operation:
        shown = disk_writes(baseline, document.operation, context)
    return replace(
        baseline,
        sha256=file_sha256,
        operation=document.operation,
        missing_since=None,
        intended=frozenset(),
        merged=baseline.merged if baseline.merged == baseline.sha256 else None,
        shown=shown,
        made_at=baseline.made_at if baseline.sha256 else context.now_ms,
    )
