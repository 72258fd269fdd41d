"""Typed records of what waits for a person's decision, and of what was forgotten and is not to be learnt again."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import field

from reverie.models import MemoryType
from reverie.store.schema import Kind
from reverie.store.typed_records import StoredRecord

__all__ = ["CandidateRecord", "CandidateState", "ForgottenRecord", "PendingChange", "Reason"]

CandidateState: TypeAlias = Literal["waiting", "accepted", "rejected"]
Reason: TypeAlias = Literal["quarantined", "forgotten", "person", "contradiction", "large_deletion"]


class PendingChange(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A change of one memory that was not made: ADD (without `memory`), UPDATE or DELETE.

    `before` is the content of `memory` when the change was decided: it is made only while that is the same. The fields
    from `type` on are those of a new memory, as `reverie.models.Candidate` explains them.
    """

    action: Literal["ADD", "UPDATE", "DELETE"]
    memory: str | None = None
    before: str | None = None
    content: str = ""
    tags: tuple[str, ...] = ()
    type: MemoryType | None = None
    subject: Literal["user", "project"] = "project"
    title: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    at: str | None = None
    provenance: dict[str, Any] = field(default_factory=dict)
    project: str = ""


class CandidateRecord(StoredRecord, frozen=True, kw_only=True):
    """Changes that wait for a person, or did: accepted or rejected together. Key: (candidate,).

    `reason`: `quarantined` (from a tool's result, a web page, a paste), `forgotten` (near to a forgotten memory),
    `person` (of a person's words), `contradiction` (a wish that a newer one may exclude), `large_deletion` (a
    consolidation that would have deleted too many). `why` is a sentence for people. `result` are the ids of the
    memories that its acceptance wrote.
    """

    KIND: ClassVar[Kind] = Kind.CANDIDATE
    KEEPS_UNKNOWN_FIELDS: ClassVar[bool] = True

    id: str
    state: CandidateState = "waiting"
    reason: Reason
    why: str
    changes: list[PendingChange]
    created_at: str
    decided_at: str | None = None
    decided_by: str | None = None
    result: list[str] = field(default_factory=list)


class ForgottenRecord(StoredRecord, frozen=True, kw_only=True):
    """The statement of a deleted memory, so that the next session that says the same does not bring it back.

    `content` is empty after a purge: then only the same words are recognized. Key: (`sha256`,), that of its statement
    (`consolidate.review_rules.statement_key`).
    """

    KIND: ClassVar[Kind] = Kind.FORGOTTEN

    sha256: str
    memory: str
    content: str
    type: MemoryType
    project: str = ""
    by: str
    at: str
