"""Typed records of memories, documents, dreams and conflicts, and of candidates that wait for a person."""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import field

from reverie.models import Memory, MemoryType
from reverie.store.kinds import Key, Kind
from reverie.store.records import FailureRecord, StoredRecord
from reverie.text_types import Decision, DerivedText, Provenance, Text, Words

T = TypeVar("T")

CandidateState: TypeAlias = Literal["waiting", "accepted", "rejected"]
Reason: TypeAlias = Literal["quarantined", "forgotten", "person", "contradiction", "large_deletion"]


class MemoryRecord(Memory, StoredRecord, frozen=True, kw_only=True, rename=None):
    """A memory as it is stored. Key: (memory,)."""

    KIND: ClassVar[Kind] = Kind.MEMORY
    OPTIONAL: ClassVar[tuple[str, ...]] = ("project",)
    KEEPS_UNKNOWN_FIELDS: ClassVar[bool] = True


class DocumentRecord(StoredRecord, frozen=True, kw_only=True):
    """A document: its redacted text, the SHA-256 of it, and the ids of its memory blocks in order.

    `size` is in bytes, `version` counts the puts since the document was made, from 1. Key: (path,).
    """

    KIND: ClassVar[Kind] = Kind.DOCUMENT

    path: Text
    content: Text
    sha256: str
    size: int
    version: int
    summary: Text = ""
    ids: list[str] = field(default_factory=list)
    updated_at: str


class ArchiveRecord(StoredRecord, frozen=True, kw_only=True):
    """The canonical JSON of a distillation or dream, as text in `body`; `size` is in bytes. Key: (sha256,)."""

    KIND: ClassVar[Kind] = Kind.ARCHIVE

    sha256: str
    kind: str
    ref: str
    at: str
    size: int
    entries: int
    body: DerivedText


class DreamRecord(StoredRecord, frozen=True, kw_only=True):
    """A dream: its archive, its tokens, and how many changes of each kind it made; or why a scheduled one failed.

    Memories are read in the order of the operation that wrote them, then of their ids. `through` is the last operation
    of which this dream or one before it has read a memory: all of them, or where `through_memory` is there, those up
    to this id. A dream that has read everything has its own operation there. `waiting` is how many memories it has
    left to the next one; of those before `through`, only the ones in `oversized` wait, because each of them alone
    exceeds the largest budget. A failed dream has `failure`, no archive, and the `through` of the dream before it, and
    counts for nothing else. `fallback` is what a model was asked for and did not decide, and why. Key: (dream,).
    """

    KIND: ClassVar[Kind] = Kind.DREAM
    OPTIONAL: ClassVar[tuple[str, ...]] = ("throughMemory", "failure", "fallback")

    id: str
    at: str
    archive: str | None
    tokens_used: int
    token_budget: int
    trigger: str
    counts: dict[str, int] = field(default_factory=dict)
    operation: str
    proposals: list[Decision] = field(default_factory=list)
    through: int
    through_memory: str | None = None
    waiting: int = 0
    oversized: list[str] = field(default_factory=list)
    failure: FailureRecord | None = None
    fallback: DerivedText | None = None


class BaselineRecord(StoredRecord, Generic[T], frozen=True, kw_only=True):
    """The last agreed state of a path between folder and store.

    Generic, so that the JSON is decoded straight into the type that sync works with, which the store does not know:
    `reader.load(BaselineRecord[Baseline], (path,))`. `save` takes any record of it. Key: (path,).
    """

    KIND: ClassVar[Kind] = Kind.BASELINE

    path: str
    baseline: T = field(name="known")
    at: str


class MemoriesCursor(StoredRecord, frozen=True, kw_only=True):
    """The last operation that changed a memory; a consolidation planned before it is stale. Key: `KEY`."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("memories",)

    operation: int = 0


class ArchiveEntryRecord(msgspec.Struct, frozen=True, rename="camel"):
    """An archive as the index lists it."""

    sha256: str
    at: str
    entries: int


class ArchivesCursor(StoredRecord, frozen=True, kw_only=True):
    """Every archive of the space, oldest first; `named` once each was found to be what its name says. Key: `KEY`."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    OPTIONAL: ClassVar[tuple[str, ...]] = ("named",)
    KEY: ClassVar[Key] = ("archives",)

    archives: list[ArchiveEntryRecord] = field(default_factory=list)
    named: bool = False


