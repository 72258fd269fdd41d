"""Candidates and the memories they meet to records and texts ready to be written."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any

from reverie import consolidate, ids, projections, tokens
from reverie.consolidate import Decision
from reverie.documents.lines import clean
from reverie.models import Add, Candidate, Delete, Keep, Memory, Skip, Update
from reverie.store.codec import to_ms
from reverie.usecases.consolidation import MemoryPlan, Shelf
from reverie.usecases.decide import texts
from reverie.usecases.records import record, value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.models import Change
    from reverie.redact import Redactor

__all__ = ["carry_out", "decide"]

ID_RANDOM_BYTES = 10


def decide(
    given: Shelf,
    candidates: Sequence[Candidate],
    *,
    redactor: Redactor,
    at: str,
    random: bytes,
    thread: dict[str, Any] | None = None,
) -> MemoryPlan:
    """The changes that `candidates` make, as records and texts ready to be written; pure.

    `random` seeds the ids of new memories; `thread`'s id and project go into their provenance.
    """
    existing = [value(Memory, held) for held in given.memories]
    told = [_clean(candidate, redactor, thread) for candidate in candidates]
    told = [candidate for candidate in told if clean(candidate.content)]  # others could not be written down
    tier = consolidate.tier(tokens.count(projections.long_term_memory(existing).decode()), given.window)
    decision = consolidate.decide(told, existing, tier)
    after = consolidate.apply(decision.changes, existing, told, at=at, new_ids=_ids(at, random))
    return _plan(given, existing, after, decision, candidates=len(told), tier=tier.value, day=at[:10])


def carry_out(given: Shelf, changes: Sequence[Change], *, at: str) -> MemoryPlan:
    """Changes that were decided elsewhere, as records and texts ready to be written; pure."""
    existing = [value(Memory, held) for held in given.memories]
    after = consolidate.apply(changes, existing, at=at, new_ids=())
    return _plan(given, existing, after, Decision(tuple(changes)), candidates=0, tier="", day=at[:10])


def _plan(
    given: Shelf,
    existing: Sequence[Memory],
    after: Sequence[Memory],
    decision: Decision,
    *,
    candidates: int,
    tier: str,
    day: str,
) -> MemoryPlan:
    before = {memory.id: memory for memory in existing}
    put = [memory for memory in after if before.get(memory.id) != memory]
    gone = [before[name] for name in sorted(set(before) - {memory.id for memory in after})]
    documents, placed = texts.edited(given.documents, put, gone, day=day)
    added = iter([memory.id for memory in after if memory.id not in before])
    return MemoryPlan(
        operation=given.operation,
        candidates=candidates,
        tier=tier,
        put=[record(memory) for memory in placed],
        deleted=[memory.id for memory in gone],
        documents=documents,
        changes=[_worded(change, added) for change in decision.changes],
        proposals=[{"change": _worded(item.change, added), "why": item.why} for item in decision.proposals],
        counts=dict(Counter(change.action for change in decision.changes)),
        archived=[{"type": memory.type.value, "content": memory.content, "tags": list(memory.tags)} for memory in put],
    )


def _clean(candidate: Candidate, redactor: Redactor, thread: dict[str, Any] | None) -> Candidate:
    """The candidate without secrets, its words decided upon only after that; and where it was read.

    One memory serves many projects: what was said of "this project" names it, and carries its name as a tag.
    """
    told, _ = redactor.value(record(candidate))
    if thread is not None:
        told["provenance"] = {"thread": thread["id"], **told["provenance"]}
        project = redactor.text(thread["project"] or "")
        if project and candidate.subject == "project":
            told["provenance"]["project"] = project
            told["content"] = told["content"].replace("this project", f"the project {project}")
            told["tags"] = list(dict.fromkeys([*told["tags"], project.lower()]))
    return value(Candidate, told)


def _ids(at: str, random: bytes) -> Iterator[str]:
    """New ids, as many as are asked for: the time of the run, and a number drawn from `random` that is counted up.

    So the memories of one run sort as they were found, the same in every store: where two answer a query equally well,
    the order of their ids decides which comes first.
    """
    moment = to_ms(at)
    drawn = hashlib.sha256(random).digest()[:ID_RANDOM_BYTES]
    for number in count(int.from_bytes(drawn, "big") >> 1):
        yield ids.new_id("mem", moment, number.to_bytes(ID_RANDOM_BYTES, "big"))


def _worded(change: Change, added: Iterator[str]) -> dict[str, Any]:
    """A change as `003_…` writes it."""
    match change:
        case Keep() | Delete():
            return {"action": change.action, "id": change.id}
        case Update():
            return {"action": "UPDATE", "id": change.id, "content": change.content, "tags": list(change.tags)}
        case Add():
            new = change.candidate
            return {
                "action": "ADD",
                "type": new.type.value,
                "content": new.content,
                "tags": list(new.tags),
                "id": next(added),
            }
        case Skip():
            return {"action": "SKIP", "candidateIndex": change.candidate_index}
