"""Carries out changes: from memories and what was decided about them, the memories that are to be stored."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from reverie.consolidate.placement import document_of
from reverie.errors import Conflict
from reverie.models import Add, Candidate, Change, Delete, Keep, Memory, Skip, Update

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["apply"]

_UPDATES_KEPT = 20


def apply(
    changes: Iterable[Change],
    existing: Sequence[Memory],
    candidates: Sequence[Candidate] = (),
    *,
    at: str,
    new_ids: Iterable[str],
) -> tuple[Memory, ...]:
    """`existing` after `changes`, new memories last; `at` is now (RFC 3339 UTC), `new_ids` gives one id for each ADD.

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
        provenance["updates"] = [*provenance.get("updates", []), source][-_UPDATES_KEPT:]
        provenance.pop("at", None)  # the new words' time counts, and where it is unknown, that of this change
        if "at" in source:
            provenance["at"] = source["at"]
    return replace(
        memory, content=change.content, tags=change.tags, updated_at=at, trust="engine", provenance=provenance
    )


def _added(candidate: Candidate, identity: str, at: str, orders: dict[str, int]) -> Memory:
    """The memory that a candidate becomes, last in its document; counts on in `orders`."""
    document = document_of(candidate, at=at)
    order = orders.get(document, 0)
    orders[document] = order + 1
    return Memory(
        id=identity,
        type=candidate.type,
        content=candidate.content,
        tags=candidate.tags,
        document=document,
        created_at=at,
        updated_at=at,
        provenance=_provenance(candidate),
        title=candidate.title,
        fields=candidate.fields,
        order=order,
    )


def _provenance(candidate: Candidate) -> dict[str, Any]:
    """The candidate's own provenance, and when its words were said."""
    return candidate.provenance if candidate.at is None else {**candidate.provenance, "at": candidate.at}


def _next_orders(memories: Iterable[Memory]) -> dict[str, int]:
    """The next free place inside each document."""
    orders: dict[str, int] = {}
    for memory in memories:
        orders[memory.document] = max(orders.get(memory.document, 0), memory.order + 1)
    return orders
