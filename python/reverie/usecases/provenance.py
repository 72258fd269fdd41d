"""What the provenance of a memory says: the threads that it was learnt from, and the doubts of later sessions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from reverie.distill.sentences import specific_names
from reverie.documents.layout import PERSON, memory_project
from reverie.doubts import CORRECTED, KEY, Objection, said_at, with_doubt, without_doubt
from reverie.lazy_regex import lazy_regex
from reverie.models import MemoryType
from reverie.store import MemoriesCursor, MemoryRecord, Writer

_NAMES_MIN: Final = 2  # that memory and objection share; one alone, such as a file, is in too many sentences
_SHA: Final = lazy_regex(r"\b[0-9a-f]{7,40}\b")
_SHA_CHARS: Final = 7  # by which two forms of a commit's id are compared


class Mark(NamedTuple):
    """A doubt about a memory, from entries of a thread at a time."""

    memory: str
    at: str
    thread: str
    seqs: list[int]


def marks(
    objections: Iterable[Objection], memories: Iterable[MemoryRecord], *, thread: str, project: str | None, at: str
) -> list[Mark]:
    """Return a mark for each memory of another thread that an objection is about; `at` is now.

    Only memories of the thread's project and of the person count.

    A reverted commit speaks against the memory that names it. The person's correction speaks against a memory that
    names the same two things, or nothing but what the correction names; not against an episode, since what happened
    has happened.
    """
    said = list(objections)
    return [
        Mark(memory.id, objection.at or at, thread, [objection.seq])
        for memory in (memories if said else ())
        if memory.provenance.get("thread") != thread and memory_project(memory) in {project or PERSON, PERSON}
        for objection in said
        if _is_against(objection, memory)
    ]


def _is_against(objection: Objection, memory: MemoryRecord) -> bool:
    text = "\n".join((memory.title or "", memory.content, *(value for _, value in memory.fields)))
    if objection.commits:
        named = {sha[:_SHA_CHARS] for sha in _SHA.findall(text)}
        return not named.isdisjoint(sha[:_SHA_CHARS] for sha in objection.commits)
    if memory.type is MemoryType.EPISODE:
        return False
    names, common = set(specific_names(text)), set(objection.names)
    common &= names
    return len(common) >= _NAMES_MIN or (bool(common) and common == names)


def mark(writer: Writer, doubt: Mark) -> None:
    """Put a memory in doubt, unless it is gone, or what it says was said after that."""
    memory = writer.load(MemoryRecord, (doubt.memory,))
    if memory is not None and (said_at(memory.provenance) or "") < doubt.at:
        provenance = with_doubt(memory.provenance, at=doubt.at, thread=doubt.thread, seqs=doubt.seqs)
        _save(writer, replace(memory, provenance=provenance))


def clear(writer: Writer, memory_id: str | None) -> None:
    """End the doubt about a memory, if there is one."""
    memory = None if memory_id is None else writer.load(MemoryRecord, (memory_id,))
    if memory is not None and KEY in memory.provenance:
        _save(writer, replace(memory, provenance=without_doubt(memory.provenance)))


def _save(writer: Writer, memory: MemoryRecord) -> None:
    if writer.save(memory, (memory.id,)):
        writer.save(MemoriesCursor(operation=writer.number), MemoriesCursor.KEY)


# The threads that a memory was learnt from: at first, by later updates, and those that said the same again. A purge of
# one of them takes a memory only if no other is known.


_ALSO: Final = "also"  # in a provenance: the threads that said the same again, oldest first
_ALSO_MAX: Final = 8  # each is one more session that has to be purged before the memory goes


def threads_of(provenance: dict[str, Any]) -> list[str]:
    """Return the threads that a memory was learnt from; "" for another source."""
    updates = [update for update in provenance.get("updates", []) if isinstance(update, dict)]
    return [*(str(origin.get("thread", "")) for origin in (provenance, *updates)), *provenance.get(_ALSO, [])]


def note(writer: Writer, memory_id: str, thread: str) -> None:
    """Note that a thread said again what a memory says, unless it is gone or enough threads are known."""
    memory = writer.load(MemoryRecord, (memory_id,))
    also = [] if memory is None else memory.provenance.get(_ALSO, [])
    if memory is None or len(also) >= _ALSO_MAX or thread in threads_of(memory.provenance):
        return
    writer.save(replace(memory, provenance={**memory.provenance, _ALSO: [*also, thread]}), (memory_id,))
    writer.save(MemoriesCursor(operation=writer.number), MemoriesCursor.KEY)


def without_thread(provenance: dict[str, Any], thread: str) -> dict[str, Any]:
    """Return a memory's provenance without what refers to a purged thread."""
    # Of what an agent wrote in it, who and by which tool is nothing of the thread's.
    kept = ("by", "tool", CORRECTED) if provenance.get("thread") == thread else tuple(provenance)
    left = {name: provenance[name] for name in kept if name in provenance}
    if "updates" in provenance:
        left["updates"] = [update for update in provenance["updates"] if update.get("thread") != thread]
    also = [other for other in left.pop(_ALSO, provenance.get(_ALSO, [])) if other != thread]
    if also and "thread" not in left:
        left["thread"], *also = also
    return left | ({_ALSO: also} if also else {})
