"""Undo of one operation, and rollback of a space, a document or a memory to an earlier operation."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from reverie import wire
from reverie.documents.index import without_list
from reverie.documents.items import Add, Change, Delete, Update
from reverie.documents.revert import revert_change
from reverie.errors import Conflict, NotFound, ValidationError
from reverie.merge import merge3
from reverie.models import EntryKind, Json
from reverie.redact import Redactor
from reverie.store import (
    RULES,
    THREAD_KINDS,
    CandidateRecord,
    ChangeRecord,
    DigestRecord,
    DistillationRecord,
    DocumentRecord,
    DroppedLineRecord,
    EntryRecord,
    ForgottenRecord,
    Key,
    Kind,
    MemoryRecord,
    NoteRecord,
    OperationRecord,
    Reader,
    StoredRecord,
    ThreadRecord,
    WorkingStateRecord,
    Writer,
)
from reverie.usecases import conflicts, documents, history, projections, projects
from reverie.usecases.by import By, writes
from reverie.usecases.forgotten import hold_forgotten
from reverie.usecases.memories import edit_block, wording
from reverie.usecases.projections import LIST, WHY_LISTED
from reverie.usecases.put import NewText, put_texts
from reverie.usecases.threads import undo_rewind


def reset_counters(writer: Writer, undone: ChangeRecord) -> None:
    """Set the counters of a thread to its newest remaining distillation; `undone` is the change that was reverted."""
    thread_id = str(undone.key[0])
    thread = writer.load(ThreadRecord, (thread_id,))
    if thread is None:
        return
    stored = [record for _, record in writer.records(DistillationRecord, (thread_id,), reverse=True)]
    # An imported summary has a number and no more: the messages around it all count as live.
    own = next((record for record in stored if not record.imported), None)
    last_seq = 0 if own is None else own.last_seq or 0
    since = writer.records(EntryRecord, (thread_id,), after=(thread_id, last_seq))
    appended = sum(entry.tokens for _, entry in since if entry.kind is EntryKind.SPEECH)
    writer.save(
        replace(
            _with_learning_of(writer, thread, undone),
            distillations=stored[0].number if stored else 0,
            through_seq=0 if own is None else own.through_seq,
            live_tokens=(0 if own is None else own.tokens_after or 0) + appended,
            usage=None,
        ),
        (thread_id,),
    )


def _with_learning_of(writer: Writer, thread: ThreadRecord, undone: ChangeRecord) -> ThreadRecord:
    """Return the thread with its learning position and counts before an undone distillation, or after a redone one.

    Where memories were learnt from later entries since, and for distillations of older releases, they stay as they are:
    no entry is counted twice. Example: an import learnt from entries 1 to 90 and the distillation from 91 to 100; after
    its undo the next run learns from 91 on, and from 1 on it would count each command of the 90 once more.
    """
    key = (str(undone.key[0]), int(undone.key[1]))
    here = writer.load(DistillationRecord, key)
    versions = (version.value for version in writer.record_versions(DistillationRecord, key))
    record = here or next((version for version in versions if version is not None), None)
    learnt = None if record is None else record.learnt
    if learnt is None:
        return thread
    if here is None and thread.extracted_seq == learnt.through:
        return replace(thread, extracted_seq=learnt.before, commands=learnt.commands_before)
    if here is not None and thread.extracted_seq == learnt.before:
        return replace(thread, extracted_seq=learnt.through, commands=learnt.commands)
    return thread


# Documents are merged; memories and conflicts follow from them. All other kinds are put back as they were.
_MERGED = (Kind.DOCUMENT, Kind.MEMORY, Kind.CONFLICT)
_ROLLED_BACK: dict[Kind, type[StoredRecord]] = {
    Kind.STATE: WorkingStateRecord,
    Kind.NOTE: NoteRecord,
    Kind.DIGEST: DigestRecord,
    Kind.CANDIDATE: CandidateRecord,
    Kind.FORGOTTEN: ForgottenRecord,
    Kind.DROPPED_LINE: DroppedLineRecord,
}
_OF_THREADS = (Kind.STATE, Kind.NOTE, Kind.DIGEST)

# Undo of one operation


@writes(lambda seq, **_: f"undo {seq}", answers=dict, projects=True)
def undo(to: Writer, by: By, seq: int, redactor: Redactor) -> Json:
    """Revert operation `seq`; later changes stay where they do not overlap with it.

    The answer is `wire.UndoAnswer` as JSON, since a stored one says which fields are left out. It has `operation` None
    if everything is reverted already. Raises Conflict, naming what a later operation changed in the same place, or if
    the operation cannot be undone, and HeldForPerson where the undo of an agent would bring back what a person forgot.
    """
    operation = history.get(to, seq)
    if operation.why == WHY_LISTED:
        raise Conflict(
            f"operation {seq} brought the list in {LIST} up to date, which nothing else would make different",
            hint="undo the operation before it, which changed what is listed",
        )
    if undo_rewind(to, operation, redactor):
        return _undo_answer(to, operation)
    merged = [change for change in operation.changes if change.kind in (Kind.DOCUMENT, Kind.CONFLICT)]
    kept = _purged_statements(to, operation) | (_decided_since(to, operation) if merged else set())
    others = [
        change
        for change in operation.changes
        if change.kind not in _MERGED and (change.kind, tuple(change.key)) not in kept
    ]
    # `undo_operation` also refuses an operation without anything to restore, so it is called if nothing is merged.
    of_memories = [change for change in operation.changes if change.kind is Kind.MEMORY]
    of_projects = projects.moved_threads(to, operation)
    if any(RULES[change.kind].undo != "leave" for change in others) or not (merged or of_memories or of_projects):
        undo_operation(to, seq, leave=_MERGED, keep=kept)
    paths = _revert_documents(to, by, operation)
    for path in paths:
        hold_forgotten(to, to.load(DocumentRecord, (path,)), who=by.who)
    projects.undo(to, operation)
    conflicts.revert(to, operation, paths)
    for change in operation.changes:
        if change.kind is Kind.DISTILLATION:
            reset_counters(to, change)
    return _undo_answer(to, operation)


def undo_operation(
    writer: Writer, operation: int, *, leave: Collection[Kind] = (), keep: Collection[tuple[Kind, Key]] = ()
) -> list[ChangeRecord]:
    """Undo `operation` inside `writer`, whose write becomes a new operation; return the changes that were put back.

    Kinds in `leave` are skipped: the caller makes them anew from what is put back. The records in `keep`, and those of
    kinds that an undo leaves alone (`kinds.Rule.undo`), stay as they are.

    Raises NotFound where there is no such operation or an earlier version is no longer kept; Conflict where it appended
    messages or purged, where its thread was deleted, where nothing in it can be put back, or, naming the keys, where
    something changed since.
    """
    record = writer.load(OperationRecord, (operation,))
    if record is None:
        raise NotFound(f"there is no operation {operation}", hint="`reverie log` lists them")
    changes = _restorable(
        operation, record.why, [change for change in record.changes if _kind_and_key(change) not in keep], leave
    )
    _require_threads(writer, operation, changes)
    # All of it or nothing: undoing half of an operation would make a state that never existed.
    changed = [change for change in changes if writer.latest(*_kind_and_key(change)) != operation]
    if changed:
        raise Conflict(
            f"operation {operation} cannot be undone: {len(changed)} of its records changed since",
            hint="undo the later operations first, or edit the records",
            keys=[{"kind": change.kind.value, "key": change.key} for change in changed],
        )
    for change in changes:
        _put_back(writer, change)
    return changes


def _restorable(operation: int, why: str, changes: list[ChangeRecord], leave: Collection[Kind]) -> list[ChangeRecord]:
    """Return the changes that are to be put back. Raises Conflict where one forbids the undo, or there is none."""
    for change in changes:
        if RULES[change.kind].undo == "refuse":
            raise Conflict(
                f"operation {operation} ({why}) cannot be undone: it appended {change.kind} records",
                hint="delete the thread if it is not wanted",
            )
        if change.purged:
            raise Conflict(
                f"operation {operation} ({why}) cannot be undone: what it purged is gone for good",
                hint="restore a backup",
            )
    restorable = [change for change in changes if change.kind not in leave and RULES[change.kind].undo == "restore"]
    if not restorable:
        raise Conflict(f"operation {operation} ({why}) cannot be undone", hint="`reverie log` says which can be undone")
    return restorable


def _require_threads(writer: Writer, operation: int, changes: list[ChangeRecord]) -> None:
    """Raise Conflict where a change belongs to a deleted thread: no part of it may come back without the rest."""
    threads = {str(change.key[0]) for change in changes if change.kind in THREAD_KINDS}
    deleted = sorted(thread for thread in threads if not writer.exists(Kind.THREAD, (thread,)))
    if deleted:
        raise Conflict(
            f"operation {operation} belongs to thread {deleted[0]!r}, which is deleted",
            hint="a deleted thread does not come back; restore a backup if it must",
            threads=deleted,
        )


def _kind_and_key(change: ChangeRecord) -> tuple[Kind, Key]:
    return change.kind, tuple(change.key)


def _put_back(writer: Writer, change: ChangeRecord) -> None:
    """Make a record what it was before the change: delete it, or write the earlier version again."""
    kind, key = _kind_and_key(change)
    if change.before is None:
        writer.delete(kind, key)
    else:
        writer.put_sealed(kind, key, writer.at_version(kind, key, change.before))


def _purged_statements(writer: Writer, operation: OperationRecord) -> set[tuple[Kind, Key]]:
    """Return the keys of what `operation` forgot and a purge removed since: these words stay forgotten."""
    keys = (tuple(change.key) for change in operation.changes if change.kind is Kind.FORGOTTEN)
    return {(Kind.FORGOTTEN, key) for key in keys if _is_purged_statement(writer, key)}


def _decided_since(writer: Writer, operation: OperationRecord) -> set[tuple[Kind, Key]]:
    """Return the keys of what `operation` forgot beside its texts and was said again, or proposed and was decided.

    Example: of a deleted file with three lines one was said again since, and a person undoes the deletion.
    """
    kept = set()
    for change in operation.changes:
        kind, key = _kind_and_key(change)
        is_said = kind is Kind.FORGOTTEN and not _is_forgotten_anew(writer, key, change.after)
        is_decided = kind is Kind.CANDIDATE and change.before is None
        if (is_said or is_decided) and writer.latest(kind, key) != operation.seq:
            kept.add((kind, key))
    return kept


def _is_forgotten_anew(writer: Writer, key: Key, operation: int | None) -> bool:
    """Return True if a statement is forgotten by another deletion than that of `operation`, whoever's that was."""
    now = writer.load(ForgottenRecord, key)
    versions = writer.record_versions(ForgottenRecord, key)
    then = next((version.value for version in versions if version.operation == operation), None)
    return now is not None and (then is None or (now.memory, now.at) != (then.memory, then.at))


