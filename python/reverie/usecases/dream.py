"""Dreams: memories that changed since the last dream, distilled under a token budget and archived in one operation.

Where they are more than the budget can hold, a dream reads the oldest ones, and its record has the position up to which
it came: the operation that wrote the last memory, and that memory's id. The next dream goes on from there. A memory
that is changed while it waits gets a later place, but is not lost. `dream_plan` decides what a dream writes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import islice
from typing import TypeAlias

import msgspec

from reverie import tokenizer, wire
from reverie.decode import convert
from reverie.errors import Conflict, NotFound, ReverieError
from reverie.language_model.requests import Outcome
from reverie.store import (
    ArchiveRecord,
    DreamRecord,
    FailureRecord,
    Key,
    Kind,
    MemoryRecord,
    OperationRecord,
    Reader,
    Writer,
)
from reverie.usecases import consolidation
from reverie.usecases.by import By, Decided, writes
from reverie.usecases.consolidation import MemoryPlan, MemorySnapshot, Terms
from reverie.usecases.history import is_way_back
from reverie.usecases.usage import record_use

Position: TypeAlias = tuple[int, str]
"""The place of a memory among those that wait: the operation that wrote it, and its id."""


class DreamJob(msgspec.Struct):
    """Input of a dream: the memories, the operation and id of each that has changed since the last one, and the budget.

    `changed` is in rising order. `last` is the last dream's id, `maximum` the largest budget that a caller may give.
    `outcomes` are the answers of a model by the ids of their requests; None decides without one.
    """

    memories: MemorySnapshot
    changed: list[Position]
    last: str | None
    budget: int
    maximum: int
    terms: Terms
    outcomes: dict[str, Outcome] | None = None


class DreamPlan(msgspec.Struct):
    """Everything that a dream at the time `at` will write; `archive` is None if no memory is new.

    `sources` are the ids of the memories that it has read. `through` is the place of the last of them, None where no
    memory behind it waits. `waiting` counts those that it has not read, with the `oversized` ones.
    """

    at: str
    last: str | None
    budget: int
    memories: MemoryPlan
    archive: bytes | None = None
    sha256: str | None = None
    tokens_used: int = 0
    sources: list[str] = []
    through: Position | None = None
    waiting: int = 0
    oversized: list[str] = []


def snapshot(reader: Reader, terms: Terms, *, token_budget: int | None, max_token_budget: int) -> DreamJob:
    """Return a DreamJob, read from the store; its budget is at most `max_token_budget`, which is also the default."""
    last = last_dream(reader)
    return DreamJob(
        memories=consolidation.snapshot(reader, window=terms.window),
        changed=_changed(reader, last),
        last=last.id if last else None,
        budget=max_token_budget if token_budget is None else min(token_budget, max_token_budget),
        maximum=max_token_budget,
        terms=terms,
    )


def _changed(reader: Reader, last: DreamRecord | None) -> list[Position]:
    """Return operation and id of each memory that no dream has read since it was written, oldest operation first.

    What the undo of a dream restored has the place that it had before: where that one or an earlier dream has read it,
    the next would make the undone changes again.
    """
    oversized = set(last.oversized) if last is not None else set()
    is_dream, is_taken_back = cache(partial(_is_dream, reader)), cache(partial(_is_taken_back, reader))
    places = []
    for key in reader.keys(Kind.MEMORY):
        position = (reader.version(Kind.MEMORY, key) or 0, str(key[0]))
        if last is not None and position[1] not in oversized:
            restored = _is_behind(position, last) and is_taken_back(position[0])
            place = _place_before(reader, key, is_dream) if restored else None
            if not _is_behind(place or position, last):
                continue
        places.append(position)
    return sorted(places)


def _place_before(reader: Reader, key: Key, is_dream: Callable[[int], bool]) -> Position | None:
    """Return the place that a memory had before the dream whose change was taken back; None where that is not so."""
    restored, *past = islice(reader.record_versions(MemoryRecord, key), 3)
    if len(past) < 2 or not is_dream(past[0].operation):
        return None
    if restored.value is None or past[1].value is None or restored.value.content != past[1].value.content:
        return None
    return past[1].operation, str(key[0])


def _is_dream(reader: Reader, operation: int) -> bool:
    record = reader.load(OperationRecord, (operation,))
    return record is not None and record.why == commit.why


def _is_taken_back(reader: Reader, operation: int) -> bool:
    """Return True for an undo or a rollback."""
    record = reader.load(OperationRecord, (operation,))
    return record is not None and is_way_back(record)


def _is_behind(place: Position, last: DreamRecord) -> bool:
    """Return True if the last dream has not read a memory, given by operation and id, because it was written later."""
    if last.through_memory is None:
        return place[0] > last.through
    return place > (last.through, last.through_memory)


def last_dream(reader: Reader) -> DreamRecord | None:
    """Return the last dream that did not fail, or None.

    By the operation that wrote it and not by its id, which has the time of a clock that may have been set back since.
    """
    written = sorted(((reader.version(Kind.DREAM, key) or 0, key) for key in reader.keys(Kind.DREAM)), reverse=True)
    dreams = (reader.load(DreamRecord, key) for _, key in written)
    return next((dream for dream in dreams if dream is not None and dream.failure is None), None)


@writes("dream", answers=wire.DreamAnswer)
def commit(to: Writer, by: By, plan: DreamPlan, *, trigger: str) -> wire.DreamAnswer:
    """Commit a dream: memories, documents, archive, index, ledger and events in one operation.

    Raises Conflict with `details["stale"]` where another dream was committed, or a memory changed, since the snapshot.
    """
    assert plan.archive is not None
    dream_id = by.new_id("dream")
    last = last_dream(to)
    if (last.id if last else None) != plan.last:
        raise Conflict("another dream was faster", hint="try again", stale=True)
    consolidation.commit(to, plan.memories)
    archive, indexed = consolidation.save_archive(
        to,
        plan.archive,
        kind="dream",
        ref=f"space:{by.space}",
        entries=len(plan.sources),
        at=plan.at,
    )
    record_use(to, kind="dream", ref=dream_id, tokens_used=plan.tokens_used, at=plan.at)
    record = DreamRecord(
        id=dream_id,
        at=plan.at,
        archive=archive.sha256,
        tokens_used=plan.tokens_used,
        token_budget=plan.budget,
        trigger=trigger,
        counts=plan.memories.counts,
        operation=str(to.number),
        proposals=msgspec.to_builtins(plan.memories.proposals),
        through=to.number if plan.through is None else plan.through[0],
        through_memory=None if plan.through is None else plan.through[1],
        waiting=plan.waiting,
        oversized=plan.oversized,
        fallback=plan.memories.fallback or None,
    )
    to.save(record, (dream_id,))
    _announce(to, plan, archive, indexed=indexed)
    return msgspec.structs.replace(
        unwritten_answer(plan, dry_run=False),
        id=dream_id,
        archive=archive.sha256,
        operation=str(to.number),
        index_updated=indexed,
    )


DECIDED = Decided("dream", DreamPlan, commit, learns=True)


@writes("dream failed")
def commit_failure(to: Writer, by: By, error: ReverieError, *, trigger: str, token_budget: int) -> None:
    """Record why a dream failed; it does not count as the last dream."""
    last = last_dream(to)
    dream_id = by.new_id("dream")
    record = DreamRecord(
        id=dream_id,
        at=to.at,
        archive=None,
        tokens_used=0,
        token_budget=token_budget,
        trigger=trigger,
        operation=str(to.number),
        through=last.through if last else 0,
        failure=FailureRecord(error.code, error.message, error.hint),
    )
    to.save(record, (dream_id,))


def unwritten_answer(plan: DreamPlan, *, dry_run: bool) -> wire.DreamAnswer:
    """Return the answer for a plan that is not (or not yet) written; a dry run names the archive it would write."""
    return wire.DreamAnswer(
        archive=plan.sha256,
        tokens_used=plan.tokens_used,
        token_budget=plan.budget,
        tokenizer=tokenizer.TOKENIZER,
        index_updated=False,
        changes=plan.memories.changes,
        dry_run=dry_run,
        proposals=plan.memories.proposals,
        sources=len(plan.sources),
        waiting=plan.waiting,
        fallback=plan.memories.fallback or None,
    )


def get(reader: Reader, dream_id: str) -> wire.DreamRecord:
    """Return a past dream. Raises NotFound."""
    record = reader.load(DreamRecord, (dream_id,))
    if record is None:
        raise NotFound(f"no dream is called {dream_id!r}", hint="reverie log lists what was written")
    return dream_answer(record)


def dream_answer(dream: DreamRecord) -> wire.DreamRecord:
    """Return a stored dream as the API answers it."""
    return convert(dream, wire.DreamRecord, from_attributes=True)


def _announce(writer: Writer, plan: DreamPlan, archive: ArchiveRecord, *, indexed: bool) -> None:
    """Emit the `memory.compacted` event of a dream."""
    writer.event(
        "memory.compacted",
        {
            "memoryRef": f"space:{writer.space}",
            "outputId": archive.sha256,
            "sourceCount": len(plan.sources),
            "byteSize": archive.size,
            "trigger": "host-managed",
            "sourceIds": plan.sources,
            "distillation": {
                "tokenBudget": plan.budget,
                "tokensUsed": plan.tokens_used,
                "indexUpdated": indexed,
            },
        },
    )
