"""Candidates that wait for a person: what they would change, and how they were decided."""

from typing import Literal, TypeAlias

from msgspec import field

from reverie.models import Json
from reverie.wire.base import ListQuery, Reply
from reverie.wire.memories import MemoryKind

__all__ = ["Candidate", "CandidateDecided", "CandidateQuery", "CandidateState", "PendingChange"]

CandidateState: TypeAlias = Literal["waiting", "accepted", "rejected"]


class CandidateQuery(ListQuery):
    """Query of `GET /v1/candidates`: those that wait, or `?state=accepted`, `rejected` or `all`."""

    state: Literal["waiting", "accepted", "rejected", "all"] = "waiting"


class PendingChange(Reply):
    """A change that waits: ADD of a new memory, UPDATE or DELETE of `memory`, which had the content `before`.

    `stale`: the memory has other words by now, so this change would not be made.
    """

    action: Literal["ADD", "UPDATE", "DELETE"]
    memory: str | None = None
    before: str | None = None
    content: str | None = None
    type: MemoryKind | None = None
    tags: list[str] = field(default_factory=list)
    title: str | None = None
    fields: dict[str, str] = field(default_factory=dict)
    project: str | None = None
    provenance: dict[str, Json] = field(default_factory=dict)
    stale: bool = False


class Candidate(Reply):
    """Changes of memories that only a person may make; accepted or rejected together.

    `reason`: `quarantined` (the words of a tool's result, a web page, a paste), `forgotten` (near to what was
    forgotten), `person` (it changes a person's words), `contradiction` (a wish that a newer one may exclude),
    `large_deletion` (a consolidation that would have deleted more than a fifth of the memories). `memories` are those
    that its acceptance wrote.
    """

    id: str
    state: CandidateState
    reason: Literal["quarantined", "forgotten", "person", "contradiction", "large_deletion"]
    why: str
    changes: list[PendingChange]
    created_at: str
    decided_at: str | None = None
    decided_by: str | None = None
    memories: list[str] = field(default_factory=list)


class CandidateDecided(Reply):
    """A candidate after it was accepted or rejected; undo of `operation` lets it wait again.

    `stale` are memories that were not changed, because they have other words by now.
    """

    id: str
    state: CandidateState
    operation: str
    memories: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
