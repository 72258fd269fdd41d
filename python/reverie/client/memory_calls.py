"""Calls about memories and documents: create, change, list, search, delete them; conflicts and the folder's sync."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from reverie import wire
from reverie.client.http import Call, get, request, target

if TYPE_CHECKING:
    from collections.abc import Sequence


def documents(
    *, limit: int = wire.LIMIT_DEFAULT, after: str | None = None, prefix: str | None = None
) -> Call[wire.Page[wire.Document]]:
    """Return one page of the documents, without their text; with `prefix` those whose path begins so."""
    return get(wire.Page[wire.Document], "documents", limit=limit, after=after, prefix=prefix)


def document(path: str, *, at: str | None = None) -> Call[wire.DocumentText]:
    """Return a document with its text: the current version, or the one after operation `at`."""
    return get(wire.DocumentText, "documents", path, at=at)


def put_document(
    path: str,
    content: str,
    *,
    summary: str | None = None,
    etag: str | None = None,
    project: str | None = None,
    agent: str | None = None,
) -> Call[wire.Document]:
    """Write a whole document. `etag` is the version that was read: Conflict if the document has another one now.

    New memories are of `project`: a name, or the absolute path of a folder that is in it. With `agent` the text is an
    agent's of this name: Conflict if it says what a person forgot.
    """
    body = wire.PutDocument(content, summary, project, agent)
    return request("PUT", target("documents", path), wire.Document, body, headers=_if_match(etag))


def patch_document(
    path: str, patches: Sequence[tuple[str, str]], *, etag: str | None = None, key: str | None = None
) -> Call[wire.PatchAnswer]:
    """Replace exact texts, each of which occurs in the document once: all of them, or none (Conflict)."""
    body = wire.PatchDocument([wire.Patch(old, new) for old, new in patches])
    return request("POST", target("documents", path, "patch"), wire.PatchAnswer, body, key=key, headers=_if_match(etag))


def append_entry(path: str, entry: str, *, summary: str | None = None, key: str | None = None) -> Call[wire.Document]:
    """Append markdown to a document, which is created if there is none."""
    body = wire.AppendEntry(entry, summary)
    return request("POST", target("documents", path, "append"), wire.Document, body, key=key)


def delete_document(path: str, *, etag: str | None = None, purge: bool = False) -> Call[wire.DocumentDeleted]:
    """Delete a document with its memories; undo restores both, unless `purge` removes them for good."""
    url = target("documents", path, purge=purge or None)
    return request("DELETE", url, wire.DocumentDeleted, headers=_if_match(etag), long=purge)


def delete_folder(path: str) -> Call[wire.DocumentDeleted]:
    """Delete every document below a folder, in one operation; undo restores them all."""
    return request("DELETE", target("documents", path, folder=True), wire.DocumentDeleted)


def insert_lines(
    path: str, line: int, text: str, *, etag: str | None = None, key: str | None = None
) -> Call[wire.Document]:
    """Insert lines after line `line` of a document; 0 is its beginning."""
    body = wire.InsertLines(line, text)
    return request("POST", target("documents", path, "insert"), wire.Document, body, key=key, headers=_if_match(etag))


def move_document(path: str, to: str, *, key: str | None = None) -> Call[wire.DocumentsMoved]:
    """Move a document with its memories, or a folder with all documents below it, in one operation."""
    return request("POST", target("documents", path, "move"), wire.DocumentsMoved, wire.MoveDocument(to), key=key)


def index(
    *, project: str | None = None, folder: str | None = None, all_projects: bool = False
) -> Call[wire.IndexAnswer]:
    """Return the listing of memory files for an agent's first turn; with a `project`, of its files and the person's.

    With a `folder`, that of its project where it has a known one.
    """
    return get(wire.IndexAnswer, "index", project=project, folder=folder, allProjects=all_projects or None)


def conflicts(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.Conflict]]:
    """Return one page of the open conflicts between files and the store."""
    return get(wire.Page[wire.Conflict], "conflicts", limit=limit, after=after)


def conflict(conflict_id: str) -> Call[wire.ConflictText]:
    """Return one conflict with both texts."""
    return get(wire.ConflictText, "conflicts", conflict_id)


def resolve(conflict_id: str, body: wire.Resolve, *, key: str | None = None) -> Call[wire.Resolved]:
    """Resolve a conflict: keep the file's text, the store's, both, or give the text."""
    return request("POST", target("conflicts", conflict_id, "resolve"), wire.Resolved, body, key=key)


def sync_status() -> Call[wire.SyncStatus]:
    """Return the sync status of the folder."""
    return get(wire.SyncStatus, "sync")


def sync_now(
    *,
    accept_deletions: bool = False,
    accept_folder: bool = False,
    accept_older: bool = False,
    put_back: bool = False,
    deep: bool = False,
) -> Call[wire.SyncOutcome]:
    """Scan the whole folder now, and wait until it and the store are in sync."""
    body = wire.SyncNow(
        accept_deletions=accept_deletions,
        accept_folder=accept_folder,
        accept_older=accept_older,
        put_back=put_back,
        deep=deep,
    )
    return request("POST", target("sync"), wire.SyncOutcome, body, long=True)


def _if_match(etag: str | None) -> dict[str, str]:
    return {} if etag is None else {"If-Match": etag if etag == "*" else f'"{etag}"'}


def remember(body: wire.CreateMemory, *, key: str | None = None) -> Call[wire.RememberedMemory]:
    """Create a memory, as a new block of the document for its type; or return the same one, where it is there."""
    return request("POST", target("memories"), wire.RememberedMemory, body, key=key)


def change_memory(memory_id: str, body: wire.ChangeMemory) -> Call[wire.Memory]:
    """Change the content or the tags of a memory."""
    return request("PATCH", target("memories", memory_id), wire.Memory, body)


def forget(memory_id: str, *, purge: bool = False) -> Call[wire.MemoryDeleted]:
    """Delete a memory from its document; undo restores it, unless `purge` removes it for good."""
    url = target("memories", memory_id, purge=purge or None)
    return request("DELETE", url, wire.MemoryDeleted, long=purge)


def memories(
    *,
    kind: wire.MemoryKind | None = None,
    tag: str | None = None,
    limit: int = wire.LIMIT_DEFAULT,
    after: str | None = None,
    project: str | None = None,
    folder: str | None = None,
    all_projects: bool = False,
) -> Call[wire.MemoryPage]:
    """Return one page of the memories, all or of one type or with one tag; with a `project`, its and the person's."""
    return get(
        wire.MemoryPage,
        "memories",
        type=kind,
        tag=tag,
        limit=limit,
        after=after,
        project=project,
        folder=folder,
        allProjects=all_projects or None,
    )


