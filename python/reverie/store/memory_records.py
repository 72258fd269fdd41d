"""Typed records of memories and documents, and of what follows from them: archives, dreams, conflicts, cursors."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Literal, TypeVar

import msgspec
from msgspec import field

from reverie.models import MemoryType
from reverie.store.schema import Key, Kind
from reverie.store.typed_records import FailureRecord, StoredRecord

__all__ = [
    "AccessCursor",
    "AccessRecord",
    "ArchiveEntryRecord",
    "ArchiveRecord",
    "ArchivesCursor",
    "BackupEntry",
    "BackupsCursor",
    "BaselineRecord",
    "BatchEntry",
    "BatchedCall",
    "BatchesCursor",
    "CompactionCursor",
    "ConflictRecord",
    "DocumentRecord",
    "DreamRecord",
    "FingerprintRecord",
    "FingerprintsCursor",
    "ListedCursor",
    "MemoriesCursor",
    "MemoryRecord",
    "PendingPurge",
    "PurgesCursor",
    "RegionRecord",
    "RetiredRecord",
    "SpendRecord",
]

T = TypeVar("T")


class MemoryRecord(StoredRecord, frozen=True, kw_only=True, rename=None):
    """A memory; `reverie.models.Memory` has the same fields and explains them. Key: (memory,)."""

    KIND: ClassVar[Kind] = Kind.MEMORY
    OPTIONAL: ClassVar[tuple[str, ...]] = ("project",)
    KEEPS_UNKNOWN_FIELDS: ClassVar[bool] = True

    id: str
    type: MemoryType
    content: str
    tags: tuple[str, ...] = ()
    document: str
    created_at: str
    updated_at: str
    access_count: int = 0
    last_accessed_at: str | None = None
    trust: Literal["person", "agent", "engine"] = "engine"
    provenance: dict[str, Any] = field(default_factory=dict)
    title: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    order: int = 0
    project: str | None = None


class DocumentRecord(StoredRecord, frozen=True, kw_only=True):
    """A document: its redacted text, the SHA-256 of it, and the ids of its memory blocks in order.

    `size` is in bytes, `version` counts the puts since the document was made, from 1. Key: (path,).
    """

    KIND: ClassVar[Kind] = Kind.DOCUMENT

    path: str
    content: str
    sha256: str
    size: int
    version: int
    summary: str = ""
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
    body: str


class DreamRecord(StoredRecord, frozen=True, kw_only=True):
    """A dream: its archive, its tokens, and how many changes of each kind it made; or why a scheduled one failed.

    Memories are read in the order of the operation that wrote them, then of their ids. `through` is the last operation
    of which this dream or one before it has read a memory: all of them, or where `through_memory` is there, those up
    to this id. A dream that has read everything has its own operation there. `waiting` is how many memories it has
    left to the next one; of those before `through`, only the ones in `oversized` wait, because each of them alone
    exceeds the largest budget. A failed dream has `failure`, no archive, and the `through` of the dream before it, and
    counts for nothing else. Key: (dream,).
    """

    KIND: ClassVar[Kind] = Kind.DREAM
    OPTIONAL: ClassVar[tuple[str, ...]] = ("throughMemory", "failure")

    id: str
    at: str
    archive: str | None
    tokens_used: int
    token_budget: int
    trigger: str
    counts: dict[str, int] = field(default_factory=dict)
    operation: str
    proposals: list[dict[str, Any]] = field(default_factory=list)
    through: int
    through_memory: str | None = None
    waiting: int = 0
    oversized: list[str] = field(default_factory=list)
    failure: FailureRecord | None = None


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
    """The operation that last changed a memory; a consolidation planned before it is stale. Key: `KEY`."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("memories",)

    operation: int = 0


class ArchiveEntryRecord(msgspec.Struct, frozen=True, rename="camel"):
    """An archive as the index lists it."""

    sha256: str
    at: str
    entries: int


