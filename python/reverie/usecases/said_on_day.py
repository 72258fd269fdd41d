"""Messages of a day: the answer to a question that names a day and has no other word to search for.

"What did we do on 3 May 2026?" shares no word with the messages of that day. Its answer is a list: the first words of a
person in each thread on that day, most often what they wanted done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reverie.models import EntryKind
from reverie.store import Kind, ThreadRecord
from reverie.usecases.search_results import Entries, hit_of_entry

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from reverie import wire
    from reverie.store import Reader

__all__ = ["said_on_days"]

_LOOKED_AT: Final = 100  # entries of a day that are looked through for words of a person


def said_on_days(
    reader: Reader, days: Sequence[str], limit: int, *, threads: Collection[str] | None, agent: str | None
) -> list[wire.SearchHit]:
    """Return up to `limit` messages, one of each thread that was spoken in on a day, the latest first.

    `days` are days of UTC such as "2026-05-03"; `threads` are those that count, None for all, and so is `agent`. It is
    what a person typed first on that day, else what an agent said.
    """
    found: list[wire.SearchHit] = []
    accepted = None if threads is None else frozenset(threads)
    for _, thread in reader.records(ThreadRecord):
        if (accepted is not None and thread.id not in accepted) or (agent is not None and thread.agent != agent):
            continue
        for day in days:
            place = _first_of(reader, thread, day) if thread.updated_at[:10] >= day else None
            if place is not None:
                seq, entry = place
                found.append(hit_of_entry(Entries(reader), (), thread, seq, entry, score=0.0, why="said on that day"))
    return sorted(found, key=lambda hit: hit.at or "", reverse=True)[:limit]


def _first_of(reader: Reader, thread: ThreadRecord, day: str) -> tuple[int, Mapping[str, Any]] | None:
    """Return number and entry of a person's first words in a thread on a day, else of an agent's; None if none are."""
    low, high = 1, thread.last_seq + 1
    while low < high:  # entries are in the order of their times, but for few
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _day_at(reader, thread, middle) < day else (low, middle)
    answer = None
    for seq in range(low, min(low + _LOOKED_AT, thread.last_seq + 1)):
        entry = reader.get(Kind.ENTRY, (thread.id, seq))
        if (
            entry is None
            or entry["kind"] != EntryKind.SPEECH
            or not entry.get("role")
            or not _is_typed(entry.get("content"))
        ):
            continue
        if (entry.get("at") or "")[:10] != day:
            if entry.get("at"):
                break
            continue
        if entry.get("role") == "user":
            return seq, entry
        answer = answer or (seq, entry)
    return answer


def _day_at(reader: Reader, thread: ThreadRecord, seq: int) -> str:
    """Return the day of an entry, or of the next one that has a time, else the day of the thread's last change."""
    for number in range(seq, min(seq + _LOOKED_AT, thread.last_seq + 1)):
        entry = reader.get(Kind.ENTRY, (thread.id, number))
        if entry is not None and entry.get("at"):
            return str(entry["at"])[:10]
    return thread.updated_at[:10]


def _is_typed(content: object) -> bool:
    """Return True if message content has text of its own, and not only tool calls and results."""
    if isinstance(content, str):
        return bool(content.strip())
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, dict) and block.get("type") == "text" for block in blocks)
