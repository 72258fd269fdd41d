"""Hits of a search as the API shows them: read from the store, with passage, neighbours and reasons.

A question that names a day and has no other word to search for is answered by a list: "What did we do on 3 May 2026?"
shares no word with the messages of that day. It gets the first words of a person in each thread on that day, most often
what they wanted done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from reverie import search, wire
from reverie.models import EntryKind
from reverie.replies import with_replies
from reverie.store import DocumentRecord, Kind, MemoryRecord, Reader, ThreadRecord
from reverie.text_index import Hit
from reverie.text_recall import Hit as MemoryHit
from reverie.text_recall import memory_text
from reverie.usecases.entries import is_withdrawn
from reverie.usecases.message_pages import is_repeat
from reverie.usecases.projections import LIST
from reverie.usecases.projects import of_thread

NEIGHBOUR_CHARS: Final = 200
NEIGHBOUR_READ: Final = 2_000  # characters, before spaces are taken together
GAP: Final = 12  # entries looked through for a neighbour that says something, as the index does
WHY_WORDS: Final = 8


_COPIES: Final = 4
"""Times as many hits are looked at as are shown, of which those with the same text as a better one are left out: what a
client copied when a session was resumed, a file read again, a command run again."""
_LOOKED_AT_MAX: Final = 1_000  # hits; a session that was resumed fifty times has as many copies of each message


def message_hits(reader: Reader, query: str, ask: Callable[[int], list[Hit]], limit: int) -> list[wire.SearchHit]:
    """Return the first `limit` messages, copies once, without those that were deleted meanwhile.

    `ask` returns so many hits at most, best first; it is asked for more where most are copies.
    """
    asked = limit * _COPIES
    while True:
        hits = ask(asked)
        found = _distinct(reader, query, hits, limit)
        if len(found) >= limit or len(hits) < asked or asked >= _LOOKED_AT_MAX:
            return found
        asked = min(asked * _COPIES, _LOOKED_AT_MAX)


def _distinct(reader: Reader, query: str, hits: Sequence[Hit], limit: int) -> list[wire.SearchHit]:
    """Return the first `limit` found messages, each text once."""
    entries = Entries(reader)
    found: list[tuple[Hit, ThreadRecord, int, Mapping[str, Any]]] = []
    seen: set[tuple[str, str]] = set()
    places = [search.is_number_of(hit.id) for hit in hits]
    entries.read(places)
    # The entry that another one repeats has the same words, and so is a hit as well: most threads need no look.
    ids = Counter((name, entry.get("id")) for name, seq in places if (entry := entries.get(name, seq)) is not None)
    with_repeats = {name for (name, own), times in ids.items() if own and times > 1}
    for hit, (name, seq) in zip(hits, places, strict=True):
        if len(found) == limit:
            break
        entry, thread = entries.get(name, seq), entries.thread(name)
        if thread is None or entry is None or entry.get("role") is None or is_withdrawn(reader, name, seq, entry):
            continue
        said = (entry["role"], _text(entry))
        own = entry.get("id")
        if said not in seen and not (own and name in with_repeats and is_repeat(reader, thread, seq, own)):
            seen.add(said)
            found.append((hit, thread, seq, entry))
    entries.read(
        (thread.id, near) for _, thread, seq, _ in found for near in (*_before(seq)[:1], *_after(seq, thread)[:1])
    )
    return [
        hit_of_entry(entries, query, thread, seq, entry, score=round(hit.score, 4), why=_why(hit.terms))
        for hit, thread, seq, entry in found
    ]


class Entries:
    """A cache of stored entries: many are read at once, and any other one when it is asked for."""

    def __init__(self, reader: Reader) -> None:
        """Create an empty cache of the entries of a space."""
        self.reader = reader
        self._known: dict[tuple[str, int], dict[str, Any] | None] = {}
        self._threads: dict[str, ThreadRecord | None] = {}

    def read(self, places: Iterable[tuple[str, int]]) -> None:
        """Read entries, given by thread and number, into the cache."""
        wanted = list(dict.fromkeys(places))
        self._known.update(zip(wanted, self.reader.get_many(Kind.ENTRY, wanted), strict=True))

    def get(self, thread_id: str, seq: int) -> dict[str, Any] | None:
        """Return an entry, None where there is none."""
        key = thread_id, seq
        if key not in self._known:
            self._known[key] = self.reader.get(Kind.ENTRY, key)
        return self._known[key]

    def thread(self, thread_id: str) -> ThreadRecord | None:
        """Return a thread, None where there is none."""
        if thread_id not in self._threads:
            self._threads[thread_id] = self.reader.load(ThreadRecord, (thread_id,))
        return self._threads[thread_id]


def _before(seq: int) -> range:
    """Return the entry numbers in which the message before entry `seq` is looked for, nearest first."""
    return range(seq - 1, max(seq - 1 - GAP, 0), -1)


def _after(seq: int, thread: ThreadRecord) -> range:
    """Return the entry numbers in which the message after entry `seq` is looked for, nearest first."""
    return range(seq + 1, min(seq + 1 + GAP, thread.last_seq + 1))


def hit_of_entry(
    entries: Entries,
    query: str,
    thread: ThreadRecord,
    seq: int,
    entry: Mapping[str, Any],
    *,
    score: float,
    why: str,
) -> wire.SearchHit:
    """Return an entry of a thread that says something as a hit, with the part that has most of a query's words."""
    before = _neighbour(entries, thread.id, _before(seq))
    after = _neighbour(entries, thread.id, _after(seq, thread))
    return wire.SearchHit(
        kind="message",
        passage=search.passage(_text(entry), query),
        score=score,
        why=why,
        at=entry.get("at"),
        thread=wire.SearchThread(id=thread.id, title=thread.title, project=of_thread(thread)),
        message=wire.SearchedMessage(
            seq=seq, role=entry["role"], id=entry.get("id"), tool_result=_is_tool_result(entry)
        ),
        agent=thread.agent,
        neighbours=[neighbour for neighbour in (before, after) if neighbour is not None],
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
        passage=search.passage(section[1], query),
        score=round(hit.score, 4),
        why=_why(hit.terms),
        at=document.updated_at,
        document=path,
        heading=section[0] or None,
    )


