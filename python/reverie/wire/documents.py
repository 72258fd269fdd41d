"""Documents (the markdown files of a space), conflicts between a file and the store, and the sync of the folder."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, field

from reverie.text_types import Text
from reverie.wire.base import Count, Id, ListQuery, OperationId, Purged, PurgeQuery, Reply, Request
from reverie.wire.spaces import Folder, ProjectText

PATCHES_MAX = 1_000  # replacements in one call that edits a document, over HTTP or by a tool
Summary = Annotated[Text, Meta(min_length=1, max_length=200)]
Keep: TypeAlias = Literal["file", "store", "both"]


class Document(Reply):
    """A document without its text. `size` is in bytes; `etag` changes with every version."""

    path: str
    size: int
    etag: str
    updated_at: str
    version: int = 1
    summary: str = ""


class DocumentText(Document, kw_only=True):
    """A document with its text."""

    content: str


class DocumentsQuery(ListQuery):
    """The query of `GET /v1/documents`: all documents, or those whose path begins with `prefix`."""

    prefix: Annotated[str, Meta(min_length=1, max_length=1024, description="How the paths begin: `facts/`.")] | None = (
        None
    )


class DocumentQuery(Request):
    """The query of `GET /v1/documents/{path}`: the text as it was after the operation `at`, not the current one."""

    at: OperationId | None = None


class PutDocument(Request):
    """Body of `PUT /v1/documents/{path}`: the whole text. New memories are of `project`, a name or a folder's path.

    With `agent` the text is that agent's, and what a person forgot is refused to it.
    """

    content: Text
    summary: Summary | None = None
    project: ProjectText | None = None
    agent: Id | None = None


class Patch(Request):
    """One exact replacement: `oldText` must occur in the document exactly once."""

    old_text: Annotated[Text, Meta(min_length=1)]
    new_text: Text


class PatchDocument(Request):
    """Body of `POST /v1/documents/{path}/patch`: all replacements are made, or none."""

    patches: Annotated[list[Patch], Meta(min_length=1, max_length=PATCHES_MAX)]


class PatchAnswer(Reply):
    """Result of a patch: how many replacements were made, and the new version."""

    applied_count: Count
    etag: str
    version: int


class AppendEntry(Request):
    """Body of `POST /v1/documents/{path}/append`: markdown to append; `summary` is the document's new summary line."""

    entry: Annotated[Text, Meta(min_length=1)]
    summary: Summary | None = None


class InsertLines(Request):
    """Body of `POST /v1/documents/{path}/insert`: lines to insert behind line `line`; 0 is the beginning."""

    line: Count
    text: Text


class MoveDocument(Request):
    """Body of `POST /v1/documents/{path}/move`: the new path of a document, or of a folder with all that is in it."""

    to: Annotated[str, Meta(min_length=1, max_length=1024)]


class DocumentsMoved(Reply):
    """A moved document or folder; undo of `operation` moves it back. `documents` are the new paths."""

    path: str
    to: str
    operation: str
    documents: list[str]


class DeleteDocumentQuery(PurgeQuery):
    """The query of `DELETE /v1/documents/{path}`."""

    folder: Annotated[bool, Meta(description="The path is a folder: delete every document below it.")] = False


class DocumentDeleted(Reply):
    """A deleted document or folder; undo of `operation` restores it, unless it was `purged`.

    `documents` and `memories` are how many were deleted.
    """

    path: str
    operation: str
    memories: Count = 0
    purged: Purged | None = None
    documents: Count = 1


class IndexQuery(Request):
    """The query of `GET /v1/index`.

    With a `project`, its documents and the person's; with a `folder`, those of its project where it has a known one.
    `allProjects` asks for every document whatever the two say, as a query without them does.
    """

    project: ProjectText | None = None
    folder: Folder | None = None
    all_projects: bool = False


class IndexAnswer(Reply):
    """The memory index for an agent's first turn; `project` is the one whose documents it lists beside the person's."""

    text: str
    items: list[Document] = field(default_factory=list)
    project: str | None = None


class ConflictRegion(Reply):
    """One place of a conflict: the text in the file, and the text that the store had."""

    file: str
    store: str


class Conflict(Reply):
    """A document whose file and stored text were changed in the same place. The store's text is at `copy`."""

    id: str
    path: str
    copy: str | None
    opened_at: str
    reason: str
    operation: str | None = None
    regions: Count = 0


class ConflictText(Conflict, kw_only=True):
    """A conflict with both whole texts, and the places where they differ."""

    file_text: str
    store_text: str
    differences: list[ConflictRegion] = field(default_factory=list)


class Resolve(Request):
    """Body of `POST /v1/conflicts/{id}/resolve`: keep one side, both, or give the text."""

    keep: Keep | None = None
    content: Text | None = None


class Resolved(Reply):
    """A resolved conflict, and the document's version after it."""

    id: str
    path: str
    etag: str | None = None
    operation: str | None = None


class SyncRefusal(Reply):
    """A file that is not synced, and why; all other files are."""

    path: str
    reason: str
    hint: str = ""


class LeftOutLines(Reply):
    """Lines that a person's save lacks although its writer may not have seen them: the file has won.

    Or `memories` of a file that moved out of `facts/` or `episodes/`: it has its lines, and they are memories no more.

    `first` is the first of them, at most 80 characters; `undo` the command that brings them back; all else that the
    save changed stays.
    """

    path: str
    lines: Count
    first: str
    operation: str
    at: str
    undo: str
    memories: Count = 0


class SyncStatus(Reply):
    """Sync status of a space's folder.

    `state` is `ok`, `starting`, `stopped` (a person must decide) or `blocked` (the folder is full or read-only: saves
    are read, and what agents write waits in the store); `reason` and `hint` say what to do. `missing` are files that
    are gone, `older` those with the text of an earlier version, as after an older folder was put back. `watching` is
    how changes of files are noticed: by `events`, or by periodic `scans`, every few seconds; `watching_hint` then says
    how to raise the limit of the system, if that is why. `left_out` names the saves that left lines out.
    """

    state: str
    root: str
    documents: Count
    pending: Count
    conflicts: Count
    missing: list[str] = field(default_factory=list)
    older: list[str] = field(default_factory=list)
    refused: list[SyncRefusal] = field(default_factory=list)
    reason: str | None = None
    hint: str | None = None
    last_scan_at: str | None = None
    watching: str = "events"
    watching_hint: str | None = None
    left_out: list[LeftOutLines] = field(default_factory=list)


class SyncNow(Request):
    """Body of `POST /v1/sync`: scan the folder now. `acceptDeletions` confirms that missing files were deleted.

    `acceptFolder` makes the folder that is there the space's, whatever happened to the one before: files that are
    missing there are written, and no document is deleted. `acceptOlder` takes the texts of an older folder that was put
    back, and what is missing there as deleted; `putBack` writes the stored texts over them. An agent's token may give
    none of these. `deep` compares the bytes of unchanged files too.
    """

    accept_deletions: bool = False
    deep: bool = False
    accept_folder: bool = False
    accept_older: bool = False
    put_back: bool = False


class SyncOutcome(Reply):
    """Counts of one scan, and the sync status after it."""

    read: Count
    adopted: Count
    written: Count
    deleted: Count
    conflicts: Count
    status: SyncStatus