def _is_purged_statement(reader: Reader, key: Key) -> bool:
    forgotten = reader.load(ForgottenRecord, key)
    return forgotten is not None and not forgotten.content


def _undo_answer(writer: Writer, operation: OperationRecord) -> Json:
    changes = history.change_answers(operation) if writer.changed else []
    answer = wire.UndoAnswer(operation=_new_operation(writer), undone=str(operation.seq), changes=changes)
    json: Json = msgspec.to_builtins(answer)
    return json


def _new_operation(writer: Writer) -> str | None:
    return str(writer.number) if writer.changed else None


class _Outcome:
    """An outcome of a merge that is no text."""


_UNCHANGED = _Outcome()
_OVERLAP = _Outcome()
_Merged: TypeAlias = "NewText | _Outcome | None"


def _revert_documents(writer: Writer, by: By, operation: OperationRecord) -> list[str]:
    """Revert what `operation` did to documents, and keep later changes; return the paths that changed.

    Each text is merged: the base is what the operation wrote, the sides are the current text and the text before the
    operation. Raises Conflict, naming the documents, if a later change overlaps; then nothing is written.
    """
    texts: dict[str, NewText | None] = {}
    overlapping: list[str] = []
    for change in operation.changes:
        if change.kind is not Kind.DOCUMENT:
            continue
        path = str(change.key[0])
        before, after = _version_of(writer, path, change.before), _version_of(writer, path, change.after)
        now = writer.load(DocumentRecord, (path,))
        merged = _merge(path, before, after, now, day=writer.at[:10])
        if merged is _OVERLAP and path == LIST:
            merged = _merge_list(before, after, now, projections.listed(writer))
        if merged is _OVERLAP:
            overlapping.append(path)
        elif merged is not _UNCHANGED:
            assert not isinstance(merged, _Outcome)
            texts[path] = merged
    if texts and overlapping == [LIST]:
        overlapping = []  # its lines are updated after the other documents anyway
    if overlapping:
        raise Conflict(
            f"operation {operation.seq} cannot be undone: {', '.join(sorted(overlapping))} changed since in its places",
            hint="undo the later operations first, or edit the document; reverie diff shows both",
            paths=sorted(overlapping),
        )
    # Memories that the operation changed get back their version before it; others were changed since and stay.
    changed = {str(change.key[0]) for change in operation.changes if change.kind is Kind.MEMORY}
    records = _memories_at(writer, texts, operation.seq - 1, only=changed)
    return put_texts(writer, texts, _as_source(by, "undoes", operation.seq), records=records)


