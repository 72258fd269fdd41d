"""Pages of a thread's messages and entries, read by the thread's outline.

A page reads the parts of the outline that it shows and the few entries that came since. A page of ordinary size is
decided where it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from reverie import wire
from reverie.decode import mapped
from reverie.errors import Damaged
from reverie.importers.detect import json_object_of
from reverie.importers.outline import OutlinePart, is_continued, messages_of_part, outline
from reverie.models import Entry, EntryKind, Message
from reverie.store import Kind, OutlineRecord, Reader, ThreadRecord, Write, Writer
from reverie.usecases import threads
from reverie.usecases.by import By, writes
from reverie.usecases.entries import SealedEntry, opened_entry

ENTRIES_BYTES_MAX: Final = 4_000_000  # sealed bytes of a page of entries; a larger one ends before its limit


class PageJob(msgspec.Struct):
    """A snapshot for a page: some parts of an outline with their sealed entries, in order.

    The page has at most `limit` messages and begins behind entry `after`; `more`: there are parts behind these. With
    `last` it begins so many messages before the end of the thread.
    """

    thread: str
    parts: list[tuple[OutlinePart, list[SealedEntry]]]
    after: int
    limit: int
    more: bool
    last: int | None = None

    @property
    def size(self) -> int:
        """The bytes of all sealed entries in this job."""
        return sum(len(data) for _, entries in self.parts for _, data in entries)


def snapshot_page(
    reader: Reader, thread_id: str, *, after: int, limit: int, last: int | None = None, outlined: bool = False
) -> PageJob | None:
    """Return a PageJob, None where the outline must be made or extended first. Raises NotFound.

    `last`: the page begins so many messages before the end. `outlined`: it is of the thread as it was when its outline
    was last extended, if it has one.
    """
    thread = threads.get(reader, thread_id)
    head = last_part(reader, thread)
    last_seq = head.through if outlined and head.through else thread.last_seq
    if last_seq - head.through > PENDING_MAX:
        return None
    if last_seq > head.through:
        # The newest entries may change what is before them, whichever page is asked for.
        newest = sealed_entries(reader, thread_id, head.first, last_seq)
        opened = opened_entries(thread_id, newest)
        if head.through and not is_continued(opened, head.through):
            return None
        if not head.through:
            whole = [
                (part, [row for row in newest if part.first <= row[0] <= part.through]) for part in outline(opened)
            ]
            return PageJob(thread=thread_id, parts=whole, after=after, limit=limit, more=False, last=last)
    if last is not None:
        parts = _last_parts(reader, thread_id, head, last)
    else:
        parts = _parts_behind(reader, thread_id, head, after, limit)
    rows = [(part, sealed_entries(reader, thread_id, part.first, part.through)) for part in parts]
    more = bool(parts) and parts[-1].through + 1 < head.first
    if not more:
        rows.append((part_of(head), sealed_entries(reader, thread_id, head.first, last_seq)))
    return PageJob(thread=thread_id, parts=rows, after=after, limit=limit, more=more, last=last)


def _parts_behind(reader: Reader, thread_id: str, head: OutlineRecord, after: int, limit: int) -> list[OutlinePart]:
    """Return the complete parts for a page: from the one with entry `after` until they have over `limit` messages."""
    parts: list[OutlinePart] = []
    for number in range(number_of_part(reader, thread_id, head, max(after, 1)), head.parts + 1):
        parts.append(complete_part(reader, thread_id, number))
        if sum(part.messages for part in parts[1 if after else 0 :]) > limit:
            break
    return parts


def _last_parts(reader: Reader, thread_id: str, head: OutlineRecord, limit: int) -> list[OutlinePart]:
    """Return the last complete parts of an outline, enough for `limit` messages with its open part."""
    parts: list[OutlinePart] = []
    messages = head.messages
    for number in range(head.parts, 0, -1):
        if messages >= limit:
            break
        parts.append(complete_part(reader, thread_id, number))
        messages += parts[-1].messages
    return parts[::-1]


def page(job: PageJob) -> wire.Page[wire.StoredMessage]:
    """Return one page of a thread's verbatim messages; pure. Raises Damaged, naming the entry.

    Messages come in the order of the conversation, in which a result comes behind its call even if others were written
    between. So a page begins behind the message whose first entry is `after`; where there is none, at the first
    message that begins behind it.
    """
    messages: list[Message] = []
    for part, entries in job.parts:
        messages += messages_of_part(part, opened_entries(job.thread, entries))
    begin = _place_behind(messages, job.after) if job.last is None else max(0, len(messages) - job.last)
    shown = messages[begin : begin + job.limit]
    items = [mapped(message, wire.StoredMessage) for message in shown]
    more = job.more or begin + len(shown) < len(messages)
    return wire.Page(items=items, next=str(items[-1].first_seq) if items and more else None)


def _place_behind(messages: Sequence[Message], after: int) -> int:
    """Return the index after the message whose first entry is `after`, else of the first message after it."""
    for index, message in enumerate(messages):
        if message.first_seq == after:
            return index + 1
    return next((index for index, message in enumerate(messages) if message.first_seq > after), len(messages))


def entries(reader: Reader, thread_id: str, *, after: int, limit: int) -> wire.Page[wire.StoredEntry]:
    """Return the entries after entry `after`, with the lines they were read from. Raises NotFound, and Damaged."""
    thread = threads.get(reader, thread_id)
    last = min(after + limit, thread.last_seq)
    items: list[wire.StoredEntry] = []
    size = 0
    for seq, data in sealed_entries(reader, thread_id, after + 1, last):
        items.append(_stored_entry(opened_entry(thread_id, seq, data)))
        size += len(data)
        if size > ENTRIES_BYTES_MAX:
            break
    more = bool(items) and items[-1].seq < thread.last_seq
    return wire.Page(items=items, next=str(items[-1].seq) if more else None)


def _stored_entry(entry: Entry) -> wire.StoredEntry:
    if entry.kind is EntryKind.BAD:
        problem = entry.extra.get("problem")
        return wire.StoredEntry(entry.seq, entry.kind.value, entry.line, raw=entry.raw, problem=problem)
    return wire.StoredEntry(entry.seq, entry.kind.value, entry.line, value=json_object_of(entry))


# The outline of a thread, by which pages of its messages are read. It is extended in the background after appends, and
# on request where a thread has none yet, has grown by many entries, or was appended a transcript's lines.


PENDING_MAX: Final = 256  # entries behind the outline that a page joins by itself; more are outlined first
STEP_PARTS: Final = 200  # parts written in one commit, which must stay under 20 ms


class OutlineJob(msgspec.Struct):
    """A snapshot for an outline: the entries of its last part and all after it, and how far it was made already.

    `last` is the last part, None where there is no outline, and `base` the number of the parts before it.
    """

    thread: str
    created_at: str
    base: int
    last: OutlinePart | None
    entries: list[SealedEntry]

    @property
    def size(self) -> int:
        """The bytes of all sealed entries in this job."""
        return sum(len(data) for _, data in self.entries)


class OutlinePlan(msgspec.Struct):
    """New parts of a thread's stored outline, after part `base`; None for `parts` if all entries must be read.

    `last` is the last part of the outline that they continue, None where they are a whole one.
    """

    thread: str
    created_at: str
    base: int
    parts: list[OutlinePart] | None
    last: OutlinePart | None = None


def pending(reader: Reader, thread_id: str) -> int:
    """Return the number of entries that the outline of a thread does not cover. Raises NotFound."""
    thread = threads.get(reader, thread_id)
    return thread.last_seq - last_part(reader, thread).through


def snapshot_outline(reader: Reader, thread_id: str, *, whole: bool = False) -> OutlineJob:
    """Return an OutlineJob: the entries after a thread's outline, or with `whole` all entries. Raises NotFound."""
    thread = threads.get(reader, thread_id)
    head = _empty(thread) if whole else last_part(reader, thread)
    return OutlineJob(
        thread=thread_id,
        created_at=thread.created_at,
        base=head.parts,
        last=part_of(head) if head.through else None,
        entries=sealed_entries(reader, thread_id, head.first, thread.last_seq),
    )


