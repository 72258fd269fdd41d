"""Documents, the memories in them, and how a folder and its store stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import wire
from reverie.client.call import Call, get, send, target

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "append_entry",
    "change_memory",
    "conflict",
    "conflicts",
    "delete_document",
    "document",
    "documents",
    "forget",
    "index",
    "patch_document",
    "put_document",
    "remember",
    "resolve",
    "sync_now",
    "sync_status",
]


def documents(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.Document]]:
    """One page of the documents, without their text."""
    return get(wire.Page[wire.Document], "documents", limit=limit, after=after)


def document(path: str, *, at: str | None = None) -> Call[wire.DocumentText]:
    """A document with its text, now or as it was after operation `at`."""
    return get(wire.DocumentText, "documents", path, at=at)


def put_document(
    path: str, content: str, *, summary: str | None = None, etag: str | None = None
) -> Call[wire.Document]:
    """Write a document whole. `etag` is the version that was read: Conflict when it is another one now."""
    body = wire.PutDocument(content, summary)
    return send("PUT", target("documents", path), wire.Document, body, headers=_seen(etag))


def patch_document(
    path: str, patches: Sequence[tuple[str, str]], *, etag: str | None = None, key: str | None = None
) -> Call[wire.PatchAnswer]:
    """Replace exact texts, each of which stands in the document once: all of them, or none (Conflict)."""
    body = wire.PatchDocument([wire.Patch(old, new) for old, new in patches])
    return send("POST", target("documents", path, "patch"), wire.PatchAnswer, body, key=key, headers=_seen(etag))


def append_entry(path: str, entry: str, *, summary: str | None = None, key: str | None = None) -> Call[wire.Document]:
    """Put markdown at the end of a document, which is made where there is none."""
    body = wire.AppendEntry(entry, summary)
    return send("POST", target("documents", path, "append"), wire.Document, body, key=key)


def delete_document(path: str, *, etag: str | None = None) -> Call[wire.DocumentDeleted]:
    """Delete a document with its memories; undo brings both back."""
    return send("DELETE", target("documents", path), wire.DocumentDeleted, headers=_seen(etag))


def index() -> Call[wire.IndexAnswer]:
    """The memory listing that opens an agent's first turn."""
    return get(wire.IndexAnswer, "index")


def remember(body: wire.CreateMemory, *, key: str | None = None) -> Call[wire.Memory]:
    """Remember something, as a new block of the document that its type belongs to."""
    return send("POST", target("memories"), wire.Memory, body, key=key)


def change_memory(memory_id: str, body: wire.ChangeMemory) -> Call[wire.Memory]:
    """Other words or other tags for a memory."""
    return send("PATCH", target("memories", memory_id), wire.Memory, body)


def forget(memory_id: str) -> Call[wire.MemoryDeleted]:
    """Take a memory out of its document; undo brings it back."""
    return send("DELETE", target("memories", memory_id), wire.MemoryDeleted)


def conflicts(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.Conflict]]:
    """One page of the open conflicts between people's files and the store."""
    return get(wire.Page[wire.Conflict], "conflicts", limit=limit, after=after)


def conflict(conflict_id: str) -> Call[wire.ConflictText]:
    """One conflict with both texts."""
    return get(wire.ConflictText, "conflicts", conflict_id)


def resolve(conflict_id: str, body: wire.Resolve, *, key: str | None = None) -> Call[wire.Resolved]:
    """Settle a conflict: keep the file's text, the store's, both, or give the text."""
    return send("POST", target("conflicts", conflict_id, "resolve"), wire.Resolved, body, key=key)


def sync_status() -> Call[wire.SyncStatus]:
    """How the folder stands."""
    return get(wire.SyncStatus, "sync")


def sync_now(
    *, accept_deletions: bool = False, accept_folder: bool = False, deep: bool = False
) -> Call[wire.SyncOutcome]:
    """Look at the whole folder now, and wait until it and the store agree."""
    body = wire.SyncNow(accept_deletions=accept_deletions, accept_folder=accept_folder, deep=deep)
    return send("POST", target("sync"), wire.SyncOutcome, body, long=True)


def _seen(etag: str | None) -> dict[str, str]:
    return {} if etag is None else {"If-Match": etag if etag == "*" else f'"{etag}"'}