def _as_source(by: By, name: str, operation: int) -> By:
    """Return `by` for restored words: their new memories name the operation, and nobody."""
    return dataclasses.replace(by, who="", origin={name: operation})


def _merge(
    path: str, before: DocumentRecord | None, after: DocumentRecord | None, now: DocumentRecord | None, *, day: str
) -> _Merged:
    """Return the text of a document after the undo, None to delete it; or an _Outcome: _UNCHANGED or _OVERLAP.

    `before` and `after` are the document before and after the operation. If the current text is the one before, the
    operation is reverted already; if it is the one after, nothing came later; else the later changes are merged.
    """
    if _text(now) == _text(before):
        return _UNCHANGED
    if _text(now) == _text(after):
        return None if before is None else NewText(before.content, before.ids)
    if after is None or now is None:
        return _OVERLAP  # deleted by the operation and written again since, or the other way round
    sides = [None if record is None else (record.content, record.ids) for record in (before, after, now)]
    assert sides[1] is not None
    assert sides[2] is not None
    merged = revert_change(path, sides[0], sides[1], sides[2], day=day)
    if merged is None:
        return _OVERLAP
    text, ids = merged
    return None if text is None else NewText(text, ids)


def _merge_list(
    before: DocumentRecord | None, after: DocumentRecord | None, now: DocumentRecord | None, owned: Collection[str]
) -> _Merged:
    """Return MEMORY.md after the undo as `_merge` does, where the lines that Reverie keeps up to date are in its way.

    They are left out of the comparison: after every write they are made as they have to be.
    """
    texts = [without_list(_text(one) or "", owned) for one in (before, after, now)]
    # Empty lines around the list may have come with it.
    old, new, current = ([line for line in text.splitlines() if line.strip()] for text in texts)
    if current == old:
        return _UNCHANGED
    if current == new:
        return None if before is None else NewText(before.content, before.ids)
    merged = merge3(texts[1], texts[2], texts[0])
    return NewText(merged.text) if merged.clean else _OVERLAP


