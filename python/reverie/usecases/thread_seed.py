"""What a new thread of an agent begins with: that agent's last notes, and its digest (api.md 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reverie import tokens
from reverie.store import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.store import Reader, Writer

__all__ = ["Carried", "carried", "put"]

NOTES_TOKENS = 2_000  # the ceiling of the notes in a context
NOTES_MAX = 100
THREADS_MAX = 5  # of the agent, those in which something was said last


@dataclass(frozen=True, slots=True)
class Carried:
    """Notes as they are stored, oldest first, each with the thread that it is from; and the digest, where there is one.

    The notes keep their ids: one that is deleted from a later thread is not carried on from an earlier one.
    """

    notes: tuple[dict[str, Any], ...] = ()
    digest: dict[str, Any] | None = None


def carried(reader: Reader, agent: str | None) -> Carried:
    """What the next thread of `agent` begins with; nothing for a caller without a name."""
    if agent is None:
        return Carried()
    mine = [record for _, record in reader.scan(Kind.THREAD) if record["agent"] == agent]
    mine.sort(key=lambda record: (record["updatedAt"], record["id"]), reverse=True)
    latest = [record["id"] for record in mine[:THREADS_MAX]]
    digests = (reader.get(Kind.DIGEST, (thread,)) for thread in latest)
    return Carried(
        notes=_fitting(_notes(reader, mine[:THREADS_MAX])),
        digest=next((digest for digest in digests if digest is not None and digest["text"]), None),
    )


def put(writer: Writer, thread_id: str, given: Carried) -> None:
    """Writes what a thread begins with, in the write that makes it."""
    for note in given.notes:
        writer.put(Kind.NOTE, (thread_id, note["id"]), note)
    if given.digest is not None:
        writer.put(Kind.DIGEST, (thread_id,), given.digest)


def _notes(reader: Reader, threads: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The notes of these threads, newest first, each once; without those that a later thread was given and deleted."""
    found: dict[str, dict[str, Any]] = {}
    deleted: set[str] = set()
    for thread in threads:
        here = {record["id"]: record for _, record in reader.scan(Kind.NOTE, (thread["id"],))}
        for note_id, record in here.items():
            found.setdefault(note_id, {**record, "thread": record.get("thread") or thread["id"]})
        deleted |= set(thread.get("carried", ())) - here.keys()
    kept = (record for note_id, record in found.items() if note_id not in deleted)
    return sorted(kept, key=lambda record: (record["at"], record["id"]), reverse=True)


def _fitting(notes: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """As many of the newest as a context has room for, oldest first; the newest always."""
    kept: list[dict[str, Any]] = []
    room = NOTES_TOKENS
    for note in notes[:NOTES_MAX]:
        room -= tokens.count(note["content"])
        if room < 0 and kept:
            break
        kept.append(note)
    return tuple(reversed(kept))
