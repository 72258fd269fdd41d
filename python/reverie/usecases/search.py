"""Hits of a search as the API shows them: read from the store, with passage, neighbours and reasons."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie import search, wire
from reverie.documents.project_folder import folder_of, memory_project
from reverie.recall import memory_text
from reverie.store import DocumentRecord, Kind, ThreadRecord
from reverie.usecases.projects import of_thread
from reverie.usecases.stored_entries import opened_entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Entry
    from reverie.rank import Hit
    from reverie.recall import Hit as MemoryHit
    from reverie.store import MemoryRecord, Reader

__all__ = ["is_of_project", "joined", "memory_hit", "message_hit", "section_hit"]

NEIGHBOUR_CHARS: Final = 200
GAP: Final = 12  # entries looked through for a neighbour that says something, as the index does
WHY_WORDS: Final = 8
_WORD = re.compile(r"\w+")


def message_hit(reader: Reader, query: str, hit: Hit) -> wire.SearchHit | None:
    """Return a found message; None where it was deleted meanwhile."""
    thread_id, seq = search.is_number_of(hit.id)
    thread = reader.load(ThreadRecord, (thread_id,))
    entry = _entry(reader, thread_id, seq) if thread is not None else None
    if thread is None or entry is None or entry.role is None:
        return None
    before = _neighbour(reader, thread_id, range(seq - 1, max(seq - 1 - GAP, 0), -1))
    after = _neighbour(reader, thread_id, range(seq + 1, min(seq + 1 + GAP, thread.last_seq + 1)))
    return wire.SearchHit(
        kind="message",
        passage=search.passage(search.message_text(entry), _words(query)),
        score=round(hit.score, 4),
        why=_why(hit.terms),
        at=entry.at,
        thread=wire.SearchThread(id=thread.id, title=thread.title, project=of_thread(thread)),
        message=wire.SearchedMessage(seq=seq, role=entry.role, id=entry.id),
        agent=thread.agent,
        neighbours=[found for found in (before, after) if found is not None],
    )


def section_hit(reader: Reader, query: str, hit: Hit) -> wire.SearchHit | None:
    """Return a found section of a document; None where it is not there any more."""
    path, number = search.is_number_of(hit.id)
    document = reader.load(DocumentRecord, (path,))
    section = search.section_of(document.content, number) if document is not None else None
    if document is None or section is None:
        return None
    return wire.SearchHit(
        kind="document",
        passage=search.passage(section[1], _words(query)),
        score=round(hit.score, 4),
        why=_why(hit.terms),
        at=document.updated_at,
        document=path,
        heading=section[0] or None,
    )


def memory_hit(query: str, hit: MemoryHit[MemoryRecord]) -> wire.SearchHit:
    """Return a found memory."""
    return wire.SearchHit(
        kind="memory",
        passage=search.passage(memory_text(hit.memory), _words(query)),
        score=round(hit.score, 4),
        why=_why(hit.why),
        at=hit.memory.updated_at,
        memory=hit.memory.id,
        document=hit.memory.document,
    )


def is_of_project(found: MemoryRecord | str, project: str) -> bool:
    """Return whether a memory, or the document at a path, belongs to a project or to none."""
    of = folder_of(found) if isinstance(found, str) else memory_project(found)
    return not of or of == project


def joined(lists: Sequence[Sequence[wire.SearchHit]], limit: int) -> list[wire.SearchHit]:
    """Return the best hits of lists whose scores cannot be compared, by their places in them.

    A section is left out whose memory is there: it would say the same once more.
    """
    if len(lists) == 1:
        return list(lists[0][:limit])
    ranked = [(place, number, hit) for number, hits in enumerate(lists) for place, hit in enumerate(hits)]
    ranked.sort(key=lambda item: (item[0], item[1]))
    with_memory = {hit.document for _, _, hit in ranked if hit.kind == "memory"}
    kept = [hit for _, _, hit in ranked if hit.kind != "document" or hit.document not in with_memory]
    return kept[:limit]


def _words(query: str) -> list[str]:
    return _WORD.findall(query)


def _why(terms: Sequence[tuple[str, float]]) -> str:
    """Return the reasons of a hit as a line, the strongest first: `oslo 4.21, said by ann 4.00`."""
    return ", ".join(f"{term} {added:.2f}" for term, added in terms[:WHY_WORDS])


def _neighbour(reader: Reader, thread_id: str, places: range) -> wire.Neighbour | None:
    """Return the first of some entries that says something."""
    for seq in places:
        entry = _entry(reader, thread_id, seq)
        text = search.message_text(entry) if entry is not None else ""
        if entry is not None and entry.role is not None and text:
            return wire.Neighbour(
                seq=seq, role=entry.role, text=search.clipped(" ".join(text.split()), NEIGHBOUR_CHARS)
            )
    return None


def _entry(reader: Reader, thread_id: str, seq: int) -> Entry | None:
    """Return an entry of a thread; None where it was deleted."""
    rows = reader.sealed_sequence(Kind.ENTRY, (thread_id,), after=seq - 1, through=seq)
    return next((opened_entry(thread_id, number, data) for number, data in rows if number == seq), None)
