"""Calls about memories: create, change, list, search and delete them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from reverie import wire
from reverie.client.protocol import Call, get, request, target

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "accept_candidate",
    "candidate",
    "candidates",
    "change_memory",
    "forget",
    "memories",
    "memory",
    "memory_history",
    "recall",
    "reject_candidate",
    "remember",
]


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
    """Return one memory."""
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
