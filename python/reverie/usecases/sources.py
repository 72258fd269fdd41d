"""The threads that a memory was learnt from: at first, by later updates, and those that said the same again.

A purge of one of them takes a memory only if no other is known.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from reverie.store import MemoriesCursor, MemoryRecord, Writer

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
    kept = ("by", "tool") if provenance.get("thread") == thread else tuple(provenance)
    left = {name: provenance[name] for name in kept if name in provenance}
    if "updates" in provenance:
        left["updates"] = [update for update in provenance["updates"] if update.get("thread") != thread]
    also = [other for other in left.pop(_ALSO, provenance.get(_ALSO, [])) if other != thread]
    if also and "thread" not in left:
        left["thread"], *also = also
    return left | ({_ALSO: also} if also else {})
