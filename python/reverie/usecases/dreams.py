"""Dreams: what is new since the last one, distilled under a token budget, archived and indexed in one operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from reverie import tokens
from reverie.errors import Conflict
from reverie.store import Kind, Write
from reverie.usecases import consolidation
from reverie.usecases.consolidation import MemoryPlan, Shelf
from reverie.usecases.ledger import spent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.store import Reader, Writer

__all__ = ["DreamJob", "DreamOutcome", "answer", "commit", "snapshot"]


class DreamJob(msgspec.Struct):
    """A snapshot: the memories, which of them are new, and how many tokens may be used."""

    shelf: Shelf
    fresh: list[str]  # ids of memories that changed since the last dream
    last: str | None  # the last dream's id
    budget: int
    at: str
    literals: list[str] = []


class DreamOutcome(msgspec.Struct):
    """What a dream will write; `archive` is None where there was nothing to dream about."""

    last: str | None
    budget: int
    memories: MemoryPlan
    archive: bytes | None = None
    sha256: str | None = None
    tokens_used: int = 0
    sources: list[str] = []


def snapshot(
    reader: Reader, *, token_budget: int | None, max_token_budget: int, window: int, literals: Sequence[str], at: str
) -> DreamJob:
    """Reads what a dream is decided from. A budget above the maximum is the maximum; none at all is it too."""
    last = reader.last(Kind.DREAM)
    since = last[1]["through"] if last else 0
    fresh = [str(key[0]) for key, _ in reader.scan(Kind.MEMORY) if (reader.version(Kind.MEMORY, key) or 0) > since]
    return DreamJob(
        shelf=consolidation.shelf(reader, window=window),
        fresh=fresh,
        last=str(last[0][0]) if last else None,
        budget=max_token_budget if token_budget is None else min(token_budget, max_token_budget),
        at=at,
        literals=list(literals),
    )


def commit(
    plan: DreamOutcome,
    *,
    space: str,
    who: str,
    dream_id: str,
    trigger: str,
    at: str,
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Writes a dream whole: memories, documents, archive, index, ledger and events in one operation.

    The body raises Conflict with `details["stale"]` when another dream, or a change of a memory, came between.
    """

    def body(writer: Writer) -> dict[str, Any]:
        assert plan.archive is not None
        assert plan.sha256 is not None
        last = writer.last(Kind.DREAM)
        if (str(last[0][0]) if last else None) != plan.last:
            raise Conflict("another dream was faster", hint="try again", stale=True)
        consolidation.apply(writer, plan.memories, at=at)
        indexed = consolidation.keep_archive(
            writer,
            plan.sha256,
            plan.archive,
            kind="dream",
            ref=f"space:{space}",
            entries=len(plan.sources),
            at=at,
        )
        spent(writer, kind="dream", ref=dream_id, tokens=plan.tokens_used, at=at)
        writer.put(Kind.DREAM, (dream_id,), _record(plan, dream_id, trigger, at, writer.number))
        _announce(writer, plan, indexed=indexed)
        made = answer(plan, dry_run=False)
        return {**made, "id": dream_id, "operation": str(writer.number), "indexUpdated": indexed}

    return Write(space=space, who=who, why="dream", body=body, idempotency=idempotency)


def answer(plan: DreamOutcome, *, dry_run: bool) -> dict[str, Any]:
    """What the caller is told, as api.md 2 words it; a dry run names the archive that it would have written."""
    return {
        "id": None,
        "archive": plan.sha256,
        "tokensUsed": plan.tokens_used,
        "tokenBudget": plan.budget,
        "tokenizer": tokens.TOKENIZER,
        "indexUpdated": False,
        "changes": plan.memories.changes,
        "dryRun": dry_run,
        "operation": None,
        "proposals": plan.memories.proposals,
    }


def _record(plan: DreamOutcome, dream_id: str, trigger: str, at: str, operation: int) -> dict[str, Any]:
    return {
        "id": dream_id,
        "at": at,
        "archive": plan.sha256,
        "tokensUsed": plan.tokens_used,
        "tokenBudget": plan.budget,
        "trigger": trigger,
        "counts": plan.memories.counts,
        "operation": str(operation),
        "proposals": plan.memories.proposals,
        "through": operation,
    }


def _announce(writer: Writer, plan: DreamOutcome, *, indexed: bool) -> None:
    writer.event(
        "memory.compacted",
        {
            "memoryRef": f"space:{writer.space}",
            "outputId": plan.sha256,
            "sourceCount": len(plan.sources),
            "byteSize": len(plan.archive or b""),
            "trigger": "host-managed",
            "sourceIds": plan.sources,
            "distillation": {
                "tokenBudget": plan.budget,
                "tokensUsed": plan.tokens_used,
                "indexUpdated": indexed,
            },
        },
    )
