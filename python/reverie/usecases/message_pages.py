"""Pages of a thread's messages and entries, read by the thread's outline.

A page reads the parts of the outline that it shows and the few entries that came since. A page of ordinary size is
decided where it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from reverie import wire
from reverie.decode import mapped
from reverie.importers.detect import json_object_of
from reverie.importers.outline import OutlinePart, is_continued, messages_of_part, outline
from reverie.models import EntryKind
from reverie.usecases import threads
from reverie.usecases.entries import SealedEntry, opened_entry
from reverie.usecases.thread_outline import (
    PENDING_MAX,
    complete_part,
    last_part,
    number_of_part,
    opened_entries,
    part_of,
    sealed_entries,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Entry, Message
    from reverie.store import OutlineRecord, Reader, ThreadRecord

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
    was last extended.
    """
    thread = threads.get(reader, thread_id)
    head = last_part(reader, thread)
    last_seq = head.through if outlined else thread.last_seq
    if last_seq - head.through > PENDING_MAX:
        return None
    if last_seq > head.through:
        # The newest entries may change what is before them, whichever page is asked for.
        newest = sealed_entries(reader, thread_id, head.first, last_seq)
        opened = opened_entries(thread_id, newest)
        if head.through and not is_continued(opened, head.through):
            return None
        if not head.through:
            return msgspec.structs.replace(_whole(thread, newest, opened, after, limit), last=last)
    if last is not None:
        parts = _last_parts(reader, thread_id, head, last)
    else:
        parts = _parts_behind(reader, thread_id, head, after, limit)
    rows = [(part, sealed_entries(reader, thread_id, part.first, part.through)) for part in parts]
    more = bool(parts) and parts[-1].through + 1 < head.first
    if not more:
        rows.append((part_of(head), sealed_entries(reader, thread_id, head.first, last_seq)))
    return PageJob(thread=thread_id, parts=rows, after=after, limit=limit, more=more, last=last)


def _whole(thread: ThreadRecord, rows: list[SealedEntry], entries: Sequence[Entry], after: int, limit: int) -> PageJob:
    """Return the snapshot of a page of a short thread that has no outline yet."""
    parts = [(part, [row for row in rows if part.first <= row[0] <= part.through]) for part in outline(entries)]
    return PageJob(thread=thread.id, parts=parts, after=after, limit=limit, more=False)


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
