"""Threads: create, change, list, append messages, add and delete notes, delete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any

import msgspec
from msgspec.structs import replace

from reverie import wire
from reverie.context.units import has_open_call, is_turn_finished
from reverie.decode import mapped
from reverie.errors import Conflict, NotFound, ValidationError
from reverie.importers.entry import message_tokens, rfc3339_utc
from reverie.importers.join import main_line
from reverie.importers.rewinds import is_mark, marked_ranges, rewind_mark, undo_mark
from reverie.models import Entry, EntryKind, Json, Message, NoteCategory
from reverie.redact import Redactor
from reverie.store import (
    FactorRecord,
    Kind,
    NoteRecord,
    OperationRecord,
    PendingPurge,
    PurgesCursor,
    Reader,
    Sealed,
    ThreadRecord,
    Writer,
    seal,
)
from reverie.text_types import Text
from reverie.tokenizer import TOKENIZER
from reverie.usecases import consolidation, imported, inherited_notes, projects, redactions
from reverie.usecases import usage as use_usage
from reverie.usecases.by import By, Place, writes
from reverie.usecases.entries import entry_record, opened_entry, sealed_after
from reverie.usecases.inherited_notes import Seed

PURGE_BATCH = 500  # records deleted in one write; more would delay the agents' writes that wait behind it
TURN_ENTRIES = 32  # one reply of a transcript is one entry for each of its calls, and one for each result


class Deletion(msgspec.Struct):
    """The progress of deleting a thread; `messages` is the number of its messages."""

    id: str
    messages: int
    done: bool


def get(reader: Reader, thread_id: str) -> ThreadRecord:
    """Return the record of a thread by its id.

    Raises:
        NotFound: no thread of that id in this space.
    """
    thread = reader.load(ThreadRecord, (thread_id,))
    if thread is None:
        raise NotFound(f"no thread is called {thread_id!r}", hint="reverie threads lists them")
    return thread


def newest_page(
    reader: Reader, *, window: int, limit: int, after: str | None, project: str | None = None, main: bool = False
) -> wire.Page[wire.Thread]:
    """Return a page of the threads, those first that were appended to or distilled last; of one project where given.

    The cursor is the time and id of the page's last thread. A thread that grows meanwhile moves before it.
    """
    listed = _listed(reader, project, main=main)
    stored = sorted((f"{thread.updated_at}/{thread.id}", thread) for thread in listed)
    rest = [(cursor, thread) for cursor, thread in reversed(stored) if after is None or cursor < after]
    items = [thread_answer(thread, window) for _, thread in rest[:limit]]
    return wire.Page(items, rest[limit - 1][0] if len(rest) > limit else None)


def page(
    reader: Reader, *, window: int, limit: int, after: str | None, project: str | None = None, main: bool = False
) -> wire.Page[wire.Thread]:
    """Return a page of the threads by id, of one project where given; the cursor is the id of the last one."""
    threads = islice(_listed(reader, project, after, main=main), limit + 1)
    items = [thread_answer(thread, window) for thread in threads]
    return wire.Page(items[:limit], items[limit - 1].id if len(items) > limit else None)


def _listed(reader: Reader, project: str | None, after: str | None = None, *, main: bool) -> Iterator[ThreadRecord]:
    """Yield the threads of a project, or without one all threads, by id, those after the id `after`.

    With `main` those with messages, without those of subagents: one session may have a hundred.
    """
    for _, thread in reader.records(ThreadRecord, after=None if after is None else (after,)):
        if main and (thread.subagent or not thread.message_count):
            continue
        if project is None or projects.of_thread(thread) == project:
            yield thread


def thread_answer(thread: ThreadRecord, window: int) -> wire.Thread:
    """Return a thread as the API answers it; `window` (tokens) is for a thread that names none."""
    return mapped(
        thread,
        wire.Thread,
        context=use_usage.context_use(thread, window),
        cleared=None if thread.cleared is None else mapped(thread.cleared, wire.Cleared),
        project=projects.of_thread(thread),
        tokenizer=TOKENIZER,
    )


def _place(_: Any, /, thread_id: str, **__: Any) -> Place:
    return "thread", thread_id


@writes("thread.create", answers=ThreadRecord, found=lambda thread, /, **_: ("thread", thread.id))
def create(to: Writer, _: By, thread: ThreadRecord, seed: Seed | None = None) -> ThreadRecord:
    """Create a thread with its seed, and return the record as stored. Raises Conflict where the id is taken."""
    inherited = seed or Seed()
    if to.exists(Kind.THREAD, (thread.id,)):
        raise Conflict(f"a thread is already called {thread.id!r}", hint="leave `id` out, or append to that thread")
    check_gone(to, thread.id)
    to.save(replace(thread, carried=[note.id for note in inherited.notes]), (thread.id,))
    inherited_notes.put(to, thread.id, inherited)
    return get(to, thread.id)


def entries_of(
    messages: Sequence[tuple[str, Json]],
    usage: dict[str, Any] | None,
    at: str,
    said_at: Sequence[str | None] = (),
) -> list[Entry]:
    """Return messages (role, Anthropic content) as entries with their tokens counted; `usage` is the last reply's.

    `said_at` has the own time of each message, None where it has none: those get the time `at`.

    Raises:
        ValidationError: a message without content, or a time that is none.
    """
    entries = []
    for position, ((role, content), own) in enumerate(zip_longest(messages, said_at[: len(messages)])):
        if content in ("", []):
            raise ValidationError(
                f"messages[{position}] is empty", hint="leave it out", field=f"messages[{position}].content"
            )
        entries.append(
            Entry(
                kind=EntryKind.SPEECH,
                role="assistant" if role == "assistant" else "user",
                content=content,
                at=at if own is None else _time_of(own, position),
                tokens=message_tokens(content),
                usage=usage if position == len(messages) - 1 else None,
            )
        )
    return entries


def _time_of(given: str, position: int) -> str:
    """Return the own time of a message in UTC with milliseconds. Raises ValidationError."""
    own = rfc3339_utc(given)
    if own is None:
        raise ValidationError(
            f"messages[{position}].at is not a time",
            hint="write it as 2026-11-21T09:30:00Z, or leave it out",
            field=f"messages[{position}].at",
        )
    return own


@writes("thread.change", found=_place)
def change(to: Writer, _: By, thread_id: str, fields: Mapping[str, Text | int | None]) -> ThreadRecord:
    """Set fields of a thread's record, and return it as stored. Raises NotFound."""
    to.save(replace(get(to, thread_id), **fields), (thread_id,))
    return get(to, thread_id)