def memory(memory_id: str) -> Call[wire.Memory]:
    """Return one memory by its id."""
    return get(wire.Memory, "memories", memory_id)


def memory_history(memory_id: str) -> Call[wire.Page[wire.MemoryVersion]]:
    """Return every version of a memory with the operation that wrote it."""
    return get(wire.Page[wire.MemoryVersion], "memories", memory_id, "history")


def recall(
    query: str,
    *,
    limit: int = wire.RECALL_LIMIT_DEFAULT,
    token_budget: int | None = None,
    types: Sequence[wire.MemoryKind] | None = None,
    tags: Sequence[str] | None = None,
    project: str | None = None,
    folder: str | None = None,
    all_projects: bool = False,
    min_score: float | None = None,
    peek: bool = False,
) -> Call[wire.RecallAnswer]:
    """Search the memories; return the best first, each with the reason. Counts as an access of each, or is a `peek`.

    With a `project`, among its memories and the person's; with a `folder`, those of its project where it is known.
    """
    body = wire.RecallRequest(
        query,
        limit,
        token_budget,
        None if types is None else list(types),
        None if tags is None else list(tags),
        project,
        folder,
        all_projects,
        min_score,
        peek,
    )
    return request("POST", target("recall"), wire.RecallAnswer, body)


def candidates(
    *,
    state: Literal["waiting", "accepted", "rejected", "all"] = "waiting",
    limit: int = wire.LIMIT_DEFAULT,
    after: str | None = None,
) -> Call[wire.Page[wire.Candidate]]:
    """Return one page of what waits for a person's decision, oldest first; or of what was decided."""
    return get(wire.Page[wire.Candidate], "candidates", state=state, limit=limit, after=after)


def candidate(candidate_id: str) -> Call[wire.Candidate]:
    """Return one candidate."""
    return get(wire.Candidate, "candidates", candidate_id)


def accept_candidate(candidate_id: str, *, key: str | None = None) -> Call[wire.CandidateDecided]:
    """Make the changes of a candidate; only a person may, and undo takes them back."""
    return request("POST", target("candidates", candidate_id, "accept"), wire.CandidateDecided, key=key)


def reject_candidate(candidate_id: str, *, key: str | None = None) -> Call[wire.CandidateDecided]:
    """Make none of a candidate's changes; the same is not asked again."""
    return request("POST", target("candidates", candidate_id, "reject"), wire.CandidateDecided, key=key)
