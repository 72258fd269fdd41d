"""What is known, how it came about, and what of it answers a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import wire
from reverie.client.call import Call, get, send, target

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["memories", "memory", "memory_history", "recall"]


def memories(
    *,
    kind: wire.MemoryKind | None = None,
    tag: str | None = None,
    limit: int = wire.LIMIT_DEFAULT,
    after: str | None = None,
) -> Call[wire.Page[wire.Memory]]:
    """One page of the memories, of one type or with one tag when asked."""
    return get(wire.Page[wire.Memory], "memories", type=kind, tag=tag, limit=limit, after=after)


def memory(memory_id: str) -> Call[wire.Memory]:
    """One memory."""
    return get(wire.Memory, "memories", memory_id)


def memory_history(memory_id: str) -> Call[wire.Page[wire.MemoryVersion]]:
    """Every version of a memory with the operation that made it."""
    return get(wire.Page[wire.MemoryVersion], "memories", memory_id, "history")


def recall(
    query: str,
    *,
    limit: int = wire.RECALL_LIMIT_DEFAULT,
    token_budget: int | None = None,
    types: Sequence[wire.MemoryKind] | None = None,
    tags: Sequence[str] | None = None,
) -> Call[wire.RecallAnswer]:
    """The memories that answer a query, best first, each with why. Counts as an access."""
    body = wire.RecallRequest(
        query, limit, token_budget, None if types is None else list(types), None if tags is None else list(tags)
    )
    return send("POST", target("recall"), wire.RecallAnswer, body)