@writes("messages.append", answers=wire.Appended)
def append(
    to: Writer,
    _: By,
    thread_id: str,
    entries: Sequence[Entry],
    sealed: Sequence[Sealed],
    *,
    window: int,
    edits: Sequence[dict[str, Any]] = (),
    expected_seq: int | None = None,
) -> wire.Appended:
    """Append `entries`, sealed as `sealed`, to a thread.

    `window` (tokens) is the model's where the thread names none; `edits` are the `applied_edits` of the appended reply.
    Raises NotFound for an unknown thread, and Conflict where `expected_seq` is given and another writer appended first.
    """
    thread = get(to, thread_id)
    _check_seq(thread, expected_seq, "append")
    first, last = to.append_many(Kind.ENTRY, (thread_id,), sealed)
    redactions.note(
        to,
        [
            redactions.Found(one, ("thread", thread_id, seq))
            for seq, item in enumerate(sealed, first)
            for one in item.taken
        ],
    )
    if thread.model and not thread.factor:
        thread = replace(thread, factor=to.load(FactorRecord, FactorRecord.key(thread.model)))
    after = after_append(thread, entries, last, to.at, edits)
    to.save(after, (thread_id,))
    # The model's factor is also stored for its next threads, which begin with it.
    if thread.model and after.factor is not None and after.factor != thread.factor:
        to.save(after.factor, FactorRecord.key(thread.model))
    to.event("thread.appended", {"threadId": thread_id, "lastSeq": last})
    return wire.Appended(first_seq=first, last_seq=last, context=use_usage.context_use(after, window))