def plan_outline(job: OutlineJob) -> OutlinePlan:
    """Return the outline of a thread, or that all its entries must be read for it; pure. Raises Damaged."""
    entries = opened_entries(job.thread, job.entries)
    usable = job.last is None or is_continued(entries, job.last.through)
    return OutlinePlan(
        thread=job.thread,
        created_at=job.created_at,
        base=job.base,
        parts=outline(entries, job.last) if usable else None,
        last=job.last,
    )


def commit_steps(plan: OutlinePlan, space: str) -> list[Write[bool]]:
    """Return the writes that store an outline, to be committed in their order: the last one makes it valid.

    Callers that write the outline of one thread do so one after the other. A step whose thread is gone, or the outline
    that the plan was made from, writes nothing and returns False: the plan is stale.
    """
    if not plan.parts:
        return []
    *complete, last = (_record(part) for part in plan.parts)
    numbered = list(enumerate(complete, plan.base + 1))
    head = msgspec.structs.replace(last, parts=plan.base + len(complete), created_at=plan.created_at)
    steps = [numbered[start : start + STEP_PARTS] for start in range(0, len(numbered), STEP_PARTS)]
    return [_step.write(By(space, ""), plan, records) for records in (*steps, [(0, head)])]


@writes("", bulk=True)
def _step(to: Writer, _: By, plan: OutlinePlan, records: list[tuple[int, OutlineRecord]]) -> bool:
    thread = to.load(ThreadRecord, (plan.thread,))
    if thread is None or thread.created_at != plan.created_at:
        return False
    number, record = records[0]
    before = (number or record.parts + 1) - 1  # the part that is there, unless the outline was removed meanwhile
    if before == plan.base and plan.last is not None:
        head = last_part(to, thread)
        if head.parts != plan.base or part_of(head) != plan.last:
            return False
    elif before and not to.exists(Kind.OUTLINE, (plan.thread, before)):
        return False
    for number, record in records:
        if number == 1:
            # All parts are written again: until the last step, the thread has no outline rather than a mixed one.
            to.delete(Kind.OUTLINE, (plan.thread, 0))
        to.save(record, (plan.thread, number))
    return True