class ArchivesCursor(StoredRecord, frozen=True, kw_only=True):
    """Every archive of the space, oldest first. Key: `KEY`."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("archives",)

    archives: list[ArchiveEntryRecord] = field(default_factory=list)


class PendingPurge(msgspec.Struct, frozen=True, rename="camel"):
    """A purge that is under way: the memory, document or thread, by its key.

    `keep_memories`: what was learnt from the thread stays.
    """

    kind: Literal["memory", "document", "thread"]
    key: str
    keep_memories: bool = False


class PurgesCursor(StoredRecord, frozen=True, kw_only=True):
    """The purges that are under way, and the archives that they replaced, whose files have to go. Key: `KEY`."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("purges",)

    pending: list[PendingPurge] = field(default_factory=list)
    archives: list[str] = field(default_factory=list)


class CompactionCursor(StoredRecord, frozen=True, kw_only=True):
    """The time of the last purge whose bytes are still in the store's file. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("compaction",)

    since: str


class BackupEntry(msgspec.Struct, frozen=True):
    """A backup that was made: its path and time."""

    path: str
    at: str


class BackupsCursor(StoredRecord, frozen=True, kw_only=True):
    """The backups that were made, so that a purge can name those that have it. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("backups",)

    backups: list[BackupEntry] = field(default_factory=list)


class BatchedCall(msgspec.Struct, frozen=True):
    """A request of a batch: its id there, the day and the tokens that are reserved for it, and those that were sent."""

    call: str
    day: str
    tokens: int
    sent: int


class BatchEntry(msgspec.Struct, frozen=True):
    """A batch of requests to a model that was sent, or was about to be, and whose answers are not used yet.

    `provider` is the provider's id, empty until it is known. `calls` are the requests by their ids, `through` the last
    entry that was read of each thread.
    """

    id: str
    space: str
    at: str
    provider: str = ""
    calls: dict[str, BatchedCall] = {}
    through: dict[str, int] = {}


class BatchesCursor(StoredRecord, frozen=True, kw_only=True):
    """The batches of requests to a model that are under way. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("batches",)

    batches: list[BatchEntry] = field(default_factory=list)


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
    """A place of a conflict: the file's words, the store's, and the character at which the file has its own."""

    file: str
    store: str
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
    text: str
    regions: list[RegionRecord] = field(default_factory=list)
    opened_at: str
    operation: int
    opened_path: str | None = field(default=None, name="from")


class RetiredRecord(StoredRecord, frozen=True, kw_only=True):
    """The ids of deleted memories with one text, and when each was deleted. Key: (SHA-256 of the text,)."""

    KIND: ClassVar[Kind] = Kind.RETIRED

    ids: list[tuple[str, str]] = field(default_factory=list)


class FingerprintRecord(StoredRecord, frozen=True, kw_only=True):
    """The keyed hash of a redacted value; `reverie.redact.Fingerprint` explains the fields.

    Key: (slot,), in the system space.
    """

    KIND: ClassVar[Kind] = Kind.FINGERPRINT

    number: int
    hash: str
    length: int
    prefix: int
    marker: str


class FingerprintsCursor(StoredRecord, frozen=True, kw_only=True):
    """The key of the fingerprints, in hex. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("fingerprints",)

    salt: str


class SpendRecord(StoredRecord, frozen=True, kw_only=True):
    """The tokens and calls of requests to the model of one role on one UTC day. Key: (day, role), in the system space.

    `calls` are the requests that were sent, `failed` those of them that brought no answer. `cached_tokens` are those of
    `input_tokens` that the provider read from its cache. `reserved` has the requests whose end is not known, by id, and
    the most tokens that each may have used: written before it is sent, so that a process that is killed has sent
    nothing that is not counted.
    """

    KIND: ClassVar[Kind] = Kind.SPEND

    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reserved: dict[str, int] = field(default_factory=dict)