def memory_hit(query: str, hit: MemoryHit[MemoryRecord]) -> wire.SearchHit:
    """Return a found memory as a hit of a search."""
    return wire.SearchHit(
        kind="memory",
        passage=search.passage(memory_text(hit.memory), query),
        score=round(hit.score, 4),
        why=_why(hit.why),
        at=hit.memory.updated_at,
        memory=hit.memory.id,
        document=hit.memory.document,
    )


def joined(lists: Sequence[Sequence[wire.SearchHit]], limit: int) -> list[wire.SearchHit]:
    """Interleave ranked lists of incomparable scores: all first hits, all second ones, …; return the first `limit`.

    A section is left out whose memory is there, and the list of memory files beside any memory: it would say the same
    once more.
    """
    if len(lists) == 1:
        return list(lists[0][:limit])
    ranked = [(rank, number, hit) for number, hits in enumerate(lists) for rank, hit in enumerate(hits)]
    ranked.sort(key=lambda item: (item[0], item[1]))
    with_memory = {hit.document for _, _, hit in ranked if hit.kind == "memory"}
    if with_memory:
        with_memory.add(LIST)
    kept = [hit for _, _, hit in ranked if hit.kind != "document" or hit.document not in with_memory]
    return kept[:limit]


def _why(terms: Sequence[tuple[str, float]]) -> str:
    """Return the reasons of a hit as a line, the strongest first: `oslo 4.21, said by ann 4.00`."""
    return ", ".join(f"{term} {added:.2f}" for term, added in terms[:WHY_WORDS])


def _neighbour(entries: Entries, thread_id: str, places: range) -> wire.Neighbour | None:
    """Return the first of some entries of a thread that has text, shortened, as a hit's neighbour; None if none."""
    for seq in places:
        entry = entries.get(thread_id, seq)
        if entry is None or entry.get("role") is None or is_withdrawn(entries.reader, thread_id, seq, entry):
            continue
        role, text = entry["role"], _text(entry)
        if text:
            shown = search.clipped(" ".join(text[:NEIGHBOUR_READ].split()), NEIGHBOUR_CHARS)
            return wire.Neighbour(seq=seq, role=role, text=shown, tool_result=_is_tool_result(entry))
    return None


def _text(entry: Mapping[str, Any]) -> str:
    """Return the searchable text of a stored entry, with tool calls and results; "" for what is no message.

    The hits of a search are thirty entries with their neighbours, of which few fields count: no `Entry` is made.
    """
    return search.content_text(_content(entry)) if entry["kind"] == EntryKind.SPEECH else ""


def _content(entry: Mapping[str, Any]) -> Any:
    """Return the content of a stored entry, with the person's words in place of the results that have them."""
    return with_replies(entry.get("content"), entry.get("extra", {}))


_LOOKED_AT: Final = 100  # entries of a day that are looked through for words of a person


def said_on_days(
    reader: Reader, days: Sequence[str], limit: int, *, threads: Collection[str] | None, agent: str | None
) -> list[wire.SearchHit]:
    """Return up to `limit` messages, one of each thread that was spoken in on a day, the latest first.

    `days` are days of UTC such as "2026-05-03"; `threads` are those that count, None for all, and so is `agent`. It is
    what a person typed first on that day, else what an agent said.
    """
    hits: list[wire.SearchHit] = []
    accepted = None if threads is None else frozenset(threads)
    for _, thread in reader.records(ThreadRecord):
        if (accepted is not None and thread.id not in accepted) or (agent is not None and thread.agent != agent):
            continue
        for day in days:
            first_entry = _first_of(reader, thread, day) if thread.updated_at[:10] >= day else None
            if first_entry is not None:
                seq, entry = first_entry
                hits.append(hit_of_entry(Entries(reader), "", thread, seq, entry, score=0.0, why="said on that day"))
    distinct = {(hit.at, hit.passage): hit for hit in hits}  # a session that was resumed has the same words again
    return sorted(distinct.values(), key=lambda hit: hit.at or "", reverse=True)[:limit]


def _first_of(reader: Reader, thread: ThreadRecord, day: str) -> tuple[int, Mapping[str, Any]] | None:
    """Return number and entry of a person's first words in a thread on a day, else an agent's; None without any."""
    low, high = 1, thread.last_seq + 1
    while low < high:  # entries are in the order of their times, but for few
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _day_at(reader, thread, middle) < day else (low, middle)
    answer = None
    for seq in range(low, min(low + _LOOKED_AT, thread.last_seq + 1)):
        entry = reader.get(Kind.ENTRY, (thread.id, seq))
        if entry is None or entry["kind"] != EntryKind.SPEECH or not entry.get("role") or not _is_said(entry):
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


def _is_tool_result(entry: Mapping[str, Any]) -> bool:
    """Return True for a message of the role user that has no words of a person."""
    return entry.get("role") == "user" and not _is_said(entry)


def _is_said(entry: Mapping[str, Any]) -> bool:
    """Return True if a message has words of a person or an agent, and not only tool calls and results."""
    return not search.is_of_tools(entry.get("role"), search.said_in(_content(entry)))
