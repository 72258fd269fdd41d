"""Dreams: memories that changed since the last dream, distilled under a token budget and archived in one operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from reverie import tokens, wire
from reverie.errors import Conflict, NotFound
from reverie.redact import Redactor
from reverie.store import DreamRecord, Kind, Write
from reverie.usecases import consolidation
from reverie.usecases.consolidation import MemoryPlan, MemorySnapshot
from reverie.usecases.memories import memory_of
from reverie.usecases.token_ledger import record_use

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.store import Reader, Writer

__all__ = ["DreamJob", "DreamPlan", "commit", "decide", "dream_answer", "get", "snapshot", "unwritten_answer"]


class DreamJob(msgspec.Struct):
    """A snapshot: the memories, the ids of those that changed since the last dream, and the token budget.

    `last` is the last dream's id; `literals` are the configured strings to redact.
    """

    memories: MemorySnapshot
    changed: list[str]
    last: str | None
    budget: int
    at: str
    literals: list[str] = []


class DreamPlan(msgspec.Struct):
    """Everything that a dream at the time `at` will write; `archive` is None if no memory is new."""

    at: str
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
    """Read what a dream is decided from; the budget is at most `max_token_budget`, which is also the default."""
    last = reader.last_record(DreamRecord)
    since = last[1].through if last else 0
    changed = [str(key[0]) for key in reader.keys(Kind.MEMORY) if (reader.version(Kind.MEMORY, key) or 0) > since]
    return DreamJob(
        memories=consolidation.snapshot(reader, window=window),
        changed=changed,
        last=last[1].id if last else None,
        budget=max_token_budget if token_budget is None else min(token_budget, max_token_budget),
        at=at,
        literals=list(literals),
    )


def decide(job: DreamJob) -> DreamPlan:
    """Return the plan of a dream; pure, and the same bytes for the same memories and budget.

    Raises:
        TokenBudgetExceeded: with the least budget that would do.
    """
    from reverie.consolidate.dream import plan_dream
    from reverie.usecases import consolidation_plan

    changed = set(job.changed)
    memories = [memory_of(record) for record in job.memories.memories if record.id in changed]
    archive = plan_dream(memories, budget=job.budget, redact=Redactor(job.literals).text)
    if archive is None:
        return DreamPlan(at=job.at, last=job.last, budget=job.budget, memories=consolidation.empty_plan(job.memories))
    return DreamPlan(
        at=job.at,
        last=job.last,
        budget=job.budget,
        memories=consolidation_plan.plan_changes(job.memories, archive.changes, at=job.at),
        archive=archive.data,
        sha256=archive.sha256,
        tokens_used=archive.tokens_used,
        sources=[source.id for source in archive.sources if source.id is not None],
    )


def commit(
    plan: DreamPlan,
    *,
    space: str,
    who: str,
    dream_id: str,
    trigger: str,
    idempotency: tuple[str, str] | None = None,
) -> Write[wire.DreamAnswer]:
    """Return the write that commits a dream: memories, documents, archive, index, ledger and events in one operation.

    Its body raises Conflict with `details["stale"]` where another dream was committed, or a memory changed, since the
    snapshot.
    """

    def body(writer: Writer) -> wire.DreamAnswer:
        assert plan.archive is not None
        assert plan.sha256 is not None
        last = writer.last_record(DreamRecord)
        if (last[1].id if last else None) != plan.last:
            raise Conflict("another dream was faster", hint="try again", stale=True)
        consolidation.commit(writer, plan.memories, at=plan.at)
        indexed = consolidation.save_archive(
            writer,
            plan.sha256,
            plan.archive,
            kind="dream",
            ref=f"space:{space}",
            entries=len(plan.sources),
            at=plan.at,
        )
        record_use(writer, kind="dream", ref=dream_id, tokens_used=plan.tokens_used, at=plan.at)
        record = DreamRecord(
            id=dream_id,
            at=plan.at,
            archive=plan.sha256,
            tokens_used=plan.tokens_used,
            token_budget=plan.budget,
            trigger=trigger,
            counts=plan.memories.counts,
            operation=str(writer.number),
            proposals=msgspec.to_builtins(plan.memories.proposals),
            through=writer.number,
        )
        writer.save(record, (dream_id,))
        _announce(writer, plan, indexed=indexed)
        return msgspec.structs.replace(
            unwritten_answer(plan, dry_run=False), id=dream_id, operation=str(writer.number), index_updated=indexed
        )

    return Write(space=space, who=who, why="dream", body=body, idempotency=idempotency, answers=wire.DreamAnswer)


def unwritten_answer(plan: DreamPlan, *, dry_run: bool) -> wire.DreamAnswer:
    """Return the answer for a plan that is not (or not yet) written; a dry run names the archive it would write."""
    return wire.DreamAnswer(
        archive=plan.sha256,
        tokens_used=plan.tokens_used,
        token_budget=plan.budget,
        tokenizer=tokens.TOKENIZER,
        index_updated=False,
        changes=plan.memories.changes,
        dry_run=dry_run,
        proposals=plan.memories.proposals,
    )


def get(reader: Reader, dream_id: str) -> wire.DreamRecord:
    """Return a past dream. Raises NotFound."""
    record = reader.load(DreamRecord, (dream_id,))
    if record is None:
        raise NotFound(f"no dream is called {dream_id!r}", hint="reverie log lists what was written")
    return dream_answer(record)


def dream_answer(dream: DreamRecord) -> wire.DreamRecord:
    """Return a stored dream as the API answers it."""
    return wire.DreamRecord(
        id=dream.id,
        at=dream.at,
        archive=dream.archive,
        tokens_used=dream.tokens_used,
        token_budget=dream.token_budget,
        trigger=dream.trigger,
        counts=dream.counts,
        operation=dream.operation,
        tokenizer=tokens.TOKENIZER,
        proposals=wire.ABSENT,
    )


def _announce(writer: Writer, plan: DreamPlan, *, indexed: bool) -> None:
    """Emit the `memory.compacted` event of a dream."""
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