class ListedCursor(StoredRecord, frozen=True, kw_only=True):
    """The paths that MEMORY.md lists in lines that Reverie wrote. Key: `KEY`."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("listed",)

    paths: list[str] = field(default_factory=list)


class AccessRecord(StoredRecord, frozen=True, kw_only=True):
    """The number of recalls of a memory and the time of the last; a recall is no operation. Key: (memory,)."""

    KIND: ClassVar[Kind] = Kind.ACCESS

    count: int = 0
    at: str | None = None


class AccessCursor(StoredRecord, frozen=True, kw_only=True):
    """The last batch of access counts that process `run` wrote. Key: `KEY`."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("accesses",)

    run: str = ""
    batch: int = 0


class RegionRecord(msgspec.Struct, frozen=True, rename="camel"):
    """One disputed region of a conflict: the file's words, the store's, and the character offset of the file's."""

    file: DerivedText
    store: DerivedText
    at: int | None = None


class ConflictRecord(StoredRecord, frozen=True, kw_only=True):
    """An open conflict between a person's file at `path` and the store's text, kept at `copy`.

    `operation` opened it. `opened_path` is where the document was then, None while it is still there. Key: (conflict,).
    """

    KIND: ClassVar[Kind] = Kind.CONFLICT
    OPTIONAL: ClassVar[tuple[str, ...]] = ("from",)
    KEEPS_UNKNOWN_FIELDS: ClassVar[bool] = True

    id: str
    path: str
    copy: str
    text: DerivedText
    regions: list[RegionRecord] = field(default_factory=list)
    opened_at: str
    operation: int
    opened_path: str | None = field(default=None, name="from")


class RetiredRecord(StoredRecord, frozen=True, kw_only=True):
    """The ids of deleted memories with one text, and when each was deleted. Key: (SHA-256 of the text,)."""

    KIND: ClassVar[Kind] = Kind.RETIRED

    ids: list[tuple[str, str]] = field(default_factory=list)


class PendingChange(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A change of one memory that waits to be decided: ADD (without `memory`), UPDATE or DELETE.

    `before` is the content of `memory` when the change was decided: it is made only while that is the same. The fields
    from `type` on are those of a new memory, as `reverie.models.Candidate` explains them.
    """

    action: Literal["ADD", "UPDATE", "DELETE"]
    memory: str | None = None
    before: DerivedText | None = None
    content: DerivedText = ""
    tags: tuple[DerivedText, ...] = ()
    type: MemoryType | None = None
    subject: Literal["user", "project"] = "project"
    title: DerivedText | None = None
    fields: Annotated[tuple[tuple[str, str], ...], Words(derived=True)] = ()
    at: str | None = None
    provenance: Provenance = field(default_factory=dict)
    project: str = ""


class CandidateRecord(StoredRecord, frozen=True, kw_only=True):
    """Changes that wait for a person or were decided by one, accepted or rejected together. Key: (candidate,).

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
    why: DerivedText
    changes: list[PendingChange]
    created_at: str
    decided_at: str | None = None
    decided_by: str | None = None
    result: list[str] = field(default_factory=list)


class ForgottenRecord(StoredRecord, frozen=True, kw_only=True):
    """The statement of a deleted memory, so that the next session that says the same does not bring it back.

    `content` is empty after a purge: then only the same words are recognized. `memory` is empty where a person rejected
    it in review: then the same words wait, and are not dropped. Key: (`sha256`,), that of its statement
    (`consolidate.forgotten.statement_key`), or of that and of its project, and then `words` is that of
    its statement. `threads` are those that an agent's removal concerns, None where a person forgot it. With `replaced`
    the memory lives, and a person has given it other words: then only the same words are not learnt again.
    """

    KIND: ClassVar[Kind] = Kind.FORGOTTEN
    OPTIONAL: ClassVar[tuple[str, ...]] = ("words", "threads", "replaced")

    sha256: str
    memory: str
    content: DerivedText
    type: MemoryType
    project: str = ""
    by: str
    at: str
    words: str | None = None
    threads: list[str] | None = None
    replaced: bool | None = None
