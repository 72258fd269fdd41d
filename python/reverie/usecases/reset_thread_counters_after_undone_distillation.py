"""The counters of a thread after a distillation of it was undone, or an undo of it undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from reverie.models import EntryKind
from reverie.store import DistillationRecord, EntryRecord, ThreadRecord

if TYPE_CHECKING:
    from reverie.store import ChangeRecord, Writer


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