def last_part(reader: Reader, thread: ThreadRecord) -> OutlineRecord:
    """Return the last part of a thread's outline; without an outline an empty one, which covers no entry yet.

    An outline without its first part is none: an earlier release could continue one that was being removed.
    """
    head = reader.load(OutlineRecord, (thread.id, 0))
    if head is None or head.created_at != thread.created_at:
        return _empty(thread)
    if head.parts and not reader.exists(Kind.OUTLINE, (thread.id, 1)):
        return _empty(thread)
    return head


def _empty(thread: ThreadRecord) -> OutlineRecord:
    return OutlineRecord(first=1, through=0, messages=0, created_at=thread.created_at)


def complete_part(reader: Reader, thread_id: str, number: int) -> OutlinePart:
    """Return a complete part of an outline. Raises Damaged where it is missing."""
    record = reader.load(OutlineRecord, (thread_id, number))
    if record is None:
        raise Damaged(f"part {number} of the outline of thread {thread_id} is missing", hint="run `reverie check`")
    return part_of(record)


def number_of_part(reader: Reader, thread_id: str, head: OutlineRecord, seq: int) -> int:
    """Return the number of the first complete part that ends at or behind an entry; one more than all where none does.

    The last part, `head`, which has no number, is behind them all.
    """
    low, high = 1, head.parts + 1
    while low < high:
        middle = (low + high) // 2
        if complete_part(reader, thread_id, middle).through < seq:
            low = middle + 1
        else:
            high = middle
    return low


def is_repeat(reader: Reader, thread: ThreadRecord, seq: int, entry_id: str) -> bool:
    """Return True for an entry that a thread's file has twice, and that its messages have once.

    Behind the outline so many entries before it are looked at as are left to that.
    """
    head = last_part(reader, thread)
    if seq <= head.through:
        number = number_of_part(reader, thread.id, head, seq)
        return seq in (part_of(head) if number > head.parts else complete_part(reader, thread.id, number)).repeats
    before = range(max(head.through, seq - 1 - PENDING_MAX) + 1, seq)
    stored = reader.get_many(Kind.ENTRY, [(thread.id, number) for number in before])
    return any(entry is not None and entry.get("id") == entry_id for entry in stored)


def part_of(record: OutlineRecord) -> OutlinePart:
    """Return the part of an outline that a record stores."""
    return OutlinePart(record.first, record.through, record.messages, tuple(record.rewound), tuple(record.repeats))


def _record(part: OutlinePart) -> OutlineRecord:
    return OutlineRecord(
        first=part.first,
        through=part.through,
        messages=part.messages,
        rewound=list(part.rewound),
        repeats=list(part.repeats),
    )


def sealed_entries(reader: Reader, thread_id: str, first: int, last: int) -> list[SealedEntry]:
    """Return the sealed entries `first..last` of a thread."""
    return list(reader.sealed_sequence(Kind.ENTRY, (thread_id,), after=first - 1, through=last))


def opened_entries(thread_id: str, rows: Sequence[SealedEntry]) -> list[Entry]:
    """Return the entries of sealed rows. Raises Damaged, naming the entry."""
    return [opened_entry(thread_id, seq, data) for seq, data in rows]
