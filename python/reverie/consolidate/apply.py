"""The application of changes: existing memories and decided changes to the memories to store, each in its document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from msgspec.structs import replace

from reverie.decode import mapped
from reverie.documents.layout import in_project
from reverie.doubts import CORRECTED, KEY
from reverie.errors import Conflict
from reverie.lazy_regex import lazy_regex
from reverie.models import Add, Candidate, Change, Delete, Keep, Memory, MemoryType, Skip, Update

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

UPDATES_KEPT = 20  # sources of earlier updates that a memory's provenance lists

_DOCUMENTS = {
    MemoryType.PREFERENCE: "facts/preferences.md",
    MemoryType.MISTAKE: "facts/mistakes.md",
    MemoryType.PROCEDURE: "facts/procedures.md",
    MemoryType.SKILL: "facts/skills.md",
    MemoryType.OBSERVATION: "facts/observations.md",
    MemoryType.FACT: "facts/project.md",
}
_DAY = lazy_regex(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")


def apply(
    changes: Iterable[Change],
    existing: Sequence[Memory],
    candidates: Sequence[Candidate] = (),
    *,
    at: str,
    new_ids: Iterable[str],
) -> tuple[Memory, ...]:
    """Return `existing` after `changes`, new memories last; `at` is now (RFC 3339 UTC), `new_ids` one id for each ADD.

    Provenance names where the words came from: of the candidate for an ADD, and in `updates` (newest last, at most 20)
    for each UPDATE. Raises Conflict when a change names a memory that is not there, or one that a person wrote last:
    the plan was made from something else.
    """
    after = {memory.id: memory for memory in existing}
    ids = iter(new_ids)
    orders = _next_orders(existing)
    for change in changes:
        match change:
            case Keep() | Skip():
                pass
            case Update():
                after[change.id] = _updated(_changeable(after, change.id), change, candidates, at)
            case Delete():
                del after[_changeable(after, change.id).id]
            case Add():
                memory = _added(change.candidate, next(ids), at, orders)
                after[memory.id] = memory
            case _:
                assert_never(change)
    return tuple(after.values())


def _changeable(after: dict[str, Memory], identity: str) -> Memory:
    """Return the memory with this id. Raises Conflict where there is none, or a person wrote it last."""
    memory = after.get(identity)
    if memory is None:
        raise Conflict(f"there is no memory {identity} to change", hint="decide again from the memories as they are")
    if memory.trust == "person":
        raise Conflict(f"memory {identity} was written by a person", hint="make it a proposal", id=identity)
    return memory


def _updated(memory: Memory, change: Update, candidates: Sequence[Candidate], at: str) -> Memory:
    provenance = dict(memory.provenance)
    if change.candidate_index is not None and change.candidate_index < len(candidates):
        source = _provenance(candidates[change.candidate_index])
        provenance["updates"] = [*provenance.get("updates", []), source][-UPDATES_KEPT:]
        provenance.pop(CORRECTED, None)
        provenance.pop("at", None)  # the new content's time counts, and where it is unknown, that of this change
        if "at" in source:
            provenance["at"] = source["at"]
        if provenance.get(KEY, {}).get("at", "") < source.get("at", at):
            provenance.pop(KEY, None)  # the newer words are in no doubt
    return replace(
        memory, content=change.content, tags=change.tags, updated_at=at, trust="engine", provenance=provenance
    )


def _added(candidate: Candidate, identity: str, at: str, orders: dict[str, int]) -> Memory:
    """Return the memory that a candidate becomes, last in its document; count its position in `orders`."""
    document = document_of(candidate, at=at)
    order = orders.get(document, 0)
    orders[document] = order + 1
    return mapped(
        candidate,
        Memory,
        id=identity,
        document=document,
        created_at=at,
        updated_at=at,
        provenance=_provenance(candidate),
        order=order,
        access_count=0,
        last_accessed_at=None,
        trust="engine",
    )


def _provenance(candidate: Candidate) -> dict[str, Any]:
    return candidate.provenance if candidate.at is None else {**candidate.provenance, "at": candidate.at}


def _next_orders(memories: Iterable[Memory]) -> dict[str, int]:
    orders: dict[str, int] = {}
    for memory in memories:
        orders[memory.document] = max(orders.get(memory.document, 0), memory.order + 1)
    return orders


def document_of(candidate: Candidate, *, at: str) -> str:
    """Return the path, in the space's folder, of the document that a candidate is written to; `at` is now (UTC).

    An episode's is that of the month in which it happened. Those of a project are below its own folder:
    `facts/harbour/mistakes.md`, `episodes/harbour-2026-11.md`.
    """
    if candidate.type is MemoryType.EPISODE:
        path = f"episodes/{happened_on(candidate.fields, candidate.at, at)[:7]}.md"
    elif candidate.type is MemoryType.FACT and candidate.subject == "user":
        path = "facts/user.md"
    else:
        path = _DOCUMENTS[candidate.type]
    return in_project(path, candidate.project)


def happened_on(fields: Iterable[tuple[str, str]], *times: str | None) -> str:
    """Return the day of an episode, `YYYY-MM-DD`: its `Date` field, else the first of `times` that begins with one."""
    dates = (value for key, value in fields if key == "Date")
    for text in (*dates, *times):
        day = _DAY.match(text or "")
        if day is not None:
            return day[0]
    return "1970-01-01"