def after_append(
    thread: ThreadRecord, entries: Sequence[Entry], last_seq: int, at: str, edits: Sequence[dict[str, Any]] = ()
) -> ThreadRecord:
    """Return a thread's record after `entries` were appended, the last of them as `last_seq`."""
    speech = [entry for entry in entries if entry.kind is EntryKind.SPEECH]
    added = sum(entry.tokens for entry in speech)
    usage = next((entry.usage for entry in reversed(speech) if entry.usage), None)
    return replace(
        use_usage.after_append(thread, thread.live_tokens + added, usage, edits),
        updated_at=at,
        last_seq=last_seq,
        message_count=thread.message_count + len(speech),
        tokens=thread.tokens + added,
    )


def is_turn_open(reader: Reader, thread_id: str) -> bool:
    """Return whether the thread's last turn is incomplete: a user waits for a reply, or a tool call for its result."""
    return not is_turn_finished(_newest_messages(reader, thread_id))


def waits_for_result(reader: Reader, thread_id: str) -> bool:
    """Return whether the last that was said in a thread is a tool call without its result."""
    return has_open_call(_newest_messages(reader, thread_id, verbatim=True))


def _newest_messages(reader: Reader, thread_id: str, *, verbatim: bool = False) -> list[Message]:
    newest = list(islice(reader.scan_sealed(Kind.ENTRY, (thread_id,), reverse=True), TURN_ENTRIES))
    entries = (opened_entry(thread_id, int(key[-1]), data) for key, data in reversed(newest))
    return main_line(entries, verbatim=verbatim)


def deleting(reader: Reader) -> list[str]:
    """Return the threads whose deletion is under way: no reader has them, and records of them are left."""
    return [one.key for one in _purges(reader).pending if one.kind == "deletion"]


def check_gone(reader: Reader, thread_id: str) -> None:
    """Raise Conflict while records of a deleted thread are left: a new one of that id would have them."""
    if thread_id in deleting(reader):
        raise Conflict(f"the thread {thread_id!r} is being deleted", hint="try again in a moment")


@writes("thread.delete")
def delete(to: Writer, by: By, thread_id: str) -> Deletion:
    """Delete a thread: from here on no reader has it. Its records go by this step and by `delete_rest` until `done`.

    An imported thread is marked as forgotten, so that its file does not bring it back.
    The archives of its distillations go too. Memories learnt from the thread stay: they have a history of their own.
    What repeats the words elsewhere, and the bytes in the store's free pages, stay until a purge (`purge.py`).
    Raises NotFound.
    """
    if thread_id not in deleting(to):
        thread = get(to, thread_id)
        imported.leave_mark(to, thread_id)
        consolidation.remove_thread_archives(to, thread_id)
        to.purge(Kind.THREAD, (thread_id,), 1)
        purges, begun = _purges(to), PendingPurge("deletion", thread_id, messages=thread.message_count)
        to.save(replace(purges, pending=[*purges.pending, begun]), PurgesCursor.KEY)
    return delete_rest(to, by, thread_id)


@writes("thread.delete")
def delete_rest(to: Writer, _: By, thread_id: str) -> Deletion:
    """Remove at most PURGE_BATCH records of a thread whose deletion is under way; nothing of any other.

    A deletion that a crash interrupts goes on with this. The last step forgets that it was under way.
    """
    purges = _purges(to)
    begun = next((one for one in purges.pending if (one.kind, one.key) == ("deletion", thread_id)), None)
    if begun is None:
        return Deletion(id=thread_id, messages=0, done=True)
    is_done = to.purge_thread(thread_id, PURGE_BATCH) < PURGE_BATCH
    if is_done:
        left = [one for one in purges.pending if one != begun]
        to.save(replace(purges, pending=left), PurgesCursor.KEY)
    return Deletion(id=thread_id, messages=begun.messages, done=is_done)


