"""Rewind a thread to an earlier entry: later entries leave the main line, and none is deleted.

The later entries become a branch, as in a transcript whose client went back. What says so is an entry of its own, a
mark, so that every reader of the thread sees the same; undo appends a mark that takes the first one back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from reverie import wire
from reverie.errors import Conflict, ValidationError
from reverie.importers.rewinds import is_mark, marked_ranges, rewind_mark, undo_mark
from reverie.models import EntryKind
from reverie.store import Kind, ThreadRecord, seal
from reverie.usecases import threads
from reverie.usecases import window as use_window
from reverie.usecases.by import By, writes
from reverie.usecases.entries import entry_record, opened_entry, sealed_after

if TYPE_CHECKING:
    from reverie.models import Entry
    from reverie.redact import Redactor
    from reverie.store import OperationRecord, Reader, Writer


@writes("thread.rewind", answers=wire.Rewound)
def rewind(
    writer: Writer,
    _: By,
    thread_id: str,
    to: int,
    *,
    redactor: Redactor,
    window: int,
    expected_seq: int | None = None,
) -> wire.Rewound:
    """Take a thread back to entry `to` (0: its beginning); `window` as in `threads.append`.

    Raises NotFound for an unknown thread, ValidationError for an entry that it does not have, and Conflict where
    another writer appended first, or where a distillation covers later entries.
    """
    thread = threads.get(writer, thread_id)
    _check(thread, to, expected_seq)
    before = _main_line_entries(writer, thread)
    mark = _append(writer, thread, rewind_mark(to), redactor)
    left = [entry for entry in before if entry.seq > to]
    after = _save(writer, thread, mark, added=-sum(entry.tokens for entry in left))
    return wire.Rewound(
        to_seq=to,
        last_seq=mark,
        messages=len(left),
        operation=str(writer.number),
        context=use_window.context_use(after, window),
    )


def undo_rewind(writer: Writer, operation: OperationRecord, redactor: Redactor) -> bool:
    """Take back the rewind mark that `operation` appended; return False where it appended none.

    What came since the rewind stays in the thread, behind what comes back.

    Raises:
        Conflict: a distillation was made of the thread since, without what was rewound.
    """
    run = next((change for change in operation.changes if change.kind is Kind.ENTRY and change.first is not None), None)
    if run is None or run.first != run.last or run.first is None:
        return False
    thread = writer.load(ThreadRecord, (str(run.key[0]),))
    if thread is None:
        return False
    rows = list(writer.sealed_sequence(Kind.ENTRY, (thread.id,), after=run.first - 1, through=run.first))
    if not rows or not is_mark(opened_entry(thread.id, *rows[0])):
        return False
    if thread.through_seq >= run.first:
        raise Conflict(
            f"operation {operation.seq} cannot be undone: the thread was distilled since",
            hint="undo the distillation first; reverie log names it",
        )
    before = _main_line_entries(writer, thread)
    if any(_undoes(opened_entry(thread.id, *row)) == run.first for row in sealed_after(writer, thread.id, run.first)):
        return True  # it was undone before
    mark = _append(writer, thread, undo_mark(run.first), redactor)
    after = _main_line_entries(writer, replace(thread, last_seq=mark))
    tokens = sum(entry.tokens for entry in after) - sum(entry.tokens for entry in before)
    _save(writer, thread, mark, added=tokens)
    return True


def _check(thread: ThreadRecord, to: int, expected_seq: int | None) -> None:
    if expected_seq is not None and thread.last_seq != expected_seq:
        raise Conflict(
            f"the last entry of the thread is {thread.last_seq}, not {expected_seq}",
            hint="read the newer messages, then rewind again with the new expectedSeq",
            currentVersion=thread.last_seq,
        )
    if to >= thread.last_seq:
        raise ValidationError(
            f"the thread's last entry is {thread.last_seq}: there is nothing behind {to}",
            hint="give the entry to go back to: `lastSeq` of the last message that stays",
            field="toSeq",
            reason="out_of_range",
        )
    if to < thread.through_seq:
        raise Conflict(
            f"the thread was distilled through entry {thread.through_seq}, and its summary tells what came after {to}",
            hint="undo the distillation first (reverie log names it), or go back to a later entry",
            throughSeq=thread.through_seq,
        )


def _main_line_entries(reader: Reader, thread: ThreadRecord) -> list[Entry]:
    """Return the spoken entries since the last distillation that no rewind mark takes off the main line."""
    entries = [opened_entry(thread.id, *row) for row in sealed_after(reader, thread.id, thread.through_seq)]
    ranges = marked_ranges(entries)
    return [
        entry
        for entry in entries
        if entry.kind is EntryKind.SPEECH and not any(first <= entry.seq <= last for first, last in ranges)
    ]


def _undoes(entry: Entry) -> int | None:
    return entry.extra.get("undoes") if is_mark(entry) else None


def _append(writer: Writer, thread: ThreadRecord, mark: Entry, redactor: Redactor) -> int:
    """Append a rewind mark; return its sequence number."""
    _, seq = writer.append_many(Kind.ENTRY, (thread.id,), [seal(entry_record(mark), redactor)])
    writer.event("thread.appended", {"threadId": thread.id, "lastSeq": seq})
    return seq


def _save(writer: Writer, thread: ThreadRecord, last_seq: int, *, added: int) -> ThreadRecord:
    """Save and return the thread's record with its last entry, `added` context tokens, and no usage of the API."""
    live = max(0, thread.live_tokens + added)
    after = replace(thread, last_seq=last_seq, live_tokens=live, usage=None, updated_at=writer.at)
    writer.save(after, (thread.id,))
    return after
