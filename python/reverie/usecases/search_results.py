"""Hits of a search as the API shows them: read from the store, with passage, neighbours and reasons."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from reverie import search, wire
from reverie.memory_search_index import memory_text
from reverie.models import EntryKind
from reverie.store import DocumentRecord, Kind, ThreadRecord
from reverie.usecases.generated_files import LIST
from reverie.usecases.project_identity import of_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reverie.full_text_index import Hit
    from reverie.memory_search_index import Hit as MemoryHit
    from reverie.store import MemoryRecord, Reader

__all__ = ["Entries", "hit_of_entry", "joined", "memory_hit", "message_hits", "section_hit"]

NEIGHBOUR_CHARS: Final = 200
NEIGHBOUR_READ: Final = 2_000  # characters, before spaces are taken together
GAP: Final = 12  # entries looked through for a neighbour that says something, as the index does
WHY_WORDS: Final = 8
_WORD = re.compile(r"\w+")


def message_hits(reader: Reader, query: str, hits: Sequence[Hit]) -> list[wire.SearchHit]:
    """Return found messages, without those that were deleted meanwhile."""
    places = [search.is_number_of(hit.id) for hit in hits]
    names = list(dict.fromkeys(thread for thread, _ in places))
    found = zip(names, reader.load_many(ThreadRecord, [(name,) for name in names]), strict=True)
    threads = {name: thread for name, thread in found if thread is not None}
    entries = Entries(reader)
    entries.read(
        (name, near)
        for name, seq in places
        if name in threads
        for near in (seq, *_before(seq)[:1], *_after(seq, threads[name])[:1])
    )
    words = _words(query)
    answers = (
        _message_hit(entries, words, hit, threads[name], seq)
        for hit, (name, seq) in zip(hits, places, strict=True)
        if name in threads
    )
    return [answer for answer in answers if answer is not None]


class Entries:
    """A cache of stored entries: many are read at once, and any other one when it is asked for."""

    def __init__(self, reader: Reader) -> None:
        """Begin without entries."""
        self._reader = reader
        self._known: dict[tuple[str, int], dict[str, Any] | None] = {}

    def read(self, places: Iterable[tuple[str, int]]) -> None:
        """Read entries, given by thread and number, into the cache."""
        wanted = list(dict.fromkeys(places))
        self._known.update(zip(wanted, self._reader.get_many(Kind.ENTRY, wanted), strict=True))

    def get(self, thread_id: str, seq: int) -> dict[str, Any] | None:
        """Return an entry, None where there is none."""
        place = thread_id, seq
        if place not in self._known:
            self._known[place] = self._reader.get(Kind.ENTRY, place)
        return self._known[place]


def _before(seq: int) -> range:
    """Return the entry numbers in which the message before entry `seq` is looked for, nearest first."""
    return range(seq - 1, max(seq - 1 - GAP, 0), -1)


def _after(seq: int, thread: ThreadRecord) -> range:
    """Return the entry numbers in which the message after entry `seq` is looked for, nearest first."""
    return range(seq + 1, min(seq + 1 + GAP, thread.last_seq + 1))


def _message_hit(
    entries: Entries, words: Sequence[str], hit: Hit, thread: ThreadRecord, seq: int
) -> wire.SearchHit | None:
    """Return a found message with its neighbours; None where it was deleted."""
    entry = entries.get(thread.id, seq)
    if entry is None or entry.get("role") is None:
        return None
    return hit_of_entry(entries, words, thread, seq, entry, score=round(hit.score, 4), why=_why(hit.terms))


def hit_of_entry(
    entries: Entries,
    words: Sequence[str],
    thread: ThreadRecord,
    seq: int,
    entry: Mapping[str, Any],
    *,
    score: float,
    why: str,
) -> wire.SearchHit:
    """Return an entry of a thread that says something as a hit, with the part of it that has most of the words."""
    before = _neighbour(entries, thread.id, _before(seq))
    after = _neighbour(entries, thread.id, _after(seq, thread))
    return wire.SearchHit(
        kind="message",
        passage=search.passage(_text(entry), words),
        score=score,
        why=why,
        at=entry.get("at"),
        thread=wire.SearchThread(id=thread.id, title=thread.title, project=of_thread(thread)),
        message=wire.SearchedMessage(seq=seq, role=entry["role"], id=entry.get("id")),
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


def joined(lists: Sequence[Sequence[wire.SearchHit]], limit: int) -> list[wire.SearchHit]:
    """Merge ranked lists whose scores cannot be compared, by each hit's rank in its list; return the best `limit`.

    A section is left out whose memory is there, and the list of memory files beside any memory: it would say the same
    once more.
    """
    if len(lists) == 1:
        return list(lists[0][:limit])
    ranked = [(place, number, hit) for number, hits in enumerate(lists) for place, hit in enumerate(hits)]
    ranked.sort(key=lambda item: (item[0], item[1]))
    with_memory = {hit.document for _, _, hit in ranked if hit.kind == "memory"}
    if with_memory:
        with_memory.add(LIST)
    kept = [hit for _, _, hit in ranked if hit.kind != "document" or hit.document not in with_memory]
    return kept[:limit]


def _words(query: str) -> list[str]:
    return _WORD.findall(query)


def _why(terms: Sequence[tuple[str, float]]) -> str:
    """Return the reasons of a hit as a line, the strongest first: `oslo 4.21, said by ann 4.00`."""
    return ", ".join(f"{term} {added:.2f}" for term, added in terms[:WHY_WORDS])


def _neighbour(entries: Entries, thread_id: str, places: range) -> wire.Neighbour | None:
    """Return the first of some entries of a thread that has text, shortened, as a hit's neighbour; None if none."""
    for seq in places:
        entry = entries.get(thread_id, seq)
        role = None if entry is None else entry.get("role")
        text = _text(entry) if entry is not None and role is not None else ""
        if text and role is not None:
            shown = search.clipped(" ".join(text[:NEIGHBOUR_READ].split()), NEIGHBOUR_CHARS)
            return wire.Neighbour(seq=seq, role=role, text=shown)
    return None


def _text(entry: Mapping[str, Any]) -> str:
    """Return the text of a stored entry as `search.message_text` does; "" if it is no speech.

    The hits of a search are thirty entries with their neighbours, of which few fields count: no `Entry` is made.
    """
    return search.content_text(entry.get("content")) if entry["kind"] == EntryKind.SPEECH else ""