def _text(record: DocumentRecord | None) -> str | None:
    return None if record is None else record.content


def _version_of(reader: Reader, path: str, operation: int | None) -> DocumentRecord | None:
    """Return the version of a document that `operation` wrote; None if it is None or deleted the document."""
    if operation is None:
        return None
    for version in reader.record_versions(DocumentRecord, (path,)):
        if version.operation == operation:
            return version.value
    raise NotFound(
        f"the version of {path} of operation {operation} is no longer kept",
        hint="superseded versions are pruned after retention.versionDays",
    )


def _memories_at(
    reader: Reader, texts: Mapping[str, NewText | None], operation: int, *, only: Collection[str] | None = None
) -> dict[str, MemoryRecord]:
    """Return the memories of restored texts as they were after `operation`, so that their authors are restored too.

    `only` limits it to these ids.
    """
    memories = {}
    for new in texts.values():
        for memory_id in new.ids if new is not None and new.ids is not None else ():
            history_of = reader.record_history(MemoryRecord, (memory_id,))
            past = [version for version in history_of if version.operation <= operation]
            if past and past[-1].value is not None and (only is None or memory_id in only):
                memories[memory_id] = past[-1].value
    return memories


# Rollback


@writes(lambda seq, **_: f"rollback to {seq}", answers=wire.RollbackAnswer, projects=True)
def rollback(
    to: Writer, by: By, seq: int, *, path: str | None = None, memory: str | None = None
) -> wire.RollbackAnswer:
    """Restore documents, memories, notes and states to their versions after operation `seq`.

    With `path` or `memory` only that document or memory. Messages, archives, purges and the ledger stay; so does the
    history, and an undo reverts the rollback. The answer has `operation` None if nothing differs. Raises NotFound if
    there is no such operation, or never was such a document or memory, or a version is no longer stored, and
    HeldForPerson where an agent would bring back what a person forgot.
    """
    if path is not None and memory is not None:
        raise ValidationError("say a path or a memory, not both", hint="leave one of them out")
    history.require(to, seq)
    if path is not None:
        documents.versions(to, path)
    records = 0
    if memory is not None:
        paths = _roll_back_memory(to, by, memory, seq)
    else:
        texts = history.texts_at(to, seq, paths=None if path is None else [path])
        source = _as_source(by, "returnsTo", seq)
        paths = put_texts(to, texts, source, records=_memories_at(to, texts, seq))
        records = 0 if path is not None else _roll_back_records(to, seq)
    for changed in paths:
        hold_forgotten(to, to.load(DocumentRecord, (changed,)), who=by.who)
    conflicts.restore(to, seq, paths, whole=path is None and memory is None)
    return wire.RollbackAnswer(operation=_new_operation(to), to=str(seq), documents=paths, records=records)


