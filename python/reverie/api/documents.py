"""Documents and their index, conflicts between files and the store, and the sync of the folder."""

from collections.abc import Sequence

from reverie.api.endpoint import Endpoint, at, sent
from reverie.wire import documents as types
from reverie.wire.base import ListQuery, NoQuery, Page


def _patch(patches: Sequence[tuple[str, str]]) -> types.PatchDocument:
    """Return exact texts and what replaces them, each of which occurs in the document once."""
    return types.PatchDocument([types.Patch(old, new) for old, new in patches])


def _folder() -> types.DeleteDocumentQuery:
    return types.DeleteDocumentQuery(folder=True)


class Documents:
    """Operations on documents. With an `etag`, Conflict if the document has another version now."""

    # fmt: off
    documents = Endpoint("GET /v1/documents", types.DocumentsQuery, Page[types.Document], "Lists the documents.")
    document = Endpoint("GET /v1/documents/{path:path}", at(types.DocumentQuery), types.DocumentText,
        "Returns a document with its text, the current one or after an operation.", etag=True)
    put_document = Endpoint("PUT /v1/documents/{path:path}", at(types.PutDocument), types.Document,
        "Writes a whole document.", etag=True)
    delete_document = Endpoint("DELETE /v1/documents/{path:path}", at(types.DeleteDocumentQuery),
        types.DocumentDeleted,
        "Deletes a document and its memories, with `folder` all below it; with `purge` for good.", etag=True)
    delete_folder = delete_document.like(at(_folder), types.DocumentDeleted,
        "Deletes every document below a folder, in one operation.")
    patch_document = Endpoint("POST /v1/documents/{path:path}/patch", at(_patch), types.PatchAnswer,
        "Replaces exact texts, all or none.", etag=True)
    append_entry = Endpoint("POST /v1/documents/{path:path}/append", at(types.AppendEntry), types.Document,
        "Appends an entry to a document.", etag=True)
    insert_lines = Endpoint("POST /v1/documents/{path:path}/insert", at(types.InsertLines), types.Document,
        "Inserts lines behind a line of a document.", etag=True)
    move_document = Endpoint("POST /v1/documents/{path:path}/move", at(types.MoveDocument), types.DocumentsMoved,
        "Moves a document, or a folder with all documents below it.")
    index = Endpoint("GET /v1/index", types.IndexQuery, types.IndexAnswer,
        "Returns the memory index for an agent's first turn.")
    conflicts = Endpoint("GET /v1/conflicts", ListQuery, Page[types.Conflict],
        "Lists the open conflicts between files and the store.")
    conflict = Endpoint("GET /v1/conflicts/{id}", at(NoQuery), types.ConflictText,
        "Returns one conflict with both texts.")
    resolve = Endpoint("POST /v1/conflicts/{id}/resolve", at(sent(types.Resolve)), types.Resolved,
        "Resolves a conflict.")
    sync_status = Endpoint("GET /v1/sync", NoQuery, types.SyncStatus, "Returns the sync status of the folder.")
    sync_now = Endpoint("POST /v1/sync", types.SyncNow, types.SyncOutcome, "Scans the folder now.", long=True)
