"""Documents: the markdown files of a space, and the conflicts between two who changed one."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, field

from reverie.wire.base import Count, Reply, Request

__all__ = [
    "AppendEntry",
    "Conflict",
    "ConflictRegion",
    "ConflictText",
    "Document",
    "DocumentDeleted",
    "DocumentText",
    "IndexAnswer",
    "Patch",
    "PatchAnswer",
    "PatchDocument",
    "PutDocument",
    "Resolve",
    "Resolved",
    "SyncNow",
    "SyncOutcome",
    "SyncRefusal",
    "SyncStatus",
]

_PATCHES_MAX = 1000
Summary = Annotated[str, Meta(min_length=1, max_length=200)]
Keep: TypeAlias = Literal["file", "store", "both"]


class Document(Reply):
    """A file of the space's tree. `size` is in bytes; `etag` changes with every version."""

    path: str
    size: int
    etag: str
    updated_at: str
    version: int = 1
    summary: str = ""


class DocumentText(Document, kw_only=True):
    """A document with its text."""

    content: str


class PutDocument(Request):
    """`PUT /v1/documents/{path}`."""

    content: str
    summary: Summary | None = None


class Patch(Request):
    """One exact replacement: `oldText` stands in the document exactly once."""

    old_text: Annotated[str, Meta(min_length=1)]
    new_text: str


class PatchDocument(Request):
    """`POST /v1/documents/{path}/patch`: all of them, or none."""

    patches: Annotated[list[Patch], Meta(min_length=1, max_length=_PATCHES_MAX)]


class PatchAnswer(Reply):
    """How many patches were applied: all of them."""

    applied_count: Count
    etag: str
    version: int


class AppendEntry(Request):
    """`POST /v1/documents/{path}/append`: markdown for the end of a document; `summary` is its new summary line."""

    entry: Annotated[str, Meta(min_length=1)]
    summary: Summary | None = None


class DocumentDeleted(Reply):
    """A document that is gone with its memories; undo of `operation` brings both back."""

    path: str
    operation: str
    memories: Count = 0


class IndexAnswer(Reply):
    """The memory listing that opens an agent's first turn."""

    text: str
    items: list[Document] = field(default_factory=list)


class ConflictRegion(Reply):
    """Lines that both sides changed: what the file has, and what the store had."""

    file: str
    store: str


class Conflict(Reply):
    """A document that two changed in ways that do not go together. The file stayed; the other text is at `copy`."""

    id: str
    path: str
    copy: str | None
    opened_at: str
    reason: str
    operation: str | None = None
    regions: Count = 0


class ConflictText(Conflict, kw_only=True):
    """A conflict with both texts whole, and the places where they differ."""

    file_text: str
    store_text: str
    differences: list[ConflictRegion] = field(default_factory=list)


class Resolve(Request):
    """`POST /v1/conflicts/{id}/resolve`: keep one side, both, or give the text."""

    keep: Keep | None = None
    content: str | None = None


class Resolved(Reply):
    """A settled conflict, and the version that the document is at now."""

    id: str
    path: str
    etag: str | None = None
    operation: str | None = None


class SyncRefusal(Reply):
    """A file that is not read, and why; the rest goes on."""

    path: str
    reason: str
    hint: str = ""


class SyncStatus(Reply):
    """How a space's folder and its store stand to each other.

    `state` is `ok`, `stopped` (a person must say what is meant; `reason` and `hint` say how) or `starting`.
    """

    state: str
    root: str
    documents: Count
    pending: Count
    conflicts: Count
    missing: list[str] = field(default_factory=list)
    refused: list[SyncRefusal] = field(default_factory=list)
    reason: str | None = None
    hint: str | None = None
    last_scan_at: str | None = None
    watching: str = "events"


class SyncNow(Request):
    """`POST /v1/sync`: look at the folder now. `acceptDeletions` says that what is gone was meant to go.

    `acceptFolder` says that the folder there is the space's from now on, whatever became of the one before: files that
    are missing there are written, and no document is deleted.
    """

    accept_deletions: bool = False
    deep: bool = False
    accept_folder: bool = False


class SyncOutcome(Reply):
    """What one look at the folder led to."""

    read: Count
    adopted: Count
    written: Count
    deleted: Count
    conflicts: Count
    status: SyncStatus