def _roll_back_memory(writer: Writer, by: By, memory_id: str, operation: int) -> list[str]:
    """Restore one memory to its words after `operation`, in its current document; return the paths that changed.

    A memory that did not exist then is deleted, one that was deleted since comes back where it was. Raises NotFound
    for a memory that never existed.
    """
    versions = writer.record_history(MemoryRecord, (memory_id,))
    if not versions:
        raise NotFound(f"no memory is called {memory_id!r}", hint="reverie memories lists them")
    past = [version.value for version in versions if version.operation <= operation]
    then = past[-1] if past else None
    now = writer.load(MemoryRecord, (memory_id,))
    change: Change
    if then is None:
        if now is None:
            return []
        path, change = now.document, Delete(memory_id)
    elif now is None:
        path, change = then.document, Add(memory_id, wording(then))
    else:
        path, change = now.document, Update(memory_id, wording(then))
        then = then if then.document == path else replace(then, project=now.project)
    return edit_block(writer, by, path, change, records={} if then is None else {memory_id: then})


def _roll_back_records(writer: Writer, seq: int) -> int:
    """Restore notes, working states, digests, candidates and forgotten statements; return how many had changed.

    Those of deleted threads stay deleted: their threads are not restored, so a note would belong to nothing.
    """
    changed = {
        (change.kind, tuple(change.key))
        for _, later in writer.records(OperationRecord, after=(seq,))
        for change in later.changes
        if change.kind in _ROLLED_BACK and not change.purged
    }
    restored = 0
    for kind, key in sorted(changed):
        if kind in _OF_THREADS and writer.load(ThreadRecord, (key[0],)) is None:
            continue
        if kind is Kind.FORGOTTEN and _is_purged_statement(writer, key):
            continue  # no undo of a purge: the same words are not learnt again
        versions = writer.record_history(_ROLLED_BACK[kind], key)
        past = [version for version in versions if version.operation <= seq]
        if past and past[-1].value is not None:
            restored += writer.save(past[-1].value, key)
        else:
            restored += writer.delete(kind, key)
    return restored
