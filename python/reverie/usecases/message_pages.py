"""Pages of a thread's messages, read by its outline, and the outline kept up with the thread.

A page reads the parts of the outline that it shows and the few entries that came since. An outline is extended in the
background after appends, and on request where a thread has none yet, has grown by many entries, or was appended a
transcript's lines. Deciding it happens in the compute process; a page of ordinary size is decided where it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from reverie import wire
from reverie.errors import Damaged
from reverie.importers.formats import json_object_of
from reverie.importers.outline import OutlinePart, is_continued, messages_of_part, outline
from reverie.models import EntryKind
from reverie.store import Kind, OutlineRecord, ThreadRecord, Write
from reverie.usecases import threads
from reverie.usecases.stored_entries import SealedEntry, opened_entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Entry, Message
    from reverie.store import Reader, Writer

__all__ = [
    "PENDING_MAX",
    "OutlineJob",
    "OutlinePlan",
    "PageJob",
    "commit_steps",
    "entries",
    "page",
    "pending",
    "plan_outline",
    "snapshot_outline",
    "snapshot_page",
]

PENDING_MAX: Final = 256  # entries behind the outline that a page joins by itself; more are outlined first
ENTRIES_BYTES_MAX: Final = 4_000_000  # sealed bytes of a page of entries; a larger one ends before its limit
STEP_PARTS: Final = 200  # parts written in one commit, which must stay under 20 ms


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
        """Bytes of all entries."""
        return sum(len(data) for _, entries in self.parts for _, data in entries)


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
        """Bytes of all entries."""
        return sum(len(data) for _, data in self.entries)


class OutlinePlan(msgspec.Struct):
    """The outline of a thread from its part `base` + 1 on; None for the parts where all entries must be read."""

    thread: str
    created_at: str
    base: int
    parts: list[OutlinePart] | None


def pending(reader: Reader, thread_id: str) -> int:
    """Return the number of entries that the outline of a thread does not cover. Raises NotFound."""
    thread = threads.get(reader, thread_id)
    return thread.last_seq - _head(reader, thread).through


def snapshot_page(
    reader: Reader, thread_id: str, *, after: int, limit: int, last: int | None = None, outlined: bool = False
) -> PageJob | None:
    """Read what a page is made from; None where the outline must be made or extended first. Raises NotFound.

    `last`: the page begins so many messages before the end. `outlined`: it is of the thread as it was when its outline
    was last extended.
    """
    thread = threads.get(reader, thread_id)
    head = _head(reader, thread)
    last_seq = head.through if outlined else thread.last_seq
    if last_seq - head.through > PENDING_MAX:
        return None
    if last_seq > head.through:
        # The newest entries may change what is before them, whichever page is asked for.
        newest = _entries(reader, thread_id, head.first, last_seq)
        opened = _opened(thread_id, newest)
        if head.through and not is_continued(opened, head.through):
            return None
        if not head.through:
            return msgspec.structs.replace(_whole(thread, newest, opened, after, limit), last=last)
    if last is not None:
        parts = _last_parts(reader, thread_id, head, last)
    else:
        parts = _parts_behind(reader, thread_id, head, after, limit)
    rows = [(part, _entries(reader, thread_id, part.first, part.through)) for part in parts]
    more = bool(parts) and parts[-1].through + 1 < head.first
    if not more:
        rows.append((_part_of(head), _entries(reader, thread_id, head.first, last_seq)))
    return PageJob(thread=thread_id, parts=rows, after=after, limit=limit, more=more, last=last)


def _whole(thread: ThreadRecord, rows: list[SealedEntry], entries: Sequence[Entry], after: int, limit: int) -> PageJob:
    """Return the snapshot of a page of a short thread that has no outline yet."""
    parts = [(part, [row for row in rows if part.first <= row[0] <= part.through]) for part in outline(entries)]
    return PageJob(thread=thread.id, parts=parts, after=after, limit=limit, more=False)


def _parts_behind(reader: Reader, thread_id: str, head: OutlineRecord, after: int, limit: int) -> list[OutlinePart]:
    """Return the complete parts that a page shows: the one of entry `after`, and those with `limit` + 1 messages."""
    low, high = 1, head.parts + 1
    while low < high:  # the first part that ends behind `after`; the last one, which has no number, is behind them all
        middle = (low + high) // 2
        if _part(reader, thread_id, middle).through < max(after, 1):
            low = middle + 1
        else:
            high = middle
    parts: list[OutlinePart] = []
    for number in range(low, head.parts + 1):
        parts.append(_part(reader, thread_id, number))
        if sum(part.messages for part in parts[1 if after else 0 :]) > limit:
            break
    return parts


def _last_parts(reader: Reader, thread_id: str, head: OutlineRecord, limit: int) -> list[OutlinePart]:
    """Return the complete parts at the end of an outline that have, with the last one, `limit` messages."""
    parts: list[OutlinePart] = []
    messages = head.messages
    for number in range(head.parts, 0, -1):
        if messages >= limit:
            break
        parts.append(_part(reader, thread_id, number))
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
        messages += messages_of_part(part, _opened(job.thread, entries))
    begin = _place_behind(messages, job.after) if job.last is None else max(0, len(messages) - job.last)
    shown = messages[begin : begin + job.limit]
    items = [_stored(message) for message in shown]
    more = job.more or begin + len(shown) < len(messages)
    return wire.Page(items=items, next=str(items[-1].first_seq) if items and more else None)


def _place_behind(messages: Sequence[Message], after: int) -> int:
    """Return the place behind the message whose first entry is `after`, or of the first that begins behind it."""
    for place, message in enumerate(messages):
        if message.first_seq == after:
            return place + 1
    return next((place for place, message in enumerate(messages) if message.first_seq > after), len(messages))


def _stored(message: Message) -> wire.StoredMessage:
    """Return a message as the wire has it."""
    return wire.StoredMessage(
        role=message.role,
        content=message.content,
        first_seq=message.first_seq,
        last_seq=message.last_seq,
        at=message.at,
        tokens=message.tokens,
        rewound=message.rewound,
    )


def entries(reader: Reader, thread_id: str, *, after: int, limit: int) -> wire.Page[wire.StoredEntry]:
    """Return the entries behind `after` with the lines that they were read from. Raises NotFound, and Damaged."""
    thread = threads.get(reader, thread_id)
    last = min(after + limit, thread.last_seq)
    items: list[wire.StoredEntry] = []
    size = 0
    for seq, data in _entries(reader, thread_id, after + 1, last):
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


def snapshot_outline(reader: Reader, thread_id: str, *, whole: bool = False) -> OutlineJob:
    """Return the entries behind a thread's stored outline, or all with `whole`. Raises NotFound."""
    thread = threads.get(reader, thread_id)
    head = _empty(thread) if whole else _head(reader, thread)
    return OutlineJob(
        thread=thread_id,
        created_at=thread.created_at,
        base=head.parts,
        last=_part_of(head) if head.through else None,
        entries=_entries(reader, thread_id, head.first, thread.last_seq),
    )


