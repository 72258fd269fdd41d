"""A thread's new entries to its working state, on top of the gist of those before them."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import msgspec

from reverie.context import open_turn_start
from reverie.distill.extractive.fold import ThreadFold
from reverie.errors import Conflict
from reverie.importers.messages import main_line, tool_ids
from reverie.models import WorkingState
from reverie.recall import query_for
from reverie.usecases.incremental_state import Followed, StateJob, StatePlan
from reverie.usecases.records import opened_entry, record, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.models import Entry, Message

__all__ = ["decide"]

_WRITE = msgspec.msgpack.Encoder()
_READ = msgspec.msgpack.Decoder(ThreadFold)
_MARK_BYTES = 4


def decide(job: StateJob) -> StatePlan:
    """The working state after the entries given; pure, and the same from wherever the thread was followed.

    Raises:
        Conflict: with `details["stale"]`, where the entries mean something else beside those that were followed.
    """
    before = job.followed or _beginning(job)
    entries = [opened_entry(job.thread["id"], seq, data) for seq, data in job.entries]
    calls = _marks(entries)
    if job.followed is not None and not _stand_alone(entries, calls, before.calls):
        raise Conflict("the thread must be read from further back", hint="read all of it", stale=True)
    messages = [message for message in main_line(entries) if not message.rewound]
    over = open_turn_start(messages[:-1])  # of the last one more may follow
    gist = _READ.decode(before.gist) if before.gist and before.since == job.since else ThreadFold()
    gist.follow(_after(job.since, messages[:over]))
    said = _last_said(messages[:over]) or before.said
    seq = messages[over].first_seq - 1 if messages else before.seq
    followed = Followed(
        created=before.created,
        through=before.through,
        since=job.since,
        seq=seq,
        said=said,
        calls=before.calls + b"".join(mark for place, mark in calls if place <= seq),
        gist=_WRITE.encode(gist),
    )
    gist.follow(_after(job.since, messages[over:]))
    state = gist.state(value(WorkingState, job.previous) if job.previous else None)
    asked = (query_for(state, _last_said(messages[over:]) or said), job.thread["project"])
    return StatePlan(
        state=record(state),
        query=" ".join(filter(None, asked)),
        seq=int(job.thread["lastSeq"]),
        version=job.version,
        followed=followed,
    )


def _beginning(job: StateJob) -> Followed:
    """Nothing followed yet."""
    through = int(job.thread["throughSeq"])
    return Followed(job.thread["createdAt"], through, job.since, through, "", b"", b"")


def _stand_alone(entries: Sequence[Entry], calls: Sequence[tuple[int, bytes]], before: bytes) -> bool:
    """Whether entries mean the same without those before them.

    They are no part of a transcript, whose lines may take back or repeat earlier ones; their results answer their own
    calls; and no call has the id of an earlier one.
    """
    known = {before[at : at + _MARK_BYTES] for at in range(0, len(before), _MARK_BYTES)} if calls else set()
    own = {mark for _, mark in calls}
    answers = {_mark(call) for entry in entries for call in tool_ids(entry.content, "tool_result", "tool_use_id")}
    return answers <= own and own.isdisjoint(known) and all(entry.id is None for entry in entries)


def _marks(entries: Iterable[Entry]) -> list[tuple[int, bytes]]:
    """A checksum of the id of every call, with the entry that makes it."""
    return [(entry.seq, _mark(call)) for entry in entries for call in tool_ids(entry.content, "tool_use", "id")]


def _mark(call: str) -> bytes:
    return zlib.crc32(call.encode("utf-8", "surrogatepass")).to_bytes(_MARK_BYTES, "big")


def _after(since: int, messages: Iterable[Message]) -> list[Message]:
    return [message for message in messages if message.last_seq > since]


def _last_said(messages: Sequence[Message]) -> str:
    """What the person said last; tool results are not speech."""
    for message in reversed(messages):
        if message.role == "user":
            content = (
                message.content if isinstance(message.content, list) else [{"type": "text", "text": message.content}]
            )
            said = "\n".join(block["text"] for block in content if block.get("type") == "text")
            if said.strip():
                return said
    return ""