def _purges(reader: Reader) -> PurgesCursor:
    return reader.load(PurgesCursor, PurgesCursor.KEY) or PurgesCursor()


@writes("note.add", answers=wire.Note, found=_place)
def add_note(to: Writer, by: By, thread_id: str, content: Text, category: NoteCategory) -> wire.Note:
    """Store a note, and return it as stored (redacted). Raises NotFound."""
    get(to, thread_id)
    note_id = by.new_id("note")
    to.save(NoteRecord(id=note_id, content=content, category=category, at=to.at), (thread_id, note_id))
    stored = to.load(NoteRecord, (thread_id, note_id))
    assert stored is not None
    return note_answer(stored)


def note_answer(note: NoteRecord) -> wire.Note:
    """Return a stored note as the API answers it."""
    return mapped(note, wire.Note, thread=note.thread or wire.ABSENT)


@writes("note.delete")
def delete_note(to: Writer, _: By, thread_id: str, note_id: str) -> None:
    """Delete a note. Raises NotFound."""
    if not to.delete(Kind.NOTE, (thread_id, note_id)):
        raise NotFound(f"thread {thread_id!r} has no note {note_id!r}", hint=f"reverie note {thread_id} lists them")


# Rewind: later entries leave the main line, and none is deleted. They become a branch, as in a transcript whose client
# went back. What says so is an entry of its own, a mark, so that every reader of the thread sees the same; undo appends
# a mark that takes the first one back.


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
    thread = get(writer, thread_id)
    _check_seq(thread, expected_seq, "rewind")
    _check_rewind(thread, to)
    before = _main_line_entries(writer, thread)
    mark = _append(writer, thread, rewind_mark(to), redactor)
    left = [entry for entry in before if entry.seq > to]
    after = _save(writer, thread, mark, added=-sum(entry.tokens for entry in left))
    return wire.Rewound(
        to_seq=to,
        last_seq=mark,
        messages=len(left),
        operation=str(writer.number),
        context=use_usage.context_use(after, window),
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
    later = (opened_entry(thread.id, *row) for row in sealed_after(writer, thread.id, run.first))
    if any(is_mark(entry) and entry.extra.get("undoes") == run.first for entry in later):
        return True  # it was undone before
    mark = _append(writer, thread, undo_mark(run.first), redactor)
    after = _main_line_entries(writer, replace(thread, last_seq=mark))
    tokens = sum(entry.tokens for entry in after) - sum(entry.tokens for entry in before)
    _save(writer, thread, mark, added=tokens)
    return True


def _check_seq(thread: ThreadRecord, expected_seq: int | None, again: str) -> None:
    if expected_seq is not None and thread.last_seq != expected_seq:
        raise Conflict(
            f"the last entry of the thread is {thread.last_seq}, not {expected_seq}",
            hint=f"read the newer messages, then {again} again with the new expectedSeq",
            currentVersion=thread.last_seq,
        )


def _check_rewind(thread: ThreadRecord, to: int) -> None:
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


def _append(writer: Writer, thread: ThreadRecord, mark: Entry, redactor: Redactor) -> int:
    _, seq = writer.append_many(Kind.ENTRY, (thread.id,), [seal(entry_record(mark), redactor)])
    writer.event("thread.appended", {"threadId": thread.id, "lastSeq": seq})
    return seq


def _save(writer: Writer, thread: ThreadRecord, last_seq: int, *, added: int) -> ThreadRecord:
    """Save and return the thread's record with its last entry, `added` context tokens, and no usage of the API."""
    live = max(0, thread.live_tokens + added)
    after = replace(thread, last_seq=last_seq, live_tokens=live, usage=None, updated_at=writer.at)
    writer.save(after, (thread.id,))
    return after