def plan_outline(job: OutlineJob) -> OutlinePlan:
    """Return the outline of a thread, or that all its entries must be read for it; pure. Raises Damaged."""
    entries = _opened(job.thread, job.entries)
    usable = job.last is None or is_continued(entries, job.last.through)
    return OutlinePlan(
        thread=job.thread,
        created_at=job.created_at,
        base=job.base,
        parts=outline(entries, job.last) if usable else None,
    )


def commit_steps(plan: OutlinePlan, *, space: str) -> list[Write[None]]:
    """Return the writes that store an outline, to be committed in their order: the last one makes it valid.

    Callers that write the outline of one thread do so one after the other. A step whose thread is gone writes nothing.
    """
    if not plan.parts:
        return []
    *complete, last = (_record(part) for part in plan.parts)
    numbered = list(enumerate(complete, plan.base + 1))
    head = msgspec.structs.replace(last, parts=plan.base + len(complete), created_at=plan.created_at)
    steps = [numbered[start : start + STEP_PARTS] for start in range(0, len(numbered), STEP_PARTS)]
    return [_step(plan, space, records) for records in (*steps, [(0, head)])]


def _step(plan: OutlinePlan, space: str, records: list[tuple[int, OutlineRecord]]) -> Write[None]:
    def body(writer: Writer) -> None:
        thread = writer.load(ThreadRecord, (plan.thread,))
        if thread is None or thread.created_at != plan.created_at:
            return
        for number, record in records:
            if number == 1:
                # All parts are written again: until the last step, the thread has no outline rather than a mixed one.
                writer.delete(Kind.OUTLINE, (plan.thread, 0))
            writer.save(record, (plan.thread, number))

    return Write(space=space, who="", why="", body=body)


def _head(reader: Reader, thread: ThreadRecord) -> OutlineRecord:
    """Return the last part of a thread's outline, an empty one before its first entry where there is no outline."""
    head = reader.load(OutlineRecord, (thread.id, 0))
    return _empty(thread) if head is None or head.created_at != thread.created_at else head


def _empty(thread: ThreadRecord) -> OutlineRecord:
    return OutlineRecord(first=1, through=0, messages=0, created_at=thread.created_at)


def _part(reader: Reader, thread_id: str, number: int) -> OutlinePart:
    """Return a complete part of an outline. Raises Damaged where it is missing."""
    record = reader.load(OutlineRecord, (thread_id, number))
    if record is None:
        raise Damaged(f"part {number} of the outline of thread {thread_id} is missing", hint="run `reverie check`")
    return _part_of(record)


def _part_of(record: OutlineRecord) -> OutlinePart:
    return OutlinePart(record.first, record.through, record.messages, tuple(record.rewound), tuple(record.repeats))


def _record(part: OutlinePart) -> OutlineRecord:
    return OutlineRecord(
        first=part.first,
        through=part.through,
        messages=part.messages,
        rewound=list(part.rewound),
        repeats=list(part.repeats),
    )


def _entries(reader: Reader, thread_id: str, first: int, last: int) -> list[SealedEntry]:
    """Return the sealed entries `first..last` of a thread."""
    return list(reader.sealed_sequence(Kind.ENTRY, (thread_id,), after=first - 1, through=last))


def _opened(thread_id: str, rows: Sequence[SealedEntry]) -> list[Entry]:
    return [opened_entry(thread_id, seq, data) for seq, data in rows]
