"""Gives a thread's agent its memory back: tiers gathered from a snapshot, assembled in another process."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from reverie.store import Kind, open_sealed
from reverie.usecases import threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.store import Reader

__all__ = [
    "ContextJob",
    "MessagesJob",
    "Placement",
    "Room",
    "sealed_since",
    "snapshot",
    "snapshot_messages",
]

Placement: TypeAlias = Literal["system", "late"]


class MessagesJob(msgspec.Struct):
    """What showing a page of a thread's messages needs: `limit` of them, beginning behind entry `after`."""

    thread: str
    entries: list[tuple[int, bytes]]
    after: int
    limit: int


class Room(msgspec.Struct):
    """How much a context may hold, in tokens but `preserve_messages`; `clear_at` is a share of the window."""

    window: int
    preserve_messages: int
    preserve_tokens: int
    clear_at: float


class ContextJob(msgspec.Struct):
    """A snapshot of every tier."""

    thread: dict[str, Any]
    entries: list[tuple[int, bytes]]
    distillation: bytes | None  # sealed: whoever decides opens the same one once
    state: dict[str, Any]
    digest: str
    notes: list[dict[str, Any]]
    bootstrap: list[tuple[str, str]]
    recall: list[tuple[str, str, str]]  # text, memory id, document
    room: Room
    max_tokens: int | None
    placement: Placement | None


def snapshot_messages(reader: Reader, thread_id: str, *, after: int, limit: int) -> MessagesJob:
    """Reads what a page of messages is made from. Raises NotFound for an unknown thread."""
    threads.get(reader, thread_id)
    return MessagesJob(thread=thread_id, entries=sealed_since(reader, thread_id, 0), after=after, limit=limit)


def snapshot(
    reader: Reader,
    thread_id: str,
    *,
    state: dict[str, Any],
    recall: Sequence[tuple[str, str, str]],
    bootstrap: Sequence[str],
    room: Room,
    max_tokens: int | None,
    placement: Placement | None,
) -> ContextJob:
    """Reads every tier. Raises NotFound for an unknown thread."""
    thread = threads.get(reader, thread_id)
    newest = next((data for _, data in reader.scan_sealed(Kind.DISTILLATION, (thread_id,), reverse=True)), None)
    since = _through(newest) if newest else 0
    texts = ((path, reader.get(Kind.DOCUMENT, (path,))) for path in bootstrap)
    return ContextJob(
        thread=thread,
        entries=sealed_since(reader, thread_id, since),
        distillation=newest,
        state=state,
        digest=(reader.get(Kind.DIGEST, (thread_id,)) or {}).get("text", ""),
        notes=[stored for _, stored in reader.scan(Kind.NOTE, (thread_id,))],
        bootstrap=[(path, found["content"]) for path, found in texts if found],
        recall=list(recall),
        room=msgspec.structs.replace(room, window=int(thread["contextWindow"] or room.window)),
        max_tokens=max_tokens,
        placement=placement,
    )


@lru_cache(maxsize=8)  # up to a few hundred kilobytes each, in the process that stays
def _through(sealed: bytes) -> int:
    """The last entry that a sealed distillation covers."""
    return int(open_sealed(sealed)["throughSeq"])


def sealed_since(reader: Reader, thread_id: str, seq: int) -> list[tuple[int, bytes]]:
    """The sealed entries of a thread after `seq`."""
    rows = reader.scan_sealed(Kind.ENTRY, (thread_id,), after=(thread_id, seq) if seq else None)
    return [(int(key[-1]), data) for key, data in rows]
